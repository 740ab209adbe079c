#!/bin/sh
# The line of hpotune best that runs the best trial again: its program gets the
# same arguments as the first attempt, in new folders.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
need sqlite3

# Writes down all that it was given, and leaves a checkpoint.
mkdir "a place"
cat >"a place/train" <<'END'
#!/bin/sh
for arg; do echo "argument $arg"; done >given
echo "in $PWD" >>given
echo "checkpoint $(ls "$HPOTUNE_CHECKPOINT_DIR" | tr '\n' ' ')" >>given
test -d "$SM_MODEL_DIR" && echo "model folder" >>given
echo "params $(cat "$HPOTUNE_PARAMS")" >>given
env | grep -E '^(HPOTUNE|SM|COLOUR|TOLD|HIDDEN)' | sort >>given
mv given "$HPOTUNE_OUTPUT_DIR/given"
echo done >"$HPOTUNE_CHECKPOINT_DIR/last"
printf '{"step": 1, "loss": 1}\n' >>"$HPOTUNE_METRICS"
END
chmod +x "a place/train"

study() { # name, more of "trial"
	cat >"$1.json" <<-END
	{ "study": "$1", "objective": { "metric": "loss", "goal": "minimize" },
	  "parameters": {
	    "lr-rate": { "type": "float", "min": 0.1, "max": 1 },
	    "kind": { "type": "choice", "values": ["it's \$HOME"] } },
	  "strategy": { "name": "random", "seed": 3 },
	  "trial": { "command": ["./train", "{params}", "--out={output_dir}/x",
	      "--keep={checkpoint_dir}"], "max_steps": 1, "gpus": 0,
	      "workdir": "a place", "env": { "COLOUR": "deep \"blue\"" }$2 },
	  "limits": { "trials": 1 } }
	END
}

# The same but for the folders, the GPUs, what names the attempt and what Python
# needs where its output is a file.
comparable() { # file folder-of-the-trial [folder-of-the-attempt]
	sed -e "s|${3:-$2}/params.json|PARAMS|; s|${3:-$2}/metrics.jsonl|METRICS|" \
	    -e "s|$2|FOLDER|g" -e '/^HPOTUNE_ATTEMPT_UUID=/d' \
	    -e '/^HPOTUNE_GPU_/d' -e '/^HPOTUNE_RANKS=/d' \
	    -e '/^HPOTUNE_TEST/d' -e '/^PYTHONUNBUFFERED=1/d' "$1"
}

TOLD=yes HIDDEN=yes
export TOLD HIDDEN
for name in plain clean; do
	more=
	[ $name = plain ] || more=', "clean_env": true, "pass_env": ["TOLD"]'
	study $name "$more"
	ok "$name: a study" "$HPOTUNE" start --quiet $name.json
	line=$("$HPOTUNE" best $name.json | sed -n 's/^again: //p')
	for shell in sh bash; do
		command -v $shell >/dev/null || continue
		rm -rf $name-again-1
		ok "$name: the line in $shell" $shell -c "$line"
		trial=$dir/$name.d/trials/1
		comparable "$trial/output/given" "$trial" "$trial/attempt-1" >want
		comparable "$dir/$name-again-1/output/given" \
		    "$dir/$name-again-1" >got
		is "$(cat got)" "$(cat want)" "$name: what it was given in $shell"
	done
	like "$(cat got)" '^checkpoint $' "$name: from the beginning"
	like "$(cat got)" '^argument --kind=it.s \$HOME$' "$name: its words"
	is "$(sed -n 's/^TOLD=//p' got)" yes "$name: what is passed on"
done
is "$(sed -n 's/^HIDDEN=//p' got)" '' 'a clean environment is clean again'

# Modules in the place of trackers come first, as in the trial.
if command -v python3 >/dev/null; then
	mv "a place/train" train
	cat >"a place/train" <<'END'
#!/bin/sh
exec python3 -c 'import os, wandb
wandb.init()
print("hpotune: step=1 loss=1")
with open(os.environ["HPOTUNE_OUTPUT_DIR"] + "/given", "w") as f:
    print(wandb.__file__, os.environ["PYTHONPATH"], dict(wandb.config), file=f)'
END
	chmod +x "a place/train"
	PYTHONPATH=$dir/own
	export PYTHONPATH
	for name in passed cleaned set; do
		more=', "shims": ["wandb"]'
		[ $name != cleaned ] || more="$more, \"clean_env\": true"
		study $name "$more"
		[ $name != set ] ||
		    sed -i 's|"COLOUR": |"PYTHONPATH": "/a b/$c", &|' set.json
		ok "$name: a study with shims" "$HPOTUNE" start --quiet $name.json
		line=$("$HPOTUNE" best $name.json | sed -n 's/^again: //p')
		ok "$name: the line" sh -c "$line"
		is "$(cat $name-again-1/output/given)" \
		    "$(cat $name.d/trials/1/output/given)" "$name: the same modules"
		like "$(cat $name-again-1/output/given)" \
		    "^$dir/$name.d/shims/wandb.py " "$name: those of the study"
		"$HPOTUNE" best --json $name.json >best.json
		like "$(sqlite3 :memory: "SELECT json_extract(readfile('best.json'),
		    '\$.env.PYTHONPATH')")" "^$dir/$name.d/shims(:/a b/.c)?$" \
		    "$name: --json has their folder"
	done
	unset PYTHONPATH
	mv train "a place/train"
else
	skip 'modules in the place of trackers' 'no python3'
fi

# What is there is not written over.
line=$("$HPOTUNE" best clean.json | sed -n 's/^again: //p')
ok 'once more' sh -c "$line"
ok 'in a folder of its own' test -s clean-again-1-2/output/given

"$HPOTUNE" best --json plain.json >best.json
is "$(sqlite3 :memory: "SELECT json_extract(readfile('best.json'),
    '\$.env.COLOUR') || '|' || json_extract(readfile('best.json'),
    '\$.env.SM_HP_KIND')")" "deep \"blue\"|it's \$HOME" '--json: the variables'

done_testing
