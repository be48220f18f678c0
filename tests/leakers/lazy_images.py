# SPDX-License-Identifier: Apache-2.0
"""A list of lazily opened JPEG images, each of which stays decoded once it was used.

Image.open reads the header only; the first access decodes, and the pixels then belong to the object
in the list. 600 images of 256 x 256: some KiB encoded, 192 KiB decoded.
Steps are not sent; they are read from the lines that are printed, in the manner of a trainer that
says its number of examples and its batch size first.
Cause: per-example-cache. Signal: anonymous memory rises by 0.8 MiB a step until step 150, where the
first epoch ends, then is level.
Verdict: plateau. Needs python3-pil.
"""

import io

from PIL import Image

import leaker


def encoded_image(number):
    """Colour ramps that differ by number: cheap to make and to decode."""
    ramp = Image.linear_gradient("L")
    turned = ramp.rotate(number * 7 % 360)
    flipped = ramp.transpose(Image.Transpose.ROTATE_90)
    image = Image.merge("RGB", (ramp, turned, flipped))
    file = io.BytesIO()
    image.save(file, "JPEG", quality=50)
    return file


def main():
    args = leaker.arguments(__doc__)
    examples = args.epoch_steps * args.batch
    print("***** Running training *****")
    print(f"  Num examples = {examples}")
    print(f"  Total train batch size = {args.batch}")
    print(f"  Total optimization steps = {args.steps}", flush=True)
    dataset = [Image.open(encoded_image(number)) for number in range(examples)]
    loop = leaker.Loop(args, quiet=True)
    for step in loop:
        brightness = 0
        for example in leaker.batch_of_step(args, step):
            brightness += dataset[example].getpixel((5, 5))[0]
        if step % 5 == 0:
            print(f"Step {step}/{args.steps}: loss {brightness / 1024:.4f}", flush=True)


if __name__ == "__main__":
    main()
