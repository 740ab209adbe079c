#!/bin/sh
# Trials that share a GPU of a fake driver, as one was measured: those that declare
# their memory do not wait for each other's first report, a killed one's memory is
# free in the moment it has gone, and a study that waits for another calls it
# "reserved" whatever is listed there.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
. "$TOP_SRCDIR/tests/support/sh/gpus.sh"
need sqlite3

gpus_fake
mkdir contexts
printf '%s\n' 'gpu name=H200 memory=143771MiB reserved=615MiB' \
    "contexts $dir/contexts" >gpus

# It has its context at once, and reports when it may.
cat >trial.sh <<END
#!/bin/sh
echo 577MiB >$dir/contexts/\$\$
echo \$\$ >began-\$HPOTUNE_TRIAL
until [ -e talk ]; do sleep 0.1; done
echo "hpotune: step=1 loss=0.\$HPOTUNE_TRIAL"
until [ -e end ]; do sleep 0.1; done
END
chmod +x trial.sh

there() { # file …
	for there_one; do
		[ -s "$there_one" ] || return 1
	done
}

gpus_study declared 4 '"gpus": 1, "gpu_memory": "60GiB", "retries": 0' \
    ', "trials_per_gpu": 3'
server study.json
one=$server
retry there began-1 began-2
is $? 0 'the second trial begins before the first has reported'
retry sql_is declared.db 'SELECT state, trials, used, memory FROM gpus' \
    "full|2|$((2 * 577 << 20))|$((143156 << 20))"
is $? 0 'a third has no room, and the reserve of the driver is not used'
is "$(sql declared.db 'SELECT count(*) FROM trials')" 2 'so it waits'
kill -9 "$(cat began-1)"
retry there began-3
is $? 0 'a killed trial makes room when it has gone'
retry sql_is declared.db \
    "SELECT state FROM trials WHERE trial = 1" failed
cd ..

gpus_study second 1 '"gpus": 1' ''
server study.json
two=$server
retry sql_is second.db 'SELECT state FROM gpus' reserved
is $? 0 'to another study it is reserved, not foreign'
like "$(sql second.db 'SELECT why, owner FROM gpus')" \
    'study declared of .* has reserved it\|declared of ' 'by whom'
is "$(sql second.db "SELECT count(*) FROM events WHERE text LIKE '%is not used%'")" \
    0 'and no process of it is called a stranger'
: >../declared/talk
: >../declared/end
: >talk
: >end
reap "$one"
is $? 0 'the first study ends'
reap "$two"
is $? 0 'and the second'
is "$(sql second.db 'SELECT state FROM trials')" completed 'with its trial'

done_testing
