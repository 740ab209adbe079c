#!/usr/bin/env python3
"""Studies of training jobs under kill -9 and a stand-in AWS that fails.

    HPOTUNE=./hpotune bench/sagemaker-kills.py [--kills 200] [--seed 1]
        [--only NAME] [--keep FOLDER]

Each round has a stand-in AWS with its own faults and one study, or two in one
account.  Their servers are killed again and again, at chosen moments, and the
last one ends the study.  The judge is what the stand-in did: its journal
(tests/standin/verify.py) and the output of each job as it was printed.  Needs
botocore.  With HPOTUNE_FAILING, tests/torture/hpotune-fail, some servers also kill
themselves at places that nobody can hit from outside.
"""

import argparse
import json
import os
import random
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections import Counter

HERE = os.path.dirname(os.path.abspath(__file__))
AWS = os.path.join(HERE, "..", "tests", "aws")
sys.dont_write_bytecode = True
sys.path.insert(0, AWS)
import verify  # noqa: E402

ENDED = ("Completed", "Failed", "Stopped")
PRICE = {"ml.g5.xlarge": 3600.0, "ml.g4dn.xlarge": 1800.0}
LINE = re.compile(r"^hpotune: step=(\d+) loss=([0-9.]+)$")

# A curve that the parameter alone decides, from the newest checkpoint on.
# "slow": from step 3 on it trains until it is told to end.
# "flaky": the first attempt of every second trial fails in the middle.
TRAINER = """#!/bin/sh
c=$HPOTUNE_CHECKPOINT_DIR
i=0
[ ! -e $c/step ] || i=$(cat $c/step)
while [ $i -lt 6 ]; do
	i=$((i + 1))
	v=$(awk "BEGIN { printf \\"%.6f\\", ($SM_HP_X - 0.3) ^ 2 + 1 / $i }")
	echo "hpotune: step=$i loss=$v"
	echo $i >$c/step.new && mv $c/step.new $c/step
	if [ -e slow ] && [ $i -ge 3 ]; then
		trap 'exit 0' TERM
		while :; do sleep 0.05; done
	fi
	[ ! -e flaky ] || [ $HPOTUNE_ATTEMPT != 1 ] || [ $i != 3 ] ||
	    [ $((HPOTUNE_TRIAL % 2)) = 0 ] || exit 3
	sleep 0.15
done
"""

# All rounds have these.
MIX = {
    "throttle": 0.06, "error500_before": 0.03, "error503_before": 0.03,
    "error500_after": 0.05, "drop_before": 0.03, "drop_after": 0.06,
    "twice": 0.06, "late_create": [{"p": 0.08, "seconds": [0.2, 3]}],
    "delay": [{"p": 0.04, "seconds": [0.05, 0.4]}],
    "stale_list": {"p": 0.3, "seconds": 1}, "list_empty_page": 0.1,
    "log_delay": {"p": 0.3, "seconds": [0.005, 0.05]}, "log_duplicate": 0.1,
    "log_empty_page": 0.2, "log_token_expired": 0.05,
    "internal_failure": {"p": 0.04, "max": 4},
    "slow_stop": {"p": 0.2, "seconds": [0.1, 0.6]},
    "slow_upload": {"p": 0.15, "seconds": [0.3, 1.5]}}

