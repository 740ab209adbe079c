#!/bin/sh
# hpotune watch on a terminal: the list, keys, stopping a trial, resizing.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
need python3

# Three trials end, then two go on until they are stopped.
cat >study.json <<'END'
{ "study": "watched",
  "objective": { "metric": "acc", "goal": "maximize" },
  "parameters": { "x": { "type": "float", "min": 0, "max": 1 } },
  "strategy": { "name": "random", "seed": 3 },
  "trial": { "command": ["sh", "-c",
      "n=$HPOTUNE_TRIAL; echo \"hpotune: step=1 acc=0.$n\"\necho \"hpotune: step=2 acc=0.$n\"5; echo a line of trial $n\n[ $n -le 3 ] || exec sleep 600"],
    "grace": 1, "retries": 0 },
  "stopping": "none",
  "backend": { "name": "local" },
  "limits": { "trials": 6, "parallel": 2 } }
END
"$HPOTUNE" start -qd study.json
running() {
	sql_is watched.db "SELECT count(*) FROM (SELECT trial FROM curves
	    JOIN trials USING (trial) WHERE state = 'running'
	    GROUP BY trial HAVING count(*) = 2)" 2
}
ok 'three trials have ended, two report' retry running

cat >drive.py <<'END'
import fcntl, os, pty, re, select, signal, struct, sys, termios, time

pid, fd = pty.fork()
if pid == 0:
    os.environ.update(TERM="xterm", LC_ALL="C.UTF-8")
    os.read(0, 1)
    os.execv(sys.argv[1], ["hpotune", "watch", "watched.db"])


class Screen:
    """What a terminal of this size shows: only what the board writes."""

    def __init__(self, rows, columns):
        self.resize(rows, columns)
        self.rest, self.marked = "", 0

    def resize(self, rows, columns):
        # A terminal keeps what fits.
        old = getattr(self, "lines", [])
        self.lines = [(old[i] if i < len(old) else "")[:columns]
                      for i in range(rows)]
        self.rows, self.columns, self.y, self.x = rows, columns, 0, 0
        self.wide = False

    def write(self, text):
        text = self.rest + text
        cut = re.search(r"\033(\[[?0-9;]*)?$", text)
        self.rest = text[cut.start():] if cut else ""
        text = text[:cut.start()] if cut else text
        for m in re.finditer(r"\033\[([?0-9;]*)([A-Za-z])|.|\n", text):
            line = self.lines[self.y]
            if m[0] == "\n":
                self.y = min(self.y + 1, self.rows - 1)
            elif m[0] == "\r":
                self.x = 0
            elif m[2] == "H":
                self.x = self.y = 0
                self.wide = False
            elif m[2] == "K":
                self.lines[self.y] = line[:self.x]
            elif m[2] == "J":
                self.lines[self.y:] = [line[:self.x]] + [""] * (
                    self.rows - self.y - 1)
            elif m[2] == "m":
                if m[1] == "7":
                    self.marked = self.y
            elif m[2] is None and self.x >= self.columns:
                self.wide = True
            elif m[2] is None:
                self.lines[self.y] = line[:self.x].ljust(self.x) + m[0] + \
                    line[self.x + 1:]
                self.x += 1

    def text(self):
        return "\n".join(self.lines)

    def foot(self):
        return self.text().rstrip().split("\n")[-1]

    def selected(self):
        """The trial of the row in reverse video."""
        return int(self.lines[self.marked].split()[0])

    def trials(self):
        """The list, from above."""
        first = next(i for i, s in enumerate(self.lines)
                     if re.match(r" *trial +state", s))
        return [int(m[1]) for s in self.lines[first + 1:]
                if (m := re.match(r" *(\d+) +[a-z]+ ", s))]


data = b""


def until(holds, what):
    """Read what is drawn until it is so."""
    global data
    end, empty = time.time() + 60, screen
    while True:
        if time.time() > end or not select.select([fd], [], [], 60)[0]:
            sys.exit(f"not {what}:\n{screen.text()}")
        data += os.read(fd, 65536)
        # A drawing ends with the erasure of what is below it.
        while (end_of := data.find(b"\033[J") + 3) > 2:
            drawing = data[:end_of].decode()
            data = data[end_of:]
            empty = Screen(screen.rows, screen.columns)
            for one in screen, empty:
                one.write(drawing)
        # It looks as on an empty screen: nothing is left of the one before.
        if (not screen.wide and screen.text() == empty.text()
                and holds()):
            print("ok", what, flush=True)
            return


def size(rows, columns):
    fcntl.ioctl(fd, termios.TIOCSWINSZ,
                struct.pack("HHHH", rows, columns, 0, 0))
    screen.resize(rows, columns)


def key(keys):
    os.write(fd, keys.encode())


