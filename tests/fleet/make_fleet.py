#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes a fleet of known truth, as Kubernetes' exporters would have told of it.

Every curve is a recorded trace of corpus/ with its label, stretched over the window; nothing about
leaks or warm-ups is invented here. What is made up is the fleet around them:

  workloads   of 1 to 40 pods with a version each; about one series in a hundred leaks: whole workloads
              since a rollout, single pods among many, and leaks that are killed and start anew
  settled     most pods have run for days: of a bounded trace, the part after its growth ended
  new pods    some started within the window: the whole bounded trace, warm-up and all
  daily load  some climb all morning, today as yesterday, and their CPU time with them
  the rest    restarts, gaps in scraping, second scrapers, sums over pods

Writes DIR/fleet.om (OpenMetrics, for promtool), DIR/fleet.jsonl (for VictoriaMetrics' import) if asked,
and DIR/truth.json: by workload, whether it leaks, and by which story. The same seed gives the same fleet.

With --copies the whole fleet is there as many times, in namespaces of their own, for fleets that are large rather than
various. --jsonl writes for VictoriaMetrics too, --jsonl-only for it alone.

usage: make_fleet.py DIR --series N [--copies N] [--end UNIX_S] [--seed N] [--folders dev,own,fit] [--leaks 0.01] [--jsonl]
"""
import argparse
import bisect
import csv
import gzip
import json
import math
import pathlib
import random

ROOT = pathlib.Path(__file__).resolve().parents[2]
WINDOW_S, SCRAPE_S, COARSE_S, DAY_S = 6 * 3600, 30, 240, 86400
SUFFIX = "bcdfghjklmnpqrstvwxz2456789"
MIB = 1048576


def read_traces(folders):
    """(name, label, [(share of the run, MiB)], share at which its growth ended) of each trace."""
    traces = []
    for folder in folders:
        base = ROOT / "corpus" / folder
        for name, label in json.loads((base / "labels.json").read_text()).items():
            path = base / f"{name}.csv.gz"
            if not path.exists():
                continue
            sums = {}
            with gzip.open(path, "rt") as file:
                for row in csv.DictReader(file):
                    step = float(row["step"])
                    sums[step] = sums.get(step, 0.0) + float(row["pss_mb"])
            steps = sorted(sums)
            if len(steps) < 20:
                continue
            first, span = steps[0], steps[-1] - steps[0]
            points = [((s - first) / span, sums[s]) for s in steps]
            ended = None
            if label["label"] == "plateau":
                if "ended" in label and not label["ended"]:
                    continue  # A climb that had not ended when it was recorded tells nobody anything.
                step = max(label.get("ended_step") or 0, label.get("settle_step") or 0)
                ended = min(max((step - first) / span, 0.0), 1.0)
                if ended > 0.85:
                    continue
            traces.append((name, label["label"], points, ended))
    return sorted(traces)


def in_copy(name, copy):
    return f"c{copy}-{name}" if copy else name


class Curve:
    """A trace from one share of its run to another, as MiB at a share of time."""

    def __init__(self, trace, begin=0.0, end=1.0, scale=1.0):
        self.at = [p[0] for p in trace[2]]
        self.mib = [p[1] for p in trace[2]]
        self.begin, self.end, self.scale = begin, end, scale

    def __call__(self, share):
        x = self.begin + min(max(share, 0.0), 1.0) * (self.end - self.begin)
        i = min(max(bisect.bisect_left(self.at, x), 1), len(self.at) - 1)
        x0, x1 = self.at[i - 1], self.at[i]
        part = (x - x0) / (x1 - x0) if x1 > x0 else 0.0
        return self.scale * (self.mib[i - 1] + part * (self.mib[i] - self.mib[i - 1]))


class Fleet:
    def __init__(self, args):
        self.random = random.Random(args.seed)
        self.end = args.end
        self.copies = args.copies
        self.begin = args.end - WINDOW_S
        traces = read_traces(args.folders.split(","))
        self.leaks = [t for t in traces if t[1] == "leak"]
        self.bounded = [t for t in traces if t[1] == "plateau"]
        # Less than half of a trace may be a single tooth of a saw.
        self.calm = [t for t in self.bounded if t[3] <= 0.5]
        self.families = {}  # metric -> list of (labels, [(time, value)])
        self.truth = {}
        self.made = 0

    def add(self, metric, labels, samples):
        if samples:
            self.families.setdefault(metric, []).append((labels, samples))

    def drawn(self, count):
        return "".join(self.random.choice(SUFFIX) for _ in range(count))

    def times(self, begin, end, every):
        first = begin + self.random.random() * every
        count = int((end - first) / every) + 1
        return [round(first + i * every, 3) for i in range(max(count, 0))]

    def settled(self):
        trace = self.random.choice(self.calm)
        return Curve(trace, trace[3] + 0.05, 1.0, self.random.uniform(1, 6))

    def pod(self, space, workload, version, hashed, lives, wave=0.0, old=True, limit=None, gap=False, twice=False,
            yesterday=None, cpu=False):
        """One pod; `lives` is a list of (begin, end, curve), `yesterday` a level in MiB, `wave` one of its load."""
        name = f"{workload}-{hashed}-{self.drawn(5)}"
        base = {"namespace": space, "pod": name, "container": "app"}
        image = f"reg/{workload}:{version}"

        def load(at):
            # Steepest in the middle of the window.
            return 1 + wave * math.sin(2 * math.pi * (((at - self.begin) / DAY_S - 0.125) % 1.0))

        for i, (begin, end, curve) in enumerate(lives):
            life = dict(base, id=f"/k/{name[-5:]}/{i}", image=image)
            samples = []
            for at in self.times(begin, end, SCRAPE_S):
                if gap and self.begin + 7200 <= at < self.begin + 8400:
                    continue
                mib = curve((at - begin) / (end - begin)) * load(at)
                samples.append((at, int(mib * MIB)))
            before = []
            if yesterday is not None and i == 0 and old:
                before = [(at - DAY_S, int(yesterday * load(at) * self.random.uniform(0.995, 1.005) * MIB))
                          for at in self.times(self.begin, self.end, COARSE_S)]
            self.add("container_memory_rss", life, before + samples)
            self.made += 1
            if twice:
                again = [(round(at + 7, 3), value) for at, value in samples]
                self.add("container_memory_rss", dict(life, prometheus_replica="b"), again)
            started = begin if (i > 0 or not old) else self.begin - 5 * DAY_S
            self.add("container_start_time_seconds", life,
                     [(at, int(started)) for at in self.times(begin, end, COARSE_S)])
            if cpu:
                used, counted = 0.0, []
                for at in self.times(begin, end, 60):
                    used += 60 * 0.2 * load(at) * self.random.uniform(0.95, 1.05)
                    counted.append((at, round(used, 3)))
                self.add("container_cpu_usage_seconds_total", life, counted)
        self.add("kube_pod_owner", {"namespace": space, "pod": name, "owner_kind": "ReplicaSet",
                                    "owner_name": f"{workload}-{hashed}"}, [(self.end - 60, 1), (self.end - 30, 1)])
        if limit:
            self.add("kube_pod_container_resource_limits",
                     {"namespace": space, "pod": name, "container": "app", "resource": "memory"},
                     [(self.end - 60, int(limit * MIB)), (self.end - 30, int(limit * MIB))])
        if self.random.random() < 0.05:  # The sum over the pod, which would count twice.
            self.add("container_memory_rss", {"namespace": space, "pod": name, "id": "/kubepods"},
                     [(at, 10 ** 9 + i * 10 ** 7) for i, at in enumerate(self.times(self.begin, self.end, 600))])
        return name

    def old_pods(self, space, workload, version, count):
        """Pods of an earlier version, that were there until the window began and yesterday."""
        for _ in range(count):
            curve = self.settled()
            samples = [(at, int(curve(0.5) * self.random.uniform(0.995, 1.005) * MIB))
                       for at in self.times(self.begin - DAY_S, self.begin + 1200, COARSE_S)]
            name = f"{workload}-{self.drawn(9)}-{self.drawn(5)}"
            self.add("container_memory_rss",
                     {"namespace": space, "pod": name, "container": "app", "id": f"/k/{name[-5:]}",
                      "image": f"reg/{workload}:{version}"}, samples)
            self.made += 1

    def leaking(self, space, workload, story, count):
        """`count` pods; in a rollout all of them leak, else one does."""
        hashed, affected = self.drawn(9), 0
        for i in range(count):
            trace = self.random.choice(self.leaks)
            scale = self.random.uniform(1, 6)
            curve = Curve(trace, 0, 1, scale)
            if story == "rollout":
                self.pod(space, workload, "v2", hashed, [(self.begin + 60, self.end, curve)], old=False,
                         limit=curve(1) * 1.6, cpu=True)
                affected += 1
            elif story == "killed" and i == 0:
                third = WINDOW_S / 3
                lives = [(self.begin + k * third, self.begin + (k + 1) * third - 60, curve) for k in range(3)]
                self.pod(space, workload, "v1", hashed, lives, old=False, limit=curve(1), cpu=True)
                affected += 1
            elif story == "odd" and i == 0:
                self.pod(space, workload, "v1", hashed, [(self.begin, self.end, curve)], limit=curve(1) * 2,
                         yesterday=curve(0))
                affected += 1
            else:
                calm = self.settled()
                self.pod(space, workload, "v1", hashed, [(self.begin, self.end, calm)], yesterday=calm(0.5))
        if story == "rollout":
            self.old_pods(space, workload, "v1", 2)
        self.truth[f"{space}/{workload}"] = {"leak": True, "story": story, "pods": count, "affected": affected}
        return affected

    def bounded_workload(self, space, workload, count):
        hashed = self.drawn(9)
        draw = self.random.random()
        story = "load" if draw < 0.12 else "new" if draw < 0.25 else "settled"
        twice = self.random.random() < 0.1
        for _ in range(count):
            gap = self.random.random() < 0.03
            calm = self.settled()
            limit = 3 * max(calm.mib) * calm.scale
            if story == "load":
                self.pod(space, workload, "v1", hashed, [(self.begin, self.end, calm)], wave=0.3, limit=limit, gap=gap,
                         twice=twice, yesterday=calm(0.5), cpu=True)
            elif story == "new":
                curve = Curve(self.random.choice(self.bounded), 0, 1, self.random.uniform(1, 6))
                self.pod(space, workload, "v1", hashed, [(self.begin + 60, self.end, curve)], old=False,
                         limit=3 * max(curve.mib) * curve.scale, gap=gap, twice=twice, cpu=True)
            elif self.random.random() < 0.04:
                middle = self.begin + WINDOW_S * self.random.uniform(0.3, 0.7)
                again = Curve(self.random.choice(self.bounded), 0, 1, calm.scale)
                # Every other one has a limit right above what it holds, as a heap that is sized by it.
                room = 1.02 if self.made % 2 else 3
                self.pod(space, workload, "v1", hashed, [(self.begin, middle, calm), (middle + 60, self.end, again)],
                         limit=room * max(max(calm.mib) * calm.scale, max(again.mib) * again.scale), twice=twice,
                         yesterday=calm(0.5), cpu=True)
            else:
                self.pod(space, workload, "v1", hashed, [(self.begin, self.end, calm)], limit=limit, gap=gap, twice=twice,
                         yesterday=calm(0.5))
        self.truth[f"{space}/{workload}"] = {"leak": False, "story": story, "pods": count, "affected": 0}

    def make(self, series, leak_share):
        number, leaking, stories = 0, 0, ["rollout", "odd", "killed"]
        while self.made < series:
            number += 1
            space, workload = f"team-{number % 7}", f"svc{number}"
            count = min(1 + int(self.random.expovariate(1 / 12)), 40, max(series - self.made, 1))
            if leaking < leak_share * series and self.random.random() < 0.25:
                story = stories[number % 3]
                if story == "rollout":
                    count = min(count, max(int(leak_share * series) - leaking, 1), 4)
                leaking += self.leaking(space, workload, story, count)
            else:
                self.bounded_workload(space, workload, count)

    def rows_of(self, metric):
        """(labels, samples) of a metric, in every copy of the fleet."""
        for copy in range(self.copies):
            for labels, samples in self.families[metric]:
                yield dict(labels, namespace=in_copy(labels["namespace"], copy)), samples

    def write_openmetrics(self, path):
        with open(path, "w") as out:
            for metric in sorted(self.families):
                out.write(f"# TYPE {metric} unknown\n")
                for labels, samples in self.rows_of(metric):
                    text = ",".join(f'{k}="{v}"' for k, v in sorted(labels.items()))
                    head = f"{metric}{{{text}}} "
                    out.write("".join(f"{head}{value} {at:.3f}\n" for at, value in samples))
            out.write("# EOF\n")

    def write_jsonl(self, path):
        with open(path, "w") as out:
            for metric in sorted(self.families):
                for labels, samples in self.rows_of(metric):
                    out.write(json.dumps({"metric": dict(labels, __name__=metric), "values": [v for _, v in samples],
                                          "timestamps": [int(at * 1000) for at, _ in samples]}) + "\n")

    def truth_of_all(self):
        return {in_copy(name, copy): fact for copy in range(self.copies) for name, fact in self.truth.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dir", type=pathlib.Path)
    parser.add_argument("--series", type=int, default=1000)
    parser.add_argument("--end", type=float, default=1793534400.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folders", default="dev,own,fit")
    parser.add_argument("--leaks", type=float, default=0.01)
    parser.add_argument("--copies", type=int, default=1)
    parser.add_argument("--jsonl", action="store_true")
    parser.add_argument("--jsonl-only", action="store_true")
    args = parser.parse_args()
    fleet = Fleet(args)
    fleet.make(args.series, args.leaks)
    args.dir.mkdir(parents=True, exist_ok=True)
    if not args.jsonl_only:
        fleet.write_openmetrics(args.dir / "fleet.om")
    if args.jsonl or args.jsonl_only:
        fleet.write_jsonl(args.dir / "fleet.jsonl")
    truth = fleet.truth_of_all()
    (args.dir / "truth.json").write_text(json.dumps(truth, indent=1) + "\n")
    leaks = [t for t in truth.values() if t["leak"]]
    print(f"{fleet.made * fleet.copies} series, {len(truth)} workloads, {len(leaks)} of them leak "
          f"({sum(t['affected'] for t in leaks)} series)")


if __name__ == "__main__":
    main()
