# SPDX-License-Identifier: Apache-2.0
"""NF4 weights and 8-bit AdamW beside the bitsandbytes of PyPI, over the 50 steps of tests/stack/learning.py.

    python -m pip install --no-deps --target bnb bitsandbytes==0.50.2
    PYTHONPATH=bnb TRAINER=build/release/plateau-train $(tools/stack.sh) -B bench/trainer/beside_bitsandbytes.py

(with the python of tools/stack.sh for both). No test of its own, because bitsandbytes is not among the packages of
tools/stack.txt. Packed weights and their scales must be equal to the byte: trainer/testdata/quant_vectors.py, which the tests of
trainer/quant hold the C++ to, is compared with bitsandbytes on every weight. Codes of nested scales and of optimizer states
need not be: the CPU kernels of bitsandbytes do not always take the nearest code. Ends with an error if a curve is more than 1e-3 apart.
"""

import os
import pathlib
import sys
import tempfile

os.environ["TRAINER"] = str(pathlib.Path(os.environ["TRAINER"]).resolve())
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / "stack"), str(ROOT / "trainer" / "testdata"), os.path.abspath("bnb")]

import bitsandbytes  # noqa: E402
import learning  # noqa: E402
import quant_vectors  # noqa: E402
import torch  # noqa: E402
from bitsandbytes.functional import dequantize_4bit, quantize_4bit  # noqa: E402
from vl import load, trainer  # noqa: E402


def in_nf4():
    """The linear layers of both towers through NF4 and back; embedding, merger and patches rounded to bf16."""
    model = load("tiny/model")
    for name, weight in model.named_parameters():
        if weight.dim() < 2:
            continue
        if ".blocks." in name or ".layers." in name:
            packed, state = quantize_4bit(weight.data, blocksize=64, quant_type="nf4", compress_statistics=True)
            weight.data = dequantize_4bit(packed, state).to(torch.float32)
        else:
            weight.data = weight.data.to(torch.bfloat16).to(torch.float32)
    return model


def bytes_alike():
    """How many packed bytes, scales and nested codes differ, of how many."""
    differ, of = [0, 0, 0], [0, 0, 0]
    for name, weight in load("tiny/model").named_parameters():
        if weight.dim() != 2 or not (".blocks." in name or ".layers." in name):
            continue
        packed, state = quantize_4bit(weight.data, blocksize=64, quant_type="nf4", compress_statistics=False)
        _, nested = quantize_4bit(weight.data, blocksize=64, quant_type="nf4", compress_statistics=True)
        own, scales = quant_vectors.q4(weight.data.numpy().reshape(-1))
        codes, _ = quant_vectors.q8((scales - nested.offset.numpy()).astype("float32"), quant_vectors.S)
        pairs = ((own, packed.numpy().reshape(-1)), (scales, state.absmax.numpy()), (codes, nested.absmax.numpy()))
        for i, (a, b) in enumerate(pairs):
            differ[i] += int((a != b).sum())
            of[i] += len(a)
    print("differ: {} of {} packed bytes, {} of {} scales, {} of {} nested codes".format(
        *(value for pair in zip(differ, of) for value in pair)))
    assert differ[:2] == [0, 0], differ


def main():
    print(f"bitsandbytes {bitsandbytes.__version__}, torch {torch.__version__}")
    trainer("init", "--preset", "tiny", "-o", "tiny", "--examples", learning.EXAMPLES, "--eval-examples", 2)
    learning.make_start()
    bytes_alike()
    worst = {}
    for name, storage, optim in (("NF4 weights", "4bit", "adamw_torch"), ("8-bit AdamW", "32bit", "adamw_8bit")):
        ours = learning.train_here(name, *learning.SCHEDULE, storage=storage, optim=optim)
        theirs = learning.train_there("start/adapter", base=in_nf4() if storage == "4bit" else None,
                                      adamw=bitsandbytes.optim.AdamW8bit if optim == "adamw_8bit" else torch.optim.AdamW)
        print(name, end=": ")
        worst[name] = learning.largest_differences(ours, theirs)["loss"]
        print(f"  first step {abs(ours[0]['loss'] - theirs[0]['loss']):.1e}, tenth {abs(ours[9]['loss'] - theirs[9]['loss']):.1e}")
    assert max(worst.values()) <= 1e-3, worst


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        os.environ["XDG_CACHE_HOME"] = folder
        main()
