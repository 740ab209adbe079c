#!/bin/sh
# backend.gpus: an index in a list is an index, a number alone is how many; and
# CUDA_VISIBLE_DEVICES that names no GPU of this machine is said.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
. "$TOP_SRCDIR/tests/support/sh/gpus.sh"
need sqlite3

gpus_fake
printf 'gpu\ngpu\ngpu\n' >gpus

cat >trial.sh <<'END'
#!/bin/sh
echo "$HPOTUNE_GPU_INDICES" >>"$HERE/indices"
echo "hpotune: loss=1"
END
chmod +x trial.sh
HERE=$dir
export HERE

used() { # name keys-of-backend: the GPUs that two trials got
	rm -f indices
	gpus_study "$1" 2 '"gpus": 1' ", \"gpus\": $2"
	"$HPOTUNE" start --quiet study.json >out 2>&1
	cd .. || exit 99
	sort -u indices | tr '\n' ' '
}

is "$(used text0 '["0"]')" '0 ' 'a list of an index as a text'
is "$(used text2 '["2"]')" '2 ' 'of another one'
is "$(used number1 '[1]')" '1 ' 'as a number'
is "$(used count '1')" '0 ' 'a number alone is how many'
gpus_study digits 1 '"gpus": 1' ', "gpus": "2"'
fails 'a text of digits may be either' 2 quietly "$HPOTUNE" check study.json
like "$(cat err)" 'expected 2 for so many GPUs, or \[2\] for the one' \
    'the error has both'
cd ..
gpus_study double 1 '"gpus": 1' ', "gpus": ["1", 1]'
fails 'a GPU that is named twice' 2 quietly "$HPOTUNE" check study.json
like "$(cat err)" '1 names a GPU for the second time: trials_per_gpu' \
    'the error has the key that is meant'
cd ..

# CUDA_VISIBLE_DEVICES of another machine, or in the old form of MIG.
for word in GPU-of-another-machine MIG-GPU-1/1/0 7 ''; do
	name=cvd$((n = ${n-0} + 1))
	rm -f indices
	gpus_study $name 2 '"grace": 5' ''
	CUDA_VISIBLE_DEVICES=$word "$HPOTUNE" check study.json >check.out
	like "$(cat check.out)" 'GPUs .*CUDA_VISIBLE_DEVICES (is empty|has )' \
	    "\"$word\": check says that no GPU is used"
	for again in 1 2; do
		CUDA_VISIBLE_DEVICES=$word "$HPOTUNE" start study.json >start.out 2>&1
		sed -i 's/"trials": 2/"trials": 3/' study.json
	done
	is "$(sql $name.db "SELECT count(*) FROM events WHERE area = 'doubt' AND
	    text LIKE 'CUDA_VISIBLE_DEVICES %'")" 1 'start does, once'
	like "$("$HPOTUNE" status $name.db)" 'CUDA_VISIBLE_DEVICES' 'so does status'
	CUDA_VISIBLE_DEVICES=$word "$HPOTUNE" doctor >doctor.out
	is "$(grep -cE '^warning +hidden GPUs .*(is empty|names no GPU)' doctor.out)" 1 \
	    'and the doctor'
	cd .. || exit 99
done

# A choice of some is no fault, and of all is not worth a word.
"$HPOTUNE" doctor >doctor.out
is "$(grep -c 'hidden GPUs' doctor.out)" 0 'the doctor finds no hidden GPU'
CUDA_VISIBLE_DEVICES=2,0,1 "$HPOTUNE" doctor >doctor.out
is "$(grep -c 'hidden GPUs' doctor.out)" 0 'nor where it names all'
CUDA_VISIBLE_DEVICES=2,0 "$HPOTUNE" doctor >doctor.out
like "$(cat doctor.out)" '^ok +hidden GPUs +CUDA_VISIBLE_DEVICES is 2,0: trials use 2 of 3' \
    'one that is hidden by choice is said'

# A program that takes it for numbers.
cat >trial.sh <<'END'
#!/bin/sh
echo "ValueError: invalid literal for int(): '$CUDA_VISIBLE_DEVICES'" >&2
exit 1
END
gpus_study ids 2 '"gpus": 1, "retries": 0' ''
"$HPOTUNE" start study.json >out 2>&1
is "$(grep -c 'backend.gpu_ids "index"' out)" 1 \
    'what it needs is named, once'
cd ..

done_testing
