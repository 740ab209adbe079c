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
until [ -e end ]; do sleep 0.1; done
END
chmod +x trial.sh

study() { # name
	gpus_study "$1" 1 '"gpus": 1' ''
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
: >first/end
retry [ -e second/up ]
is $? 0 'until its trial ends'
: >second/end
reap "$one"
is $? 0 'the first study ends'
reap "$two"
is $? 0 'and the second'

done_testing
