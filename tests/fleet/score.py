#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds what `plateau fleet --json` found against the truth of make_fleet.py.

usage: score.py TRUTH.json FOUND.jsonl [--most-false 0.1] [--recall 0.5] [--series N]
Prints one line of figures, and what was missed or false; exits 1 where a bound is not kept.
"""
import argparse
import collections
import json
import sys


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("truth")
    parser.add_argument("found")
    parser.add_argument("--most-false", type=float)
    parser.add_argument("--recall", type=float)
    parser.add_argument("--series", type=int)
    args = parser.parse_args()
    truth = json.load(open(args.truth))
    *findings, summary = [json.loads(line) for line in open(args.found)]
    found = {f"{f['namespace']}/{f['workload']}" for f in findings if f["verdict"] == "leak"}
    leaks = {name for name, fact in truth.items() if fact["leak"]}
    true, false, missed = found & leaks, found - leaks, leaks - found
    share = len(false) / max(len(found), 1)
    recall = len(true) / max(len(leaks), 1)
    story = collections.Counter(truth[name]["story"] for name in missed)
    print(f"{len(found)} found, {len(false)} of them false ({share:.3f}); {len(true)} of {len(leaks)} leaks found "
          f"({recall:.2f}), missed {dict(story)}; {summary['series_judged']} series judged, "
          f"{summary['series_failed']} failed; expected false share {summary['expected_fdr']:.3f}")
    for name in sorted(false):
        print(f"  false: {name} ({truth[name]['story']})")
    wrong = []
    if args.most_false is not None and share > args.most_false:
        wrong.append("too many are false")
    if args.recall is not None and recall < args.recall:
        wrong.append("too many were missed")
    if args.series is not None and summary["series_judged"] + summary["series_brief"] < args.series:
        wrong.append("too few series were judged")
    if wrong:
        sys.exit("; ".join(wrong))


if __name__ == "__main__":
    main()
