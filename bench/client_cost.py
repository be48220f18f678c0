#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a step of the Python client costs: bench/client_cost.py [STEPS]

Each row times a loop that does nothing but say steps, five times over, and prints the best CPU
time in microseconds per step: the client never waits, so that is what it takes from the job. The
watcher is a process that reads the socket as fast as it can; "full" is a socket that nobody reads.
The row with 1 ms per step is the client's own account, p.cost(), on the wall clock and with cold
caches. The last two rows hold 100,000 dictionaries and as many lists alive.
"""
import multiprocessing
import os
import socket
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "clients",
                                "python"))
import plateau  # noqa: E402  pylint: disable=wrong-import-position

ROUNDS = 5


def bound(path):
    made = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    made.bind(path)
    return made


def read_forever(path, ready):
    listener = bound(path)
    ready.set()
    while listener.recv(1 << 16) != b"mark bye":
        pass


def per_step_us(steps, **options):
    """The best round's time per step, and how many lines the last round lost."""
    times, lost = [], 0
    for _ in range(ROUNDS):
        client = plateau.start(total_steps=steps, **options)
        began = time.process_time()
        for step in range(steps):
            client.on_step_end(step)
        times.append((time.process_time() - began) * 1e6 / steps)
        lost = client.cost()["lost"]
        client.close()
    return min(times), lost


def paced_us(path, work_s=0.001, steps=2000):
    """The client's own account when a step takes a millisecond, and what was lost."""
    client = plateau.start(socket_path=path)
    for step in range(steps):
        time.sleep(work_s)
        client.on_step_end(step)
    cost = client.cost()
    client.close()
    return cost["per_step_us"], cost["lost"]


def empty_loop_us(steps):
    began = time.process_time()
    for step in range(steps):
        abs(step)
    return (time.process_time() - began) * 1e6 / steps


def census_ms(path):
    client = plateau.start(socket_path=path)
    times = []
    for _ in range(ROUNDS):
        began = time.process_time()
        client.census()
        times.append((time.process_time() - began) * 1e3)
    client.close()
    return min(times)


def main():
    steps = int(sys.argv[1]) if len(sys.argv) > 1 else 20000
    with tempfile.TemporaryDirectory(dir="/tmp") as directory:
        read, full = os.path.join(directory, "read"), os.path.join(directory, "full")
        ready = multiprocessing.Event()
        watcher = multiprocessing.Process(target=read_forever, args=(read, ready), daemon=True)
        watcher.start()
        ready.wait()
        unread = bound(full)
        print("%-46s %8.2f us" % ("a function call that does nothing", empty_loop_us(steps)))
        for label, options in (
                ("no PLATEAU_SOCKET", {"socket_path": ""}),
                ("socket is gone", {"socket_path": read + "-gone"}),
                ("watcher, gauges every 10 steps", {"socket_path": read}),
                ("watcher, no gauges", {"socket_path": read, "every": 10 ** 9}),
                ("watcher that does not read (full queue)", {"socket_path": full})):
            cost, lost = per_step_us(steps, **options)
            print("%-46s %8.2f us   %d lines lost in a round" % (label, cost, lost))
        print("%-46s %8.2f us   %d lines lost" % ((
            "watcher, gauges, a step takes 1 ms",) + paced_us(read)))
        kept = [{"n": [n]} for n in range(100000)]
        cost, _ = per_step_us(steps, socket_path=read, census=True)
        print("%-46s %8.2f us" % ("watcher, census on, 100,000 dicts and lists each", cost))
        print("%-46s %8.2f ms   %d objects alive" % ("one census", census_ms(read), 2 * len(kept)))
        unread.close()
        last = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        last.sendto(b"mark bye", read)
        watcher.join()


if __name__ == "__main__":
    main()