# name: studies at once, trials of each, members of the block, of the study,
# faults, options of the stand-in, and files beside the trainer.
ROUNDS = {
    "on-demand": {"studies": 2},
    "spot": {"studies": 2, "block": {"spot": True, "max_wait": "2h",
                                     "on_demand_after": 2},
             "faults": {"spot_interrupt": {"p": 0.5, "seconds": [0.1, 0.8]},
                        "no_capacity": [{"p": 0.1, "max": 6,
                                         "market": "on-demand"},
                                        {"p": 0.2, "max": 6, "market": "spot",
                                         "seconds": [0.2, 1]}],
                        "spot_ignored": 0.05}},
    "warm": {"block": {"keep_alive": "1m"}},
    "stops": {"studies": 2, "files": ["slow"],
              "study": {"stopping": {"rule": "threshold", "upper": 0.3,
                                     "warmup_steps": 3}}},
    "retries": {"files": ["flaky"], "retries": 1,
                "faults": {"internal_failure": {"p": 0.1, "max": 10}}},
    "cost": {"trials": 60, "cost": 260,
             "faults": {"slow_upload": {"p": 0.3, "seconds": [0.5, 3]}}},
    "cost-warm": {"studies": 2, "trials": 16, "cost": 620,
                  "block": {"keep_alive": "1m", "download_time": "5s",
                            "upload_time": "1s"},
                  "faults": {"slow_upload": {"p": 0.3, "seconds": [2, 12]}}},
    "cost-upload": {"studies": 2, "trials": 10, "cost": 430,
                    "block": {"download_time": "5s", "upload_time": "1s"},
                    "faults": {"slow_upload": {"p": 0.25,
                                               "seconds": [15, 50]}}},
    "cost-spot": {"trials": 20, "cost": 420,
                  "block": {"spot": True, "max_wait": "10m",
                            "upload_time": "1s"},
                  "faults": {"slow_upload": {"p": 0.2, "seconds": [2, 8]},
                             "spot_interrupt": {"p": 0.5,
                                                "seconds": [0.1, 0.8]}}},
    "keys": {"session": True, "options": ["--session-life", "4"],
             "faults": {"expire_credentials": {"every": 40}}},
    "quota": {"studies": 2, "options": ["--quota", "ml.g5.xlarge=2",
                                        "--quota", "ml.g4dn.xlarge=1"],
              "faults": {"clock_skew": {"seconds": 900}}},
    "upload": {"big": 3 << 20, "faults": {
        "delay": [{"p": 0.7, "on": "s3.*", "seconds": [0.1, 0.8]},
                  {"p": 0.5, "on": "sagemaker.Create*",
                   "seconds": [0.1, 0.8]}],
        "drop_after": [{"p": 0.3, "on": "s3.*"}, {"p": 0.05}]}},
    "outage": {"studies": 2, "outage": True}}

# Moments of a kill: an operation that was asked for, or what a job has become.
MOMENTS = {
    "launch": ["sagemaker.CreateTrainingJob"],
    "upload of code": ["s3.PutObject", "s3.HeadObject"],
    "stop": ["sagemaker.StopTrainingJob"],
    "look": ["sagemaker.DescribeTrainingJob", "sagemaker.ListTrainingJobs"],
    "output": ["logs.GetLogEvents", "logs.FilterLogEvents",
               "logs.DescribeLogStreams"],
    "keys": ["container./v2/credentials/room"],
    "training": ["Training"], "job's upload": ["Uploading"],
    "job's end": list(ENDED)}
PLACES = ["sagemaker.put", "sagemaker.before_create", "sagemaker.created",
          "sagemaker.before_stop", "sagemaker.stopped", "sagemaker.ended",
          "sagemaker.drained", "tuner.before_effect", "store.before_commit",
          "store.after_commit"]


