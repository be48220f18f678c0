# SPDX-License-Identifier: Apache-2.0
"""The memory of this process and of all it has started, read where a state is exact: between two batches.

Shared pages are divided among those who share them (Pss) where data workers were forked, because what a worker
unshares by touching it shows in no other figure. That costs the kernel a walk of the page tables; where the walk would
take more than a quarter of a step, and in a process alone, the resident anonymous pages are as good.
"""
import ctypes
import os
import time

_LIBC = ctypes.CDLL(None)
_DEAREST_SHARE = 0.25  # Of a step, for one reading.


def _read(path):
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        return os.read(fd, 8192)
    finally:
        os.close(fd)


def descendants(pid):
    """Pids of all processes under `pid`, without it."""
    found, waiting = [], [pid]
    while waiting:
        parent = waiting.pop()
        try:
            for task in os.listdir("/proc/%d/task" % parent):
                children = [int(word) for word in _read("/proc/%d/task/%s/children" % (parent, task)).split()]
                found += children
                waiting += children
        except (OSError, ValueError):
            continue  # It has ended meanwhile.
    return found


def _kilobytes(text, names):
    total = 0
    for line in text.splitlines():
        name, _, rest = line.partition(b":")
        if name in names:
            total += int(rest.split()[0])
    return total


def _owned_kb(pid, shared):
    if shared:
        return _kilobytes(_read("/proc/%d/smaps_rollup" % pid), (b"Pss_Anon", b"Pss_Shmem", b"SwapPss"))
    return _kilobytes(_read("/proc/%d/status" % pid), (b"RssAnon", b"RssShmem", b"VmSwap"))


def trim():
    """Free pages of glibc's heaps go back to the kernel; nothing with another C library."""
    if hasattr(_LIBC, "malloc_trim"):
        _LIBC.malloc_trim(0)


class Resident:
    """Reads the tree of this process. How it reads is decided once, by decide()."""

    def __init__(self):
        self._shared = False
        self.spent_s = 0.0

    def decide(self, step_s):
        """Pss if there are children and a step has time for it."""
        children = descendants(os.getpid())
        if not children:
            return
        began = time.perf_counter()
        try:
            for pid in [os.getpid()] + children:
                if not _owned_kb(pid, True):
                    return  # A kernel without these lines.
        except OSError:
            return
        self._shared = time.perf_counter() - began < max(0.02, _DEAREST_SHARE * step_s)

    @property
    def how(self):
        return "pss" if self._shared else "rss"

    def mb(self):
        """MB of 1,000,000 bytes that the tree holds."""
        began = time.perf_counter()
        total = 0
        own = os.getpid()
        for pid in [own] + descendants(own):
            try:
                total += _owned_kb(pid, self._shared)
            except (OSError, ValueError):
                continue  # It has ended meanwhile.
        self.spent_s += time.perf_counter() - began
        return total * 1024 / 1e6
