# SPDX-License-Identifier: Apache-2.0
"""What the Python leakers share: arguments, a paced step loop, and the words to the watcher.

Words go to the Unix datagram socket that PLATEAU_SOCKET names. Sending never blocks and never fails
the program; without the variable nothing is sent. This is written out here on purpose: the clients
have tests of their own, and a leaker must not depend on what it helps to test.
"""

import argparse
import mmap
import os
import socket
import time


class Words:
    """Sends one line a datagram, or nothing if nobody listens."""

    def __init__(self):
        self._socket = None
        address = os.environ.get("PLATEAU_SOCKET", "")
        if not address:
            return
        if address.startswith("@"):
            address = "\0" + address[1:]
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.setblocking(False)
        self._address = address

    def say(self, line):
        if self._socket is None:
            return
        try:
            self._socket.sendto(line.encode(), self._address)
        except OSError:
            pass


def arguments(description, steps=600, epoch_steps=150, batch=4, step_ms=18, extra=None):
    """--steps and --seconds stretch or shorten a run; `extra` adds options of one program."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--steps", type=int, default=steps)
    parser.add_argument("--seconds", type=float, help="length of the whole run")
    if extra:
        extra(parser)
    args = parser.parse_args()
    args.epoch_steps = epoch_steps
    args.batch = batch
    args.step_s = args.seconds / args.steps if args.seconds else step_ms / 1000
    return args


class Loop:
    """`for step in Loop(args)`: steps 1, 2, ... at a fixed pace, each announced when it has ended.

    `quiet` announces nothing, for programs whose steps are read from what they print.
    """

    def __init__(self, args, quiet=False):
        self.args = args
        self.words = Words()
        self.quiet = quiet
        if not quiet:
            examples = args.epoch_steps * args.batch
            self.words.say(f"run total_steps={args.steps} examples={examples} batch={args.batch}")
            self.words.say("step 0 epoch=0")

    def __iter__(self):
        for step in range(1, self.args.steps + 1):
            began = time.monotonic()
            yield step
            if not self.quiet:
                self.words.say(f"step {step} epoch={step / self.args.epoch_steps:.4f}")
            time.sleep(max(0.0, self.args.step_s - (time.monotonic() - began)))

    def say(self, line):
        self.words.say(line)

    def pause(self, steps):
        """Time passes, as many steps long, without a step: an evaluation, a save."""
        time.sleep(steps * self.args.step_s)


def tensor(kb):
    """`kb` KiB of private anonymous memory, every page written: stands for a tensor's storage.

    Mapped, not malloced, so that it leaves at once when it is dropped and the allocator has no say.
    """
    size = kb * 1024
    block = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    for at in range(0, size, mmap.PAGESIZE):
        block[at] = 1
    return block


def order_of_epoch(examples, epoch):
    """A fixed shuffle of 0 .. examples-1, another one in every epoch."""
    import random

    order = list(range(examples))
    random.Random(1000 + epoch).shuffle(order)
    return order


def batch_of_step(args, step):
    """The examples of 1-based `step`: every example once per epoch, shuffled."""
    epoch, place = divmod(step - 1, args.epoch_steps)
    order = order_of_epoch(args.epoch_steps * args.batch, epoch)
    return order[place * args.batch : (place + 1) * args.batch]
