# SPDX-License-Identifier: Apache-2.0
"""What a heap tracer costs allocation-heavy Python: dicts, lists, strings, instances and buffers
come and go, a part of them stays for a while.

    objects.py [ROUNDS]      default 400

Prints a checksum, the same under every tracer.
"""
import resource
import sys


class Example:
    def __init__(self, number):
        self.number = number
        self.text = f"example {number}" * 3
        self.parts = [number + i for i in range(12)]
        self.extra = {"key": self.text, "value": number / 3.0}


def round_of(number, kept):
    made = [Example(number * 1000 + i) for i in range(1000)]
    words = " ".join(example.text for example in made).split()
    counts = {}
    for word in words:
        counts[word] = counts.get(word, 0) + 1
    buffers = [bytearray(1000 + 37 * i) for i in range(100)]
    kept[number % 16] = made[::4]
    return len(counts) + sum(len(buffer) for buffer in buffers)


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 400
    kept = {}
    checksum = 0
    for number in range(rounds):
        checksum = (checksum * 31 + round_of(number, kept)) % 2**61
    print(checksum)
    used = resource.getrusage(resource.RUSAGE_SELF)
    with open("/proc/self/status", encoding="ascii") as status:
        peak_kb = next(line.split()[1] for line in status if line.startswith("VmHWM"))
    print(f"usage: cpu_s={used.ru_utime + used.ru_stime:.4f} peak_kb={peak_kb}", file=sys.stderr)


if __name__ == "__main__":
    main()
