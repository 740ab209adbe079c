#!/bin/sh
# hpotune plot: each chart as SVG, PDF, PNG and text; one clear error where it
# cannot be, and nothing left behind.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
need python3

cat >study.json <<'END'
{
  "study": "drawn",
  "objective": { "metric": "acc", "goal": "maximize" },
  "parameters": {
    "lr": { "type": "float", "min": 1e-4, "max": 1, "scale": "log" },
    "momentum": { "type": "float", "min": 0.5, "max": 0.99 },
    "optimizer": { "type": "choice", "values": ["sgd<&>", "adam", "lamb"] }
  },
  "strategy": { "name": "random", "seed": 3 },
  "stopping": { "rule": "median", "min_trials": 3, "warmup_steps": 3 },
  "trial": { "command": ["true", "{params}"], "max_steps": 12 },
  "backend": { "name": "pretend", "seconds_per_step": 0.001 },
  "limits": { "trials": 40 }
}
END
quietly "$HPOTUNE" start --quiet study.json
is $? 0 'a study is run'

# Width and height of a PNG, and of the root of an SVG in millimetres.
png_size() { # file
	python3 -c 'import struct, sys
print(*struct.unpack(">II", open(sys.argv[1], "rb").read()[16:24]))' "$1"
}
svg_size() { # file
	python3 -c 'import sys, xml.etree.ElementTree as t
r = t.parse(sys.argv[1]).getroot(); print(r.get("width"), r.tag)' "$1"
}

# Fonts that fontconfig keeps until the end are no leaks of ours.
rendered() { # option …: by librsvg
	ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0 \
	    "$HPOTUNE" plot "$@"
}
rsvg=
rendered study.json edf -o try.pdf >out 2>&1 && rsvg=yes
for chart in history curves importance parallel slice contour timeline edf; do
	ok "$chart: SVG" "$HPOTUNE" plot study.json $chart -o $chart.svg
	is "$(svg_size $chart.svg)" '89.00mm {http://www.w3.org/2000/svg}svg' \
	    "$chart: is XML, and has the width of a column"
	unlike "$(cat $chart.svg)" 'NaN|nan|inf' "$chart: has only numbers"
	LC_ALL=C "$HPOTUNE" plot $chart >$chart.txt
	is "$?,$(LC_ALL=C tr -d '\n\040-\176' <$chart.txt | wc -c)" 0,0 \
	    "$chart: text, of ASCII where the locale has no more"
	is "$(awk 'length > 80' $chart.txt)" '' "$chart: in 80 columns"
done
like "$(LC_ALL=C.UTF-8 "$HPOTUNE" plot history)" '• completed' \
    'text: a legend with the signs'
like "$(cat history.txt)" '^ *0 .* 40$' 'text: the axis with its numbers'
like "$(cat importance.txt)" 'lr ####' 'text: bars with their names'
is "$(sed -n '/lr #/,/-----/p' importance.txt | wc -l)" 4 \
    'text: a line for each parameter, one below the other'
like "$(cat slice.txt)" 'sgd<&>' 'text: as it is'
like "$(cat history.svg)" '>completed</text>' 'SVG: the legend is in it'
ok 'two columns' "$HPOTUNE" plot history -o wide.svg --columns 2
like "$(svg_size wide.svg)" '^182\.87mm ' 'two columns: the width'
"$HPOTUNE" plot contour -o map.svg --x momentum --y optimizer >out
like "$(cat map.svg)" 'over momentum and optimizer' 'contour: the parameters'

if [ "$rsvg" ]; then
	is "$(head -c 5 try.pdf),$(grep -ac '/FontFile' try.pdf)" \
	    '%PDF-,1' 'PDF: one with its font'
	ok PNG rendered history -o history.png --dpi 100
	is "$(png_size history.png | cut -d ' ' -f 1)" 351 \
	    'PNG: as wide as a column at 100 dots an inch'
	ok 'SVG: outlines' rendered history -o lines.svg --outlines
	is "$(grep -c '<text' lines.svg)" 0 'SVG: without a font'
	rm try.pdf
else
	for what in 'PDF: one with its font' PNG 'PNG: as wide as a column' \
	    'SVG: outlines' 'SVG: without a font'; do
		skip "$what" "$(cat out)"
	done
fi

# A chart that cannot be made leaves nothing.
refused() { # status pattern option …
	refused_status=$1
	refused_pattern=$2
	shift 2
	ls >before
	"$HPOTUNE" plot "$@" >out 2>err
	is "$?,$(wc -l <err),$(wc -c <out)" "$refused_status,1,0" \
	    "$*: one line, nothing else"
	like "$(cat err)" "^hpotune: .*$refused_pattern" "$*: says why"
	ls >after
	ok "$*: nothing is left" cmp -s before after
}
touch before after err
refused 2 'did you mean history' study.json histroy
refused 2 'expected one chart: history, curves' study.json
refused 2 'the study has one objective' study.json front -o front.svg
refused 2 'must end in .svg, .pdf or .png' history -o history.gif
refused 2 'no parameter has this name' contour --x rate --y momentum
refused 2 'belong together' contour --x momentum
refused 2 '--outlines requires --output FILE.svg' history --outlines
refused 1 'history.svg exists already: --force' history -o history.svg
ok '--force' "$HPOTUNE" plot history -o history.svg --force
mkdir lib
echo none >lib/librsvg-2.so.2
LD_LIBRARY_PATH=$PWD/lib
export LD_LIBRARY_PATH
refused 1 "need librsvg \(Debian's package is librsvg2-2\)" history -o new.pdf
ok 'without the library: SVG' "$HPOTUNE" plot history -o new.svg

done_testing
