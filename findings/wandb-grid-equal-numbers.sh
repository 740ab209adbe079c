#!/bin/sh
# W&B's sweeps 0.3.0, method grid: of a list of values, 2 and 2.0 are one run, which has
# the type of the one that is written last, in the place of the first; 1 and true are two.
# Guess before: a run for each value as it is written, three for 1, 1.0 and true.
set -eu
d=$(mktemp -d)
trap 'rm -rf "$d"' EXIT
cd "$d"
python3 -m venv v
v/bin/pip -q install --disable-pip-version-check sweeps==0.3.0
cat >run.py <<'END'
import sweeps


def grid(values):
    done = []
    while True:
        run = sweeps.next_run(
            {"method": "grid", "parameters": {"a": {"values": values}}}, done
        )
        if run is None:
            return [r.config["a"]["value"] for r in done]
        run.state = sweeps.RunState.finished
        done.append(run)


for values in [2, 2.0], [2.0, 2], [1, 2, 1.0], [1, True], [1, 1.0, True]:
    print(values, grid(values))
END
v/bin/python -W ignore run.py | tee out
diff - out <<'END'
[2, 2.0] [2.0]
[2.0, 2] [2]
[1, 2, 1.0] [1.0, 2]
[1, True] [1, True]
[1, 1.0, True] [1.0, True]
END
