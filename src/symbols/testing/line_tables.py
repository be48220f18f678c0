# SPDX-License-Identifier: Apache-2.0
"""Prints the line table of several functions and what this interpreter itself says of them.

One line per code object: minor, first line, table in hex, and "offset:line" of every instruction,
where line is 0 if the interpreter has none for it.
"""
import contextlib
import dis
import sys


def long_gap(x):
    a = [
        x,

        x + 1,
    ]
    # A gap of more than 127 lines, and back, in one function.
@GAP@
    return (a,
            x)


def control(n):
    total = 0
    for i in range(n):
        try:
            with contextlib.suppress(ValueError):
                total += (
                    i *
                    2
                )
        except KeyError as error:
            total -= 1
            raise RuntimeError from error
        finally:
            total += 1
    else:
        total = -total
    return [y for y in range(total)
            if y % 2]


class Model:
    scale = 3

    def step(self, x, *, flag=False):
        def inner():
            return (self.scale
                    + x)
        return inner() if flag else self.step(
            x - 1,
            flag=x < 3)

    async def later(self):
        async with self as other:
            await other
        yield lambda: (
            self,
            other,
        )


def many(x):
@MANY@
    return x


def codes(code):
    yield code
    for constant in code.co_consts:
        if hasattr(constant, "co_code"):
            yield from codes(constant)


def truth(code):
    length = len(code.co_code)
    lines = [0] * length
    if hasattr(code, "co_lines"):
        for begin, end, line in code.co_lines():
            for offset in range(begin, end):
                lines[offset] = line or 0
    else:
        starts = list(dis.findlinestarts(code)) + [(length, 0)]
        for (begin, line), (end, _) in zip(starts, starts[1:]):
            for offset in range(begin, end):
                lines[offset] = line
    return lines


def main():
    for function in (long_gap, control, Model.step, Model.later, many, codes, truth, main):
        for code in codes(function.__code__):
            table = code.co_linetable if hasattr(code, "co_linetable") else code.co_lnotab
            lines = truth(code)
            pairs = ",".join("%d:%d" % (at, lines[at]) for at in range(0, len(lines), 2))
            print(sys.version_info[1], code.co_firstlineno, table.hex() or "-", pairs)


if __name__ == "__main__":
    main()