def first_drawing(moved, holds, keys, what):
    """It is so in the first drawing in which another thing is."""
    key(keys)
    until(moved, what + ": drawn")
    if not holds():
        sys.exit(f"not {what}:\n{screen.text()}")
    print("ok", what, flush=True)


UP, DOWN, RIGHT, LEFT = "\033[A", "\033[B", "\033[C", "\033[D"
screen = Screen(30, 90)
size(30, 90)
os.write(fd, b"\n")
# Either of the two that run may have started later.
until(lambda: "arrows select" in screen.text() and len(screen.trials()) == 5
      and screen.selected() == screen.trials()[0] and
      sorted(screen.trials()[:2]) == [4, 5],
      "trials that run come first, those that ended last follow")
until(lambda: re.search("completed", screen.text()), "they have a state")
until(lambda: re.search(r"^ *5 +running +\S+ +2 +[1-9]", screen.text(), re.M),
      "one that runs has the seconds since its start")
key("o")
until(lambda: "(best first)" in screen.text() and
      screen.trials() == [5, 4, 3, 2, 1], "the best first")
key(DOWN)
until(lambda: screen.selected() == 4, "an arrow selects the next trial")
key(DOWN + DOWN + UP)
until(lambda: screen.selected() == 3, "several keys at once")
key("\r")
until(lambda: "a line of trial 3" in screen.text(), "its log is shown")
until(lambda: re.search(r"trial +\S*[\u2581-\u2588]", screen.text()) and
      "median" in screen.text(), "and its curve beside the median")
key(DOWN)
until(lambda: "a line of trial 2" in screen.text() and
      "a line of trial 3" not in screen.text(), "the log is of the selection")
key(UP + "o")
until(lambda: "(by number)" in screen.text() and screen.selected() == 1,
      "a letter right after an arrow")
key("oo" + DOWN + DOWN + RIGHT + RIGHT)
until(lambda: screen.selected() == 3 and "a line of trial 3" in screen.text(),
      "a move is not lost when another key comes with it")
first_drawing(lambda: screen.selected() == 2,
              lambda: "a line of trial 2" in screen.text(), DOWN,
              "the first drawing after a move has the log of the selection")
key(LEFT)
until(lambda: "a line of trial" not in screen.text(), "which is closed")
key("o")
until(lambda: "(by number)" in screen.text() and
      screen.trials() == [1, 2, 3, 4, 5], "by number")
for rows, columns in (14, 50), (40, 120), (20, 70):
    size(rows, columns)
    os.kill(pid, signal.SIGWINCH)  # no key is pressed
    until(lambda: screen.foot().startswith("arrows select") and
          screen.text().count("arrows select") == 1 and
          len(re.findall("^ *trial +state", screen.text(), re.M)) == 1,
          f"{rows} rows of {columns}: one board, no leftovers")
key(DOWN + DOWN + DOWN)
until(lambda: screen.selected() == 4, "the selection after that")
key("sy" + UP)
until(lambda: "stop trial 4?" in screen.text(),
      "an answer that came before the question is none")
key("n")
until(lambda: "arrows select" in screen.text(), "it is asked no more")
key(UP + "s")
until(lambda: "trial 3 has ended" in screen.foot(),
      "one that has ended is not asked about")
key(DOWN)
until(lambda: screen.selected() == 4, "the one that runs")
key("s")
until(lambda: "stop trial 4?" in screen.text() and "y stop" in screen.text(),
      "s asks")
key("n")
until(lambda: "arrows select" in screen.text(), "no other key stops")
key("s")
until(lambda: "y stop" in screen.text(), "s asks again")
key("y")
until(lambda: "trial 4" in screen.foot() and "stopped" in screen.foot(),
      "y stops")
until(lambda: re.search(r"^ *4 +cancelled", screen.text(), re.M),
      "the list says so")
until(lambda: re.search(r"^about \d+[dhms]( \d+[hms])? left", screen.text(),
                        re.M), "the time left is estimated")
os.write(fd, b"q")
while True:
    try:
        piece = os.read(fd, 65536)
        data += piece
        if not piece:
            break
    except OSError:
        break
print("ok the user's own screen comes back" if data.endswith(b"\033[?1049l")
      else f"left: {data[-80:]!r}")
print("status", os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
END
timeout 300 python3 drive.py "$HPOTUNE" >out 2>err
is $? 0 'the board on a terminal: keys' || diag "$(cat out err)"
is "$(grep -v '^ok ' out)" 'status 0' 'it ends well'
while read -r word what; do
	[ "$word" != ok ] || ok "$what" true
done <out
one_stopped() {
	sql_is watched.db "SELECT group_concat(trial) FROM trials
	    WHERE state = 'cancelled'" 4
}
ok 'one trial was stopped' retry one_stopped
"$HPOTUNE" stop --now watched.db >/dev/null

"$HPOTUNE" watch watched.db >plain
like "$(cat plain)" '^watched  interrupted' 'elsewhere it is the status as text'

done_testing
