#!/bin/sh
# Where results are noisy, best and report also name the trial that a model holds
# best; without noise the best result is the best trial.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"

# A parabola; the noise is a sum of five sines of the setting, of deviation 0.6.
cat >train <<'END_OF_TRAIN'
#!/bin/sh
awk -v x="$1" -v noise="$2" 'BEGIN {
	for (i = 1; i <= 5; i++) sum += sin(x * 7919 * i + i * i)
	printf "{\"step\": 1, \"loss\": %.9g}\n",
	    4 * (x - 0.7) ^ 2 + noise * sum }' >>"$HPOTUNE_METRICS"
END_OF_TRAIN
chmod +x train

study() { # name noise
	cat >"$1.json" <<-END_OF_STUDY
	{ "study": "$1", "objective": { "metric": "loss", "goal": "minimize" },
	  "parameters": { "x": { "type": "float", "min": 0, "max": 1 } },
	  "strategy": { "name": "random", "seed": 5 },
	  "trial": { "command": ["./train", "{x}", "$2"], "gpus": 0 },
	  "limits": { "trials": 40, "parallel": 4 } }
	END_OF_STUDY
	"$HPOTUNE" start "$1.json" >"$1.log" 2>&1 || cat "$1.log"
}

study noisy 0.4
is "$("$HPOTUNE" best noisy.json | grep -c 'a model of them holds trial [0-9]* best')" 1 \
    "best names the trial that the model holds best"
"$HPOTUNE" best noisy.json | sed -n 's/^results/# results/p'
"$HPOTUNE" best --json noisy.json >best.json
trial=$(sed -n 's/.*"held_best": *{"trial": *\([0-9]*\).*/\1/p' best.json)
x=$("$HPOTUNE" show --json noisy.json "$trial" |
    sed -n 's/.*"x": *\([0-9.e-]*\).*/\1/p' | head -1)
ok "it is near the optimum: $x" awk -v x="$x" \
    'BEGIN { exit !(x > 0.55 && x < 0.85) }'
like "$(cat best.json)" '"expected_of_best":-?[0-9.]+,"noise":0\.[4-9]' \
    "with the numbers of both"
"$HPOTUNE" report noisy.json >/dev/null 2>&1
like "$(cat noisy.html)" 'a model of them holds trial [0-9]* best' "so does the report"

study still 0
is "$("$HPOTUNE" best still.json | grep -c 'a model')" 0 "nothing without noise"
done_testing
