"""Facts proved by the journal of a run, as JSON: the independent ledger of
tests.

    verify.py DIR [TAG [MEMBER…]]

With members one line of each, else all of them.  Nothing is imported but the
standard library: it takes a quarter of the time of standin.py verify."""

import json
import os
import sys
from collections import Counter, defaultdict

ENDED = ("Completed", "Failed", "Stopped")


def read(folder):
    with open(os.path.join(folder, "requests.jsonl"), encoding="utf-8") as \
            file:
        for line in file:
            if line.endswith("\n"):
                yield json.loads(line)


def account(lines, tag=None):
    """The findings of a journal; tag: jobs are also counted by its value."""
    acted, late = Counter(), 0
    requests, errors, verdicts = Counter(), Counter(), Counter()
    over, faults, peaks = Counter(), Counter(), defaultdict(Counter)
    status, tags, trainings = {}, defaultdict(list), Counter()
    stops, first, last, defects = Counter(), None, None, []
    bills = {}
    for line in lines:
        event = line["event"]
        if event == "job":
            status[line["job"]] = line["status"]
        elif event == "training":
            trainings[line["job"]] += 1
        elif event == "late":
            late += 1
        elif event == "bill":
            bills[line["job"]] = {
                "seconds": line["seconds"] + line["keep_alive"],
                "machines": line["machines"], "idle": line["keep_alive"]}
        elif event == "reused":
            bill = bills[line["job"]]
            bill["seconds"] += line["seconds"] - bill["idle"]
            bill["idle"] = line["seconds"]
        if event != "request":
            continue
        first = first or line["time"]
        last = line["time"]
        name = "%s.%s" % (line["service"], line["op"])
        # A late request was counted when it came.
        if not line.get("late"):
            requests[name] += 1
            peaks[name][int(line["time"])] += 1
            verdicts[line["verdict"]] += 1
        if "error" in line:
            errors["%s %s" % (name, line["error"])] += 1
        if "fault" in line and not line.get("late"):
            faults[line["fault"]] += 1
        if "defect" in line:
            defects.append(line["defect"])
        if line.get("over"):
            over[name] += 1
        if name == "sagemaker.CreateTrainingJob" and line.get("acted"):
            acted[line["job"]] += 1
            if tag is not None and tag in line.get("tags", {}):
                tags[line["tags"][tag]].append(line["job"])
        if name == "sagemaker.StopTrainingJob" and line.get("acted"):
            stops[line["job"]] += 1
    return {
        "jobs": len(acted), "late_creates": late,
        "created_twice": sorted(job for job, count in acted.items()
                                if count > 1),
        "open": sorted(job for job in acted
                       if status.get(job) not in ENDED),
        "status": dict(Counter(status.values())),
        "tag_twice": {value: jobs for value, jobs in tags.items()
                      if len(jobs) > 1},
        "trainings": sum(trainings.values()),
        "restarted": sum(1 for count in trainings.values() if count > 1),
        "stops": sum(stops.values()), "bills": bills,
        "requests": dict(sorted(requests.items())),
        "peak_per_second": {name: max(seconds.values()) for name, seconds in
                            sorted(peaks.items())},
        "over_limit": dict(sorted(over.items())),
        "verdicts": dict(verdicts), "errors": dict(sorted(errors.items())),
        "faults": dict(sorted(faults.items())),
        "defects": defects,
        "seconds": round((last or 0) - (first or 0), 3)}


def main(argv):
    if not argv:
        sys.stderr.write("usage: standin.py verify DIR [TAG [MEMBER…]]\n")
        return 2
    found = account(read(argv[0]), argv[1] if len(argv) > 1 else None)
    if len(argv) > 2:
        for member in argv[2:]:
            print(json.dumps(found[member]))
    else:
        print(json.dumps(found, indent=1, sort_keys=True))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
