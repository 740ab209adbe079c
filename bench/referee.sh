#!/bin/sh
# Row proposals with the noise of recorded curves: nights of 100 proposals of known
# effect (bench/referee.c).  DATA has folders of tables of curves, a row each, with
# columns s1, s2 …  The noise of a setting is what the second half of its curve does
# between two neighbours, in deviations; no table has several seeds of a setting.
set -eu
data=${1:?is the folder of curves}
here=$(cd "$(dirname "$0")" && pwd)
: "${BENCH_REFEREE:=$here/referee}"
for folder in "$data"/*/; do
	ls "$folder"*.csv.gz >/dev/null 2>&1 || continue
	echo "# $(basename "$folder")"
	python3 - "$folder" <<'END' | "$BENCH_REFEREE"
import csv, glob, gzip, math, sys

for path in sorted(glob.glob(sys.argv[1] + "*.csv.gz")):
    with gzip.open(path, "rt") as file:
        for row in csv.DictReader(file):
            y = [float(v) for n, v in row.items()
                 if n[0] == "s" and n[1:].isdigit() and v]
            y = y[len(y) // 2:]
            r = [b - (a + c) / 2 for a, b, c in zip(y, y[1:], y[2:])]
            if len(r) < 8 or not all(map(math.isfinite, r)):
                continue
            mean = sum(r) / len(r)
            size = math.sqrt(sum((v - mean) ** 2 for v in r) / len(r))
            # A setting that does not move has no noise to learn from.
            if size > 1e-9 * (1 + abs(y[-1])) and len(set(r)) > 6:
                print(*("%.6g" % ((v - mean) / size) for v in r))
END
done
