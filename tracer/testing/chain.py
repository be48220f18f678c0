# SPDX-License-Identifier: Apache-2.0
"""Allocates in known functions at known lines; python_test.cc looks for them in the stacks."""
import os
import sys
import threading


class Holder:
    def h(self):
        return bytearray(3000000)


def g(deep):
    if deep:
        return g(deep - 1)
    return sorted([2, 1], key=lambda v: len(Holder().h()))


def f():
    def größe():
        return g(2)
    return größe()


def make(count):
    return [float(i) for i in range(count)]


def child():
    return bytearray(5000000)


what = sys.argv[1]
if what == "chain":
    f()
elif what == "thread":
    worker = threading.Thread(target=f)
    worker.start()
    worker.join()
elif what == "small":
    kept = make(1000000)
elif what == "fork":
    f()
    pid = os.fork()
    if pid == 0:
        child()
        os._exit(0)
    os.waitpid(pid, 0)
    print(pid)
