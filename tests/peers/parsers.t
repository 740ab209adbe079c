#!/bin/sh
# The parsers of arguments that programs of Python have, and the form of {params}
# that each reads: the table of hpotune-study(5).  A parser that is not installed
# is skipped by its name.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
need python3
python_found absl-py click fire gin-config hydra-core jsonargparse ml_collections \
    omegaconf pydantic-settings simple-parsing typer tyro || python=python3

cat >run.py <<'END'
import json, os
command = json.load(open("command.json"))["command"]
os.execvp(command[0], command)
END
n=0
reads() { # parser module argument [prefix-of-names]
	if ! "$python" -c "import ${2%%[!a-z_]*}" 2>unseen; then
		skip "$1 reads $3" "$2 is not installed"
		return
	fi
	for on in true false; do
		cat >study.json <<-END
		{ "study": "s", "objective": { "metric": "m", "goal": "maximize" },
		  "parameters": {
		    "${4-}lr": { "type": "fixed", "value": 1e-05 },
		    "${4-}n": { "type": "fixed", "value": 3 },
		    "${4-}name": { "type": "fixed", "value": "a b" },
		    "${4-}on": { "type": "fixed", "value": $on },
		    "x": { "type": "float", "min": 0, "max": 1 } },
		  "trial": { "command": ["$python", "$TOP_SRCDIR/tests/peers/parsers.py",
		      "$1", "$3"] },
		  "limits": { "trials": 1 } }
		END
		case $3 in
		*{params*)
			sed -i "s|\({params:[a-z-]*\)}|\1:${4-}lr,${4-}n,${4-}name,${4-}on}|" \
			    study.json
			;;
		esac
		"$HPOTUNE" check --json study.json >command.json 2>err
		ON=$on timeout 300 "$python" run.py >out 2>>err
		like "$(cat out)" '^hpotune: m=1$' "$1 reads $3: $on" ||
		    diag "$(tail -n 3 err)"
	done
	n=$((n + 1))
}
reads argparse argparse '{params:flags}'
reads argparse-boolean-optional argparse '{params:no-flags}'
reads argparse-type argparse '{params:joined}'
reads argparse-type argparse '{params:words}'
reads argparse-python argparse '{params:python}'
reads argparse-python argparse '{params:python-words}'
reads click click '{params:no-flags}'
reads click-bool click '{params:joined}'
reads click-bool click '{params:words}'
reads typer typer '{params:no-flags}'
reads absl absl '{params:joined}'
reads fire fire '{params:python}'
reads tyro tyro '{params:no-flags}'
reads jsonargparse jsonargparse '{params:joined}'
reads simple-parsing simple_parsing '{params:joined}'
reads pydantic-settings pydantic_settings '{params:toolkit}'
reads hydra hydra '{params:hydra}'
reads omegaconf omegaconf '{params:hydra}'
reads ml-collections ml_collections '{params:joined}' config.
# By hand; true and false of gin are those of Python.
reads gin gin "train.lr={lr}\", \"train.n={n}\", \"train.name='{name}'"
ok 'some were tried' test "$n" -ge 6
done_testing
