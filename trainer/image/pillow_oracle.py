#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes pictures and what Pillow makes of them, for pillow_test.cc.

    pillow_oracle.py decode|resize OUT

Records of OUT, numbers little-endian, 64 bits:
    decode: name, file; height, width; pixels            (name, file and pixels: length, bytes)
    resize: height, width, pixels; height, width, pixels (before, after)
Everything follows from a fixed seed; only the compressors' versions change the files.
"""
import io
import random
import struct
import sys
import warnings
import zlib

from PIL import Image

warnings.simplefilter("ignore")
RNG = random.Random(20240517)


def number(out, *values):
    out.write(struct.pack(f"<{len(values)}q", *values))


def blob(out, data):
    number(out, len(data))
    out.write(data)


def noise(mode, width, height):
    bands = len(Image.new(mode, (1, 1)).getbands())
    return Image.frombytes(mode, (width, height), RNG.randbytes(width * height * bands))


def smooth(mode, width, height):
    """Blobs of colour: what compressors are made for."""
    small = noise(mode, RNG.randint(2, 6), RNG.randint(2, 6))
    return small.resize((width, height), Image.Resampling.BICUBIC)


def some(mode, width, height):
    return (smooth if RNG.random() < 0.7 else noise)(mode, width, height)


def side():
    return RNG.choice([1, 2, 3, 7, 8, 9, 15, 16, 17, 28, 33, RNG.randint(1, 150)])


def saved(image, **options):
    out = io.BytesIO()
    image.save(out, **options)
    return out.getvalue()


def jpegs():
    for i in range(120):
        mode = RNG.choice(["RGB", "RGB", "RGB", "L", "CMYK"])
        options = {
            "quality": RNG.choice([1, 10, 50, 75, 90, 95, 100]),
            "progressive": RNG.random() < 0.4,
            "optimize": RNG.random() < 0.3,
        }
        if mode != "L":
            options["subsampling"] = RNG.choice(["4:4:4", "4:2:2", "4:2:0"])
        yield f"jpeg {i} {mode} {options}", saved(some(mode, side(), side()), format="JPEG", **options)


def webps():
    for i in range(80):
        mode = RNG.choice(["RGB", "RGBA"])
        options = {
            "quality": RNG.choice([1, 30, 80, 100]),
            "lossless": RNG.random() < 0.4,
            "exact": RNG.random() < 0.5,
            "method": RNG.choice([0, 3, 6]),
        }
        yield f"webp {i} {mode} {options}", saved(some(mode, side(), side()), format="WEBP", **options)


def chunk(kind, data):
    body = kind + data
    return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))


ADAM7 = [(0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2)]


def scanlines(samples, width, height, channels, depth, grid, filters):
    """Rows of one pass. Under a filter the bytes mean other samples, which are as good as any."""
    x0, y0, dx, dy = grid
    out = bytearray()
    for y in range(y0, height, dy):
        bits = []
        for x in range(x0, width, dx):
            at = (y * width + x) * channels
            bits += [format(value, f"0{depth}b") for value in samples[at:at + channels]]
        if not bits:
            continue
        joined = "".join(bits)
        joined += "0" * (-len(joined) % 8)
        out.append(RNG.choice(filters))
        out += int(joined, 2).to_bytes(len(joined) // 8, "big")
    return bytes(out)


def handmade_png(width, height, kind, depth, interlaced, transparent):
    """Every colour type and depth, which Pillow reads but does not write."""
    channels = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}[kind]
    top = 1 << depth
    if kind == 3:
        top = RNG.randint(1, min(top, 256))  # Colours in the palette.
    samples = [RNG.randrange(top) for _ in range(width * height * channels)]
    if depth == 16 and RNG.random() < 0.5:
        samples = [value % 300 for value in samples]  # Around the 255 where grey is cut.
    out = b"\x89PNG\r\n\x1a\n"
    out += chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, depth, kind, 0, 0, interlaced))
    out += chunk(b"gAMA", struct.pack(">I", 45455))
    if kind == 3:
        out += chunk(b"PLTE", RNG.randbytes(3 * top))
    if transparent and kind == 3:
        out += chunk(b"tRNS", RNG.randbytes(RNG.randint(1, top)))
    if transparent and kind in (0, 2):
        out += chunk(b"tRNS", b"".join(struct.pack(">H", value) for value in samples[:channels]))
    grids = ADAM7 if interlaced else [(0, 0, 1, 1)]
    filters = [0] if kind == 3 else [0, 1, 2, 3, 4]
    data = b"".join(scanlines(samples, width, height, channels, depth, g, filters) for g in grids)
    packed = zlib.compress(data, RNG.randint(0, 9))
    cut = RNG.randint(0, len(packed))
    return out + chunk(b"IDAT", packed[:cut]) + chunk(b"IDAT", packed[cut:]) + chunk(b"IEND", b"")


def pngs():
    kinds = [(0, d) for d in (1, 2, 4, 8, 16)] + [(3, d) for d in (1, 2, 4, 8)]
    kinds += [(kind, depth) for kind in (2, 4, 6) for depth in (8, 16)]
    for kind, depth in kinds:
        for interlaced in (0, 1):
            for transparent in (False, True):
                for i in range(3):
                    name = f"png type {kind} depth {depth} interlaced {interlaced} tRNS {transparent} {i}"
                    yield name, handmade_png(side(), side(), kind, depth, interlaced, transparent)
    for i in range(60):
        mode = RNG.choice(["1", "L", "LA", "P", "RGB", "RGBA"])
        image = some("RGBA" if mode in ("RGBA", "LA") else "RGB", side(), side()).convert(mode)
        yield f"png of Pillow {i} {mode}", saved(image, format="PNG", optimize=RNG.random() < 0.3)


def decode_cases(out):
    for make in (jpegs, webps, pngs):
        for name, data in make():
            image = Image.open(io.BytesIO(data)).convert("RGB")
            blob(out, name.encode())
            blob(out, data)
            number(out, image.height, image.width)
            blob(out, image.tobytes())


def resize_cases(out):
    sizes = [(1, 1, 28, 28), (28, 28, 1, 1), (640, 480, 28, 56), (56, 84, 56, 84), (56, 84, 56, 28)]
    sizes += [(84, 56, 28, 56), (2, 300, 56, 28), (500, 3, 28, 84), (1000, 10, 1, 700)]
    sizes += [tuple(RNG.randint(1, 200) for _ in range(4)) for _ in range(250)]
    for width, height, to_width, to_height in sizes:
        image = some("RGB", width, height)
        resized = image.resize((to_width, to_height), Image.Resampling.BICUBIC)
        for picture in (image, resized):
            number(out, picture.height, picture.width)
            blob(out, picture.tobytes())


if __name__ == "__main__":
    with open(sys.argv[2], "wb") as target:
        {"decode": decode_cases, "resize": resize_cases}[sys.argv[1]](target)
