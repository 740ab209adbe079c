#!/bin/sh
# Lock files of GPUs are removed, as systemd does at a user's logout.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
. "$TOP_SRCDIR/tests/support/sh/gpus.sh"
need sqlite3

gpus_fake
printf 'gpu\n' >gpus

cat >trial.sh <<'END'
#!/bin/sh
echo hpotune: step=1 loss=0.5
: >up
[ "${HPOTUNE_TRIAL:-0}" -gt "$(cat free 2>/dev/null || echo 0)" ] || exit 0
until [ -e end ]; do sleep 0.1; done
END
chmod +x trial.sh

study() { # name
	gpus_study "$1" 1 '"gpus": 1' ''
	# More than a day, so that its end is another one.
	sed -i 's/"limits": {/& "wall_time": "60h",/' study.json
	server study.json
	cd ..
}

study first
one=$server
retry [ -e first/up ]
ok 'a reservation is a file' [ -e locks/GPU-0 ]
rm -r locks
retry [ -e locks/GPU-0 ]
is $? 0 'which is made again when it was removed'
study second
two=$server
retry sql_is second/second.db 'SELECT state FROM gpus' reserved
is $? 0 'and holds against another study'
like "$(sql second/second.db 'SELECT owner FROM gpus')" \
    '^first of [^,]*, until about [0-9]{4}-[0-9][0-9]-[0-9][0-9] [0-9:]{5}$' \
    'which reads when it is likely to end'
: >first/end
retry [ -e second/up ]
is $? 0 'until its trial ends'
: >second/end
reap "$one"
is $? 0 'the first study ends'
reap "$two"
is $? 0 'and the second'

# By its pace, when three trials have ended.
gpus_study third 5 '"gpus": 1' ''
echo 3 >free
server study.json
one=$server
retry sql_is third.db 'SELECT state FROM trials WHERE trial = 4' running
cd ..
study fourth
two=$server
retry sql_is fourth/fourth.db 'SELECT state FROM gpus' reserved
like "$(sql fourth/fourth.db 'SELECT owner FROM gpus')" \
    '^third of [^,]*, until about ([0-9-]{10} )?[0-9][0-9]:[0-9][0-9]$' \
    'the pace of a study tells when it is likely to end'
: >third/end
: >fourth/end
reap "$one"
is $? 0 'the third study ends'
reap "$two"
is $? 0 'and the fourth'

done_testing
