# SPDX-License-Identifier: Apache-2.0
"""check_exact.py NAME DUMP.json DIR: do the heap totals of every process agree with its counts?

DUMP.json is `plateau dump --json`; DIR holds a file per process, written by counting.cc.
"""

import json
import os
import struct
import sys

FIELDS = ("allocated_bytes", "allocated_blocks", "freed_bytes", "freed_blocks")


def main():
    name, dump, directory = sys.argv[1:]
    tracks = {}
    with open(dump, encoding="utf-8") as lines:
        for line in lines:
            record = json.loads(line)
            if record.get("type") == "heap":
                tracks[record["pid"]] = record  # A later one replaces an earlier one.
    wrong = []
    processes = 0
    for pid in sorted(int(entry) for entry in os.listdir(directory)):
        with open(os.path.join(directory, str(pid)), "rb") as file:
            *counts, lost = struct.unpack("=5Q", file.read(40))
        if counts[1] == 0:
            continue
        processes += 1
        track = tracks.get(pid)
        if lost:
            wrong.append(f"{pid}: the counting allocator has lost count")
        elif track is None:
            wrong.append(f"{pid}: no track, but counted {counts}")
        elif track["dropped_allocs"] or track["dropped_frees"]:
            wrong.append(f"{pid}: {track['dropped_allocs']} allocations and "
                         f"{track['dropped_frees']} frees were dropped")
        elif [int(track[field]) for field in FIELDS] != counts:
            differences = [int(track[field]) - count for field, count in zip(FIELDS, counts)]
            wrong.append(f"{pid}: traced less counted {differences} of {counts}")
    if processes == 0:
        wrong.append("no process was counted")
    for line in wrong:
        print(f"{name} {line}")
    if wrong:
        sys.exit(1)
    print(f"{name}: {processes} processes agree")


if __name__ == "__main__":
    main()
