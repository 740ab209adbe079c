#!/bin/sh
# hpotune watch on a terminal: the list, keys, stopping a trial, resizing.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
need python3

cat >study.json <<'END'
{ "study": "watched",
  "objective": { "metric": "acc", "goal": "maximize" },
  "parameters": { "x": { "type": "float", "min": 0, "max": 1 } },
  "strategy": { "name": "random", "seed": 3 },
  "trial": { "command": ["sh", "-c",
      "echo 'hpotune: step=1 acc=0.5'; echo a line of its own; exec sleep 600"],
    "grace": 1 },
  "backend": { "name": "local" },
  "limits": { "trials": 3, "parallel": 2 } }
END
"$HPOTUNE" start -qd study.json
running() {
	sql_is watched.db "SELECT count(*) FROM curves" 2
}
ok 'two trials report' retry running

cat >drive.py <<'END'
import fcntl, os, pty, select, signal, struct, sys, termios, time

pid, fd = pty.fork()
if pid == 0:
    os.environ.update(TERM="xterm", LC_ALL="C.UTF-8")
    os.read(0, 1)
    os.execv(sys.argv[1], ["hpotune", "watch", "watched.db"])
text = b""


def size(rows, columns):
    fcntl.ioctl(fd, termios.TIOCSWINSZ,
                struct.pack("HHHH", rows, columns, 0, 0))


def until(word):
    """Read what is drawn until the word comes; what came before is kept."""
    global text
    text = b""
    end = time.time() + 60
    while word.encode() not in text:
        if time.time() > end or not select.select([fd], [], [], 60)[0]:
            sys.exit(f"no {word!r} in {text[-2000:]!r}")
        text += os.read(fd, 65536)


def told(what):
    print("ok", what, flush=True)


size(24, 90)
os.write(fd, b"\n")
until("arrows select")
until("\033[7m")
told("a row is selected")
os.write(fd, b"\r")
until("a line of its own")
told("its log is shown")
os.write(fd, b"o")
until("(best first)")
told("another order")
size(14, 50)
os.kill(pid, signal.SIGWINCH)
until("arrows select")
longest = max(len(line.replace(b"\033[K", b"").replace(b"\033[J", b"")
                  .replace(b"\033[7m", b"")
                  .replace(b"\033[0m", b"").replace(b"\033[1m", b"")
                  .decode().split("\033[H")[-1].rstrip())
              for line in text.split(b"\r\n")[-10:])
told(f"narrow: {longest <= 50 or longest}")
os.write(fd, b"s")
until("y stop")
os.write(fd, b"n")
until("arrows select")
told("no other key stops")
os.write(fd, b"s")
until("y stop")
os.write(fd, b"y")
until("is being stopped")
told("y stops")
os.write(fd, b"q")
until("\033[?1049l")
while True:
    try:
        if not os.read(fd, 65536):
            break
    except OSError:
        break
told(f"status {os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])}")
END
timeout 240 python3 drive.py "$HPOTUNE" >out 2>err
is "$(cat out err)" 'ok a row is selected
ok its log is shown
ok another order
ok narrow: True
ok no other key stops
ok y stops
ok status 0' 'the board on a terminal'
one_stopped() {
	sql_is watched.db "SELECT count(*) FROM trials
	    WHERE state = 'cancelled'" 1
}
ok 'one trial was stopped' retry one_stopped
"$HPOTUNE" stop --now watched.db >/dev/null

"$HPOTUNE" watch watched.db >plain
like "$(cat plain)" '^watched  interrupted' 'elsewhere it is the status as text'

done_testing