class Cloud:
    """A stand-in that runs, and the account of what it did."""

    def __init__(self, folder, said, seed):
        self.folder = folder
        self.faults = dict(MIX, **said.get("faults", {}))
        os.makedirs(folder)
        self.errors = open(os.path.join(folder, "err"), "wb")
        self.process = subprocess.Popen(
            [sys.executable, os.path.join(AWS, "standin.py"), "--dir", folder,
             "--bucket", "bucket", "--speed", "50", "--seed", str(seed),
             "--faults", json.dumps(self.faults)] + said.get("options", []),
            stdout=subprocess.DEVNULL, stderr=self.errors)
        place = os.path.join(folder, "endpoint")
        while not os.path.exists(place):
            if self.process.poll() is not None:
                sys.exit("the stand-in does not start: " + folder)
            time.sleep(0.02)
        with open(place, encoding="ascii") as file:
            self.endpoint = file.read().strip()
        self.journal = os.path.join(folder, "requests.jsonl")

    def env(self, session):
        env = {name: value for name, value in os.environ.items()
               if not name.startswith("AWS_")}
        env.update(AWS_CONFIG_FILE=os.devnull,
                   AWS_SHARED_CREDENTIALS_FILE=os.devnull,
                   AWS_ENDPOINT_URL=self.endpoint)
        if session:
            env["AWS_CONTAINER_CREDENTIALS_FULL_URI"] = \
                self.endpoint + "/v2/credentials/room"
        else:
            env.update(AWS_EC2_METADATA_DISABLED="true",
                       AWS_ACCESS_KEY_ID="standin",
                       AWS_SECRET_ACCESS_KEY="standin-secret")
        return env

    def misfortune(self, faults):
        urllib.request.urlopen(urllib.request.Request(
            self.endpoint + "/standin/faults", method="PUT",
            data=json.dumps(faults).encode())).close()

    def close(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait()
        self.errors.close()


class Study:
    """One study in a folder of its own, under servers that are killed."""

    def __init__(self, folder, said, cloud, rng, kills):
        self.folder, self.said, self.cloud = folder, said, cloud
        self.rng, self.kills = rng, kills
        self.trials = said.get("trials", 14)
        self.moments, self.problems = Counter(), []
        self.server = None
        self.write()

    def write(self):
        said = self.said
        code = os.path.join(self.folder, "code")
        os.makedirs(code)
        with open(os.path.join(code, "trial"), "w", encoding="ascii") as file:
            file.write(TRAINER)
        os.chmod(os.path.join(code, "trial"), 0o755)
        for name in said.get("files", ()):
            open(os.path.join(code, name), "w", encoding="ascii").close()
        if "big" in said:
            with open(os.path.join(code, "data"), "wb") as file:
                file.write(self.rng.randbytes(said["big"]))
        limits = {"trials": self.trials, "parallel": 4}
        if "cost" in said:
            limits["cost"] = said["cost"]
        self.block = dict({
            "name": "sagemaker", "region": "eu-west-1",
            "role": "arn:aws:iam::123456789012:role/Trials",
            "image": "123456789012.dkr.ecr.eu-west-1.amazonaws.com/train:1",
            "instance_type": list(PRICE), "price_per_hour": PRICE,
            "s3": "s3://bucket/hpotune/", "code": "code", "pace": 50,
            "download_time": "20s", "upload_time": "20s",
            "max_run": "8s" if "cost" in said else "1h"},
            **said.get("block", {}))
        with open(os.path.join(self.folder, "s.json"), "w",
                  encoding="ascii") as file:
            json.dump(dict({
                "study": "kills",
                "objective": {"metric": "loss", "goal": "minimize"},
                "parameters": {"x": {"type": "float", "min": 0, "max": 1}},
                "strategy": {"name": "random",
                             "seed": self.rng.randrange(1 << 30)},
                "stopping": "none",
                "trial": {"command": ["./trial", "{params}"],
                          "max_steps": 6, "retries": said.get("retries", 2)},
                "backend": self.block, "limits": limits},
                **said.get("study", {})), file, indent=1)

    def start(self, place):
        env = self.cloud.env(self.said.get("session"))
        program = os.environ["HPOTUNE"]
        if place is not None:
            program = os.environ["HPOTUNE_FAILING"]
            env["HPOTUNE_FAIL"] = place
        with open(os.path.join(self.folder, "err"), "ab") as err:
            self.server = subprocess.Popen(
                [program, "start", "s.json", "--quiet"], cwd=self.folder,
                env=env, stdout=err, stderr=err)
        return self.server

    def happens(self, wanted, server, file):
        """Waits until the journal tells one of these of; false: it did not."""
        until = time.monotonic() + 4
        while time.monotonic() < until and server.poll() is None:
            line = file.readline()
            if not line.endswith("\n"):
                file.seek(file.tell() - len(line))
                time.sleep(0.001)
                continue
            told = json.loads(line)
            if told["event"] == "request":
                name = "%s.%s" % (told["service"], told["op"])
            else:
                name = told.get("secondary")
            if name in wanted:
                return True
        return False

    def final(self):
        """Trials that have ended."""
        try:
            return self.ask("SELECT count(*) FROM t_trial WHERE state IN "
                            "('completed', 'stopped', 'failed')")[0][0]
        except sqlite3.Error:
            return 0

    def last_turn(self, server):
        """Waits until the last trial is recorded, or nearly."""
        until = time.monotonic() + 30
        left = self.rng.choice((0, 0, 1))
        while time.monotonic() < until and server.poll() is None:
            if self.final() >= self.trials - left:
                return True
            time.sleep(0.002)
        return False

    def ask(self, query):
        base = sqlite3.connect(
            "file:%s?mode=ro" % os.path.join(self.folder, "kills.db"), uri=True,
            timeout=10)
        try:
            return base.execute(query).fetchall()
        finally:
            base.close()

    def kill_once(self, moment):
        """A server until it is killed; false: it ended by itself."""
        rng, place = self.rng, None
        if moment == "a place within":
            place = rng.choice(PLACES)
            place += "=kill%%%d" % rng.choice((10, 30)) \
                if place.split(".")[0] in ("store", "tuner") else "=kill"
        with open(self.cloud.journal, encoding="utf-8") as file:
            file.seek(0, os.SEEK_END)
            server = self.start(place)
            if moment == "any time":
                time.sleep(rng.uniform(0.01, 2.5))
            elif moment == "begin":
                time.sleep(rng.uniform(0.002, 0.08))
            elif moment == "last turn":
                if not self.last_turn(server):
                    moment = "any time"
            elif place is not None:
                try:
                    server.wait(4)
                except subprocess.TimeoutExpired:
                    moment = "any time"
            elif self.happens(MOMENTS[moment], server, file):
                time.sleep(rng.choice((0, rng.uniform(0, 0.02),
                                       rng.uniform(0, 0.3))))
            else:
                moment = "any time"
            server.kill()
            status = server.wait()
        if status == -signal.SIGKILL:
            self.moments[moment] += 1
            return True
        if status != 0:
            self.problems.append("a server ended with %d" % status)
        return False

    def run(self):
        moments = list(MOMENTS) + ["any time", "begin"]
        if "HPOTUNE_FAILING" in os.environ:
            moments += ["a place within"] * 4
        if not self.said.get("session"):
            moments.remove("keys")
        for number in range(self.kills):
            last = number == self.kills - 1
            if not self.kill_once("last turn" if last else
                                  self.rng.choice(moments)):
                break
            if self.rng.random() < 0.4:
                time.sleep(self.rng.uniform(0, 1.5))
        server = self.start(None)
        try:
            status = server.wait(240)
        except subprocess.TimeoutExpired:
            server.kill()
            status = server.wait()
        if status != 0:
            self.problems.append("the last server ended with %d" % status)


# The judge.

def printed(cloud, jobs):
    """{(trial, step): value} of what the jobs of a study said."""
    said = {}
    for job, tags in jobs.items():
        folder = os.path.join(cloud.folder, "jobs", job)
        for name in os.listdir(folder):
            if not name.endswith(".log"):
                continue
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                for line in file:
                    found = LINE.match(line)
                    if found:
                        said[int(tags["hpotune:trial"]),
                             int(found[1])] = found[2]
    return said


def lives(lines):
    """Of each job: its tags, when it was made, and its moves."""
    jobs = {}
    for line in lines:
        if line["event"] == "request" and line.get("acted") and \
                line["op"] == "CreateTrainingJob":
            jobs[line["job"]] = {"tags": line["tags"], "made": line["time"],
                                 "moves": []}
        elif line["event"] == "job":
            # Its first move is written before the request that made it.
            jobs.setdefault(line["job"], {"moves": []})
            jobs[line["job"]].setdefault("first", []).append(
                (line["time"], line["secondary"], line["status"]))
    for job in jobs.values():
        job["moves"] = job.pop("first", [])
    return jobs


def spans(job, word):
    """Seconds of each time that it was in this status."""
    moves = job["moves"]
    return [(after[0] - one[0], after[0]) for one, after in
            zip(moves, moves[1:]) if one[1] == word]


def twice_at_once(jobs):
    """Trials of which two jobs were there at the same time."""
    found, until = [], {}
    for name, job in sorted(jobs.items(), key=lambda one: one[1]["made"]):
        trial = job["tags"]["hpotune:trial"]
        if job["made"] < until.get(trial, 0):
            found.append(name)
        end = job["moves"][-1]
        until[trial] = end[0] if end[2] in ENDED else float("inf")
    return found


def dollars(bill, seconds):
    return sum(PRICE[kind] * count for kind, count in
               bill["machines"]) * seconds / 3600


def unknown(study, jobs, bills):
    """Dollars of downloads and uploads beyond what was reckoned with."""
    block = study.block
    first = {"Downloading": block["download_time"],
             "Uploading": block["upload_time"]}
    total = 0.0
    for word, said in first.items():
        ends = [(end, length) for job in jobs.values()
                for length, end in spans(job, word)]
        for name, job in jobs.items():
            seen = [length for end, length in ends if end < job["made"]]
            most = max(seen) * 1.25 + 30 if seen else float(said[:-1])
            over = sum(max(0.0, length - most) for length, _ in
                       spans(job, word))
            if over > 0 and name in bills:
                total += dollars(bills[name], over)
    return total


def judge(study, mine, cloud, ledger, found):
    """Adds what is wrong with a study, and its figures, to found."""
    bad = study.problems
    tags = {name: job["tags"] for name, job in mine.items()}
    states = Counter(dict(study.ask(
        "SELECT state, count(*) FROM t_trial GROUP BY state")))
    ended = states["completed"] + states["stopped"]
    why = study.ask("SELECT coalesce(why, '') FROM t_study")[0][0]
    if why.startswith("limits.cost"):
        # Those that wait go on when the limit is raised.
        ended += states["waiting"]
        found["studies that limits.cost ended"] += 1
        lost = sum(states.values()) - ended
    else:
        lost = study.trials - ended
    found["trials"] += sum(states.values())
    found["trials lost"] += lost
    if lost:
        bad.append("trials: %s, %s" % (dict(states), why))
    said = printed(cloud, tags)
    got = {(trial, step): "%.6f" % value for trial, step, value in
           study.ask("SELECT trial, step, value FROM curves")}
    wrong = [key for key in set(said) | set(got)
             if said.get(key) != got.get(key)]
    found["reports"] += len(said)
    found["reports lost or made up"] += len(wrong)
    if wrong:
        bad.append("reports: %s" % sorted(wrong)[:5])
    rows = study.ask("SELECT uuid, trial, attempt, cost, end_class "
                     "FROM t_attempt")
    known = {row[0] for row in rows}
    found["jobs without an attempt"] += sum(
        one["hpotune:attempt"] not in known for one in tags.values())
    both = twice_at_once(mine)
    found["two jobs of a trial at once"] += len(both)
    if both:
        bad.append("two at once: %s" % both)
    found["attempts lost"] += sum(row[4] == "lost" for row in rows)
    bills = {name: ledger["bills"][name] for name in mine
             if name in ledger["bills"]}
    spent = sum(dollars(bill, bill["seconds"]) for bill in bills.values())
    booked = {row[0]: row[3] for row in rows}
    free = [name for name in bills
            if not booked.get(tags[name]["hpotune:attempt"])]
    found["paid jobs without a cost"] += len(free)
    if free:
        bad.append("no cost is recorded: %s" % free)
    found["dollars"] += spent
    found["dollars recorded"] += sum(cost or 0 for cost in booked.values())
    if "cost" in study.said:
        beyond = max(0.0, spent - study.said["cost"])
        excused = unknown(study, mine, bills)
        found["studies with limits.cost"] += 1
        found["dollars beyond limits.cost"] += beyond
        found["… beyond what cannot be known"] += max(0.0, beyond - excused)
        study.note = "%.0f of %d dollars, %.0f cannot be known, %s" % (
            spent, study.said["cost"], excused, dict(states))
        if beyond > excused:
            bad.append("cost: " + study.note)


def judge_round(studies, cloud, found):
    lines = list(verify.read(cloud.folder))
    ledger = verify.account(lines, "hpotune:attempt")
    jobs = lives(lines)
    found["jobs"] += ledger["jobs"]
    found["jobs created twice"] += len(ledger["created_twice"]) + \
        len(ledger["tag_twice"])
    found["jobs left running"] += len(ledger["open"])
    with open(os.path.join(cloud.folder, "faults.json"),
              encoding="ascii") as file:
        struck = Counter(json.load(file))
    found["faults"] += sum(struck.values())
    found["answers lost or doubled"] += sum(struck[kind] for kind in (
        "error500_after", "drop_before", "drop_after", "twice",
        "late_create"))
    found["spot interruptions"] += struck["spot_interrupt"]
    found["answers of expired keys"] += sum(
        count for name, count in ledger["errors"].items()
        if name.endswith("ExpiredTokenException"))
    bad = []
    for what in ("created_twice", "tag_twice", "open", "defects"):
        if ledger[what]:
            bad.append("%s: %s" % (what, ledger[what]))
    before = found["attempts lost"]
    for study in studies:
        ids = Counter(job["tags"]["hpotune:study-id"]
                      for job in jobs.values()
                      if job["tags"]["hpotune:attempt"] in study.uuids)
        mine = {name: job for name, job in jobs.items()
                if job["tags"]["hpotune:study-id"] in ids}
        judge(study, mine, cloud, ledger, found)
        bad += study.problems
    # A job that AWS loses is the only reason to lose an attempt.
    more = found["attempts lost"] - before - struck["internal_failure"]
    found["attempts lost for no reason of AWS"] += max(0, more)
    if more > 0:
        bad.append("%d attempts lost for no reason of AWS" % more)
    return bad


def play(folder, name, rng, left, found):
    """One round; returns what is wrong with it."""
    said = ROUNDS[name]
    cloud = Cloud(os.path.join(folder, "aws"), said, rng.randrange(1 << 30))
    count = said.get("studies", 1)
    kills = min(max(1, left // count), 9 if count == 1 else 6)
    studies = [Study(os.path.join(folder, str(n)), said, cloud,
                     random.Random(rng.random()), kills)
               for n in range(count)]
    threads = [threading.Thread(target=study.run, daemon=True)
               for study in studies]
    try:
        for one in threads:
            one.start()
        while said.get("outage") and any(one.is_alive() for one in threads):
            time.sleep(rng.uniform(0.5, 2))
            cloud.misfortune(dict(cloud.faults, error503_before=1.0))
            time.sleep(rng.uniform(0.2, 1))
            cloud.misfortune(cloud.faults)
        for one in threads:
            one.join()
        # A request that was under way may act yet.
        time.sleep(3.5)
    finally:
        for study in studies:
            if study.server is not None and study.server.poll() is None:
                study.server.kill()
        cloud.close()
    for study in studies:
        study.uuids = {row[0] for row in study.ask(
            "SELECT uuid FROM t_attempt")}
        for moment, n in study.moments.items():
            found["kills"] += n
            found["kills: " + moment] += n
    return studies, judge_round(studies, cloud, found)


def table(found, wanted):
    zero = ("jobs created twice", "two jobs of a trial at once",
            "jobs left running", "jobs without an attempt", "trials lost",
            "reports lost or made up", "attempts lost for no reason of AWS",
            "paid jobs without a cost", "… beyond what cannot be known")
    plain = ["jobs", "trials", "reports", "faults", "answers lost or doubled",
             "spot interruptions", "answers of expired keys", "attempts lost",
             "dollars", "dollars recorded", "studies with limits.cost",
             "studies that limits.cost ended", "dollars beyond limits.cost"]
    row = "| %s | %s | %s |"
    print("| what | ours | to reach |\n|---|---|---|")
    print(row % ("kills", found["kills"], wanted))
    for what in sorted(found):
        if what.startswith("kills: "):
            print(row % (what, found[what], "-"))
    for what in plain:
        print(row % (what, "%.10g" % round(found[what], 1), "-"))
    for what in zero:
        print(row % (what, "%.10g" % round(found[what], 3), 0))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", choices=list(ROUNDS), action="append")
    parser.add_argument("--keep", metavar="FOLDER",
                        help="where rounds with something wrong are kept")
    options = parser.parse_args()
    if "HPOTUNE" not in os.environ:
        parser.error("HPOTUNE is the program to be killed")
    for name in ("HPOTUNE", "HPOTUNE_FAILING"):
        if name in os.environ:
            os.environ[name] = os.path.abspath(os.environ[name])
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    found, number, wrong = Counter(), 0, 0
    names = options.only or list(ROUNDS)
    while found["kills"] < options.kills:
        name = names[number % len(names)]
        number += 1
        rng = random.Random("%d %d" % (options.seed, number))
        folder = tempfile.mkdtemp(prefix="hpotune-kills.")
        before = found["kills"]
        studies, bad = play(folder, name, rng,
                            options.kills - found["kills"], found)
        print("%3d %-10s %3d kills%s" % (
            number, name, found["kills"] - before,
            "".join("; " + study.note for study in studies
                    if hasattr(study, "note"))), file=sys.stderr)
        for one in bad:
            print("    " + one, file=sys.stderr)
        if bad and options.keep:
            os.makedirs(options.keep, exist_ok=True)
            shutil.move(folder, os.path.join(options.keep, "%d-%s" % (
                number, name)))
        shutil.rmtree(folder, ignore_errors=True)
        wrong += bool(bad)
    table(found, options.kills)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
