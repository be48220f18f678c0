#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the usual rules say of the same fleet, beside Plateau: false alarms and leaks found, by workload.

Asks the database once for each rule at the end of the window, as an alert would stand there then; a workload is
accused if any of its containers is. Coroot's rule is computed from the same raw samples.

usage: fleet_rules.py URL TRUTH.json FOUND.jsonl [--end UNIX_S]
"""
import argparse
import json
import re
import urllib.parse
import urllib.request

SELECTOR = 'container_memory_rss{container!="",image!=""}'
LIMIT = 'on(namespace,pod,container) group_left() max by(namespace,pod,container)(kube_pod_container_resource_limits{resource="memory"})'
RULES = {
    "deriv[1h] > 0 for 1h": f"min_over_time(deriv({SELECTOR}[1h])[1h:5m]) > 0",
    "deriv[6h] > 0": f"deriv({SELECTOR}[6h]) > 0",
    "predict_linear([1h], 4h) > limit": f"predict_linear({SELECTOR}[1h], 4 * 3600) > {LIMIT}",
    "predict_linear([6h], 24h) > limit": f"predict_linear({SELECTOR}[6h], 24 * 3600) > {LIMIT}",
    "usage > 80 % of limit": f"{SELECTOR} > {LIMIT} * 0.8",
}


def ask(url, query, end):
    data = urllib.parse.urlencode({"query": query, "time": end}).encode()
    return json.load(urllib.request.urlopen(url + "/api/v1/query", data))["data"]["result"]


def workload(metric):
    return f"{metric['namespace']}/{re.sub('-[a-z0-9]+-[a-z0-9]{5}$', '', metric['pod'])}"


def slope(points):
    n = len(points)
    mx, my = sum(p[0] for p in points) / n, sum(p[1] for p in points) / n
    sxx = sum((p[0] - mx) ** 2 for p in points)
    return sum((p[0] - mx) * (p[1] - my) for p in points) / sxx if sxx else 0.0


def coroot(points, limit):
    """Cut at falls by half, take the longest piece: its slope is 5 % of the limit an hour, and goes on in its last quarter."""
    pieces, piece = [], [points[0]]
    for before, point in zip(points, points[1:]):
        if point[1] < 0.5 * before[1]:
            pieces.append(piece)
            piece = []
        piece.append(point)
    longest = max(pieces + [piece], key=len)
    if len(longest) < 20:
        return False
    whole, last = slope(longest), slope(longest[-len(longest) // 4:])
    return whole * 3600 >= 0.05 * limit and last >= 0.3 * whole


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("url")
    parser.add_argument("truth")
    parser.add_argument("found")
    parser.add_argument("--end", type=float, default=1793534400.0)
    args = parser.parse_args()
    truth = json.load(open(args.truth))
    leaks = {name for name, fact in truth.items() if fact["leak"]}
    accused = {}
    lines = [json.loads(line) for line in open(args.found)][:-1]
    accused["plateau fleet (leak)"] = {f"{f['namespace']}/{f['workload']}" for f in lines if f["verdict"] == "leak"}
    accused["plateau fleet (leak or undecided)"] = {f"{f['namespace']}/{f['workload']}" for f in lines}
    for name, query in RULES.items():
        accused[name] = {workload(r["metric"]) for r in ask(args.url, query, args.end)}
    limits = {(r["metric"]["namespace"], r["metric"]["pod"]): float(r["value"][1])
              for r in ask(args.url, 'kube_pod_container_resource_limits{resource="memory"}', args.end)}
    guilty = set()
    for space in sorted({name.split("/")[0] for name in truth}):
        for series in ask(args.url, SELECTOR.replace("}", f',namespace="{space}"}}') + "[6h]", args.end):
            limit = limits.get((space, series["metric"]["pod"]))
            if limit and coroot([(at, float(v)) for at, v in series["values"]], limit):
                guilty.add(workload(series["metric"]))
    accused["Coroot's"] = guilty
    print(f"| rule | accused, of {len(truth)} workloads | of them false | leaks found, of {len(leaks)} |\n|---|---|---|---|")
    for name, names in accused.items():
        false = len(names - leaks)
        print(f"| {name} | {len(names)} | {false} ({false / max(len(names), 1):.2f}) | {len(names & leaks)} |")


if __name__ == "__main__":
    main()
