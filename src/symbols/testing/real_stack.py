# SPDX-License-Identifier: Apache-2.0
"""Takes a real stack of this interpreter: python3 real_stack.py LIBRARY

The chain is: module -> train -> (C: sorted) -> load -> decode -> (C: ctypes) -> stand_in_capture.
Prints "native ADDRESS" and "python MINOR FIRST_LINE INSTRUCTION ENTRY TABLE NAME LINE", innermost first, then
"maps" and the memory map.
"""
import ctypes
import sys

library = ctypes.PyDLL(sys.argv[1])
addresses = (ctypes.c_void_p * 256)()
minor = sys.version_info[1]


def decode(image):
    rows.append((sys._getframe(),
                 library.stand_in_capture(addresses, 256)))  # DECODE
    return image


def load(image):
    return decode(image)  # LOAD


def train():
    return sorted([1], key=load)  # TRAIN


rows = []
train()  # MODULE
frame, count = rows[0]
for i in range(count):
    print("native", addresses[i] or 0)
# These functions have returned; where they stood is known by their lines all the same.
source = open(__file__).read().split("\n")
for function, mark in ((decode, "DECODE"), (load, "LOAD"), (train, "TRAIN"), (None, "MODULE")):
    code = function.__code__ if function else sys._getframe().f_code
    line = [i + 1 for i, text in enumerate(source) if text.endswith("# " + mark)][0]
    entry = minor <= 10 or mark in ("LOAD", "MODULE")
    table = code.co_linetable if hasattr(code, "co_linetable") else code.co_lnotab
    if hasattr(code, "co_lines"):
        offset = [begin for begin, end, at in code.co_lines() if at == line][0]
    else:
        import dis
        offset = [begin for begin, at in dis.findlinestarts(code) if at == line][0]
    print("python", minor, code.co_firstlineno, offset, int(entry), table.hex(), code.co_name, line)
print("maps")
print(open("/proc/self/maps").read())
