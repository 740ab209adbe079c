#!/bin/sh
# The wheel: pip installs it without an index, its programs find each other and
# their libraries, and the same files make the same wheel.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
need python3 strip
python3 -c 'import ensurepip, venv' 2>/dev/null ||
    skip_all 'NOT INSTALLED: no Python with venv and ensurepip'

unset MAKEFLAGS MFLAGS MAKELEVEL PYTHONPATH
ok 'a wheel is made' quietly make -s -C "$TOP_BUILDDIR" wheel ||
    diag "$(tail -n 20 err)"
wheel=$(find "$TOP_BUILDDIR/wheel.d" -name '*.whl')
like "$wheel" '/hpotune-[0-9.]+-py3-none-manylinux_2_[0-9]+_[a-z0-9_]+\.whl$' \
    'its name says what it needs'
cp "$wheel" first
quietly make -s -C "$TOP_BUILDDIR" wheel
ok 'the same files make the same wheel' cmp first "$wheel"

python3 -m venv v >venv.log 2>&1
ok 'pip installs it' quietly v/bin/python -m pip install --no-index \
    --disable-pip-version-check "$wheel" || diag "$(cat out err)"
unset HPOTUNE_GPU HPOTUNE_SHIM HPOTUNE_PACK HPOTUNE_RANKS HPOTUNE_WORKER
is "$(v/bin/hpotune version)" "$("$HPOTUNE" version)" 'its program starts'
for program in v/bin/hpotune v/libexec/hpotune/hpotune-worker; do
	is "$(ldd "$program" | sed -n 's/.* => \([^ ]*\).*/\1/p' |
	    grep -Ev '/(libc|libm|libdl|libpthread|librt)\.so|^'"$(pwd -P)/v/")" \
	    '' "${program##*/} needs the C library of the system alone"
done
ok 'the manual is there' test -f v/share/man/man5/hpotune-study.5
is "$(v/bin/python - "$wheel" <<'END'
import base64, hashlib, sys, zipfile
whl = zipfile.ZipFile(sys.argv[1])
record = [name for name in whl.namelist() if name.endswith("/RECORD")]
rows = whl.read(record[0]).decode().splitlines()
for row in rows:
    name, digest, size = row.rsplit(",", 2)
    data = whl.read(name)
    want = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode()
    if name != record[0] and (digest != "sha256=" + want.rstrip("=") or
                              int(size) != len(data)):
        print(name, "is not as recorded")
print(len(rows) - len(whl.namelist()))
END
)" 0 'every file is recorded with its hash'

cat >trial.py <<'END'
import hpotune
for step in range(3):
    hpotune.report(step, loss=hpotune.params()["x"] + step)
END
cat >study.json <<END
{ "study": "whl", "objective": { "metric": "loss", "goal": "minimize" },
  "parameters": { "x": { "type": "float", "min": 0, "max": 1 } },
  "strategy": { "name": "gp", "n_startup_trials": 2, "seed": 1 },
  "trial": { "command": ["$dir/v/bin/python", "trial.py"], "retries": 0 },
  "limits": { "trials": 4, "parallel": 1 } }
END
quietly v/bin/hpotune start -q study.json
is "$?:$(sql whl.db "SELECT state, count(*) FROM trials")" '0:completed|4' \
    'a study with a strategy of another program is run' || diag "$(cat err)"
is "$(v/bin/python -c '
import hpotune
t = hpotune.ask("study.json")
print(t)' 2>&1)" 'hpotune: limits.trials is reached: there are 4 trials
None' 'the module finds its program without PATH'
quietly v/bin/python -m pip uninstall -y --disable-pip-version-check hpotune
is "$(find v -name '*hpotune*')" '' 'and pip removes all of it'
done_testing
