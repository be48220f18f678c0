# SPDX-License-Identifier: Apache-2.0
"""Reads the memory of a process tree from /proc."""
import pathlib


def read_kb(path, wanted):
    """Returns the `Name: value kB` lines of a /proc file as MiB, by name; Threads as a number."""
    found = {}
    for line in pathlib.Path(path).read_text().splitlines():
        name, _, rest = line.partition(":")
        if name in wanted:
            number = int(rest.split()[0])
            found[name] = number if name == "Threads" else number / 1024
    return found


def children_of(pid):
    """Returns the direct children of a process, over all its threads."""
    found = []
    for task in sorted(pathlib.Path(f"/proc/{pid}/task").iterdir(), key=lambda t: int(t.name)):
        try:
            found += [int(c) for c in (task / "children").read_text().split()]
        except (FileNotFoundError, ProcessLookupError):
            continue
    return found


class Tree:
    """Samples a process tree. Processes are numbered in order of their first appearance."""

    def __init__(self, root):
        self.root = root
        self.numbers = {}

    def members(self):
        """Yields (pid, parent pid) from the root down; a member that vanishes is no error."""
        waiting = [(self.root, None)]
        while waiting:
            pid, parent = waiting.pop(0)
            yield pid, parent
            try:
                waiting += [(child, pid) for child in children_of(pid)]
            except (FileNotFoundError, ProcessLookupError):
                continue

    def sample(self):
        """Returns one dict per living process."""
        rows = []
        for pid, parent in self.members():
            try:
                rollup = read_kb(f"/proc/{pid}/smaps_rollup",
                                 {"Rss", "Pss", "Private_Clean", "Private_Dirty"})
                status = read_kb(f"/proc/{pid}/status",
                                 {"RssAnon", "RssFile", "RssShmem", "VmSwap", "Threads"})
            except (FileNotFoundError, ProcessLookupError):
                continue
            if "Pss" not in rollup or "RssAnon" not in status:  # a zombie has no memory
                continue
            number = self.numbers.setdefault(pid, len(self.numbers))
            rows.append({
                "proc": number, "parent": "" if parent is None else self.numbers.get(parent, ""),
                "rss_mb": rollup["Rss"], "pss_mb": rollup["Pss"],
                "uss_mb": rollup["Private_Clean"] + rollup["Private_Dirty"],
                "anon_mb": status["RssAnon"], "file_mb": status["RssFile"],
                "shmem_mb": status["RssShmem"], "swap_mb": status["VmSwap"],
                "threads": status["Threads"]})
        return rows
