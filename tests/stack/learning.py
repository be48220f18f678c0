# SPDX-License-Identifier: Apache-2.0
"""50 steps here and in transformers with peft, from one start, over the same examples in the same order.

In fp32, and in bf16 as transformers' Trainer computes it with bf16=True.

Everything but the start is computed twice: text by the published chat template and the tokenizers package, pixels by
Pillow and numpy, the order of examples by docs/formats/dataset.md, gradients and AdamW by torch, the learning rate by
transformers' scheduler. Losses must agree within 1e-4 in fp32, learning rates and gradient norms to their digits.
"""

import importlib.util
import json
import os
import pathlib
import tempfile

import numpy
import torch
from peft import PeftModel
from PIL import Image
from tokenizers import Tokenizer
from transformers import get_scheduler
from transformers.utils.chat_template_utils import render_jinja_template
from vl import batch, check, load, trainer, write_case

STEPS, WARMUP, ROWS, EXAMPLES, RATE = 50, 5, 4, 40, 2e-3
SCHEDULE = ("--max-steps", STEPS, "--warmup-ratio", WARMUP / STEPS, "--learning-rate", RATE)
MASK = (1 << 64) - 1
TEMPLATE = pathlib.Path(importlib.util.find_spec("trl").submodule_search_locations[0], "chat_templates",
                        "qwen2_5_vl.jinja").read_text()
MEAN = numpy.array([0.48145466, 0.4578275, 0.40821073], dtype=numpy.float32)
DEVIATION = numpy.array([0.26862954, 0.26130258, 0.27577711], dtype=numpy.float32)


class SplitMix64:
    """The generator of docs/formats/dataset.md."""

    def __init__(self, seed):
        self.state = seed & MASK

    def next(self):
        self.state = (self.state + 0x9E3779B97F4A7C15) & MASK
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        return z ^ (z >> 31)

    def below(self, bound):
        limit = MASK - (MASK % bound + 1) % bound
        while (value := self.next()) > limit:
            pass
        return value % bound


def epoch_order(count, seed, epoch):
    order = list(range(count))
    draw = SplitMix64(seed ^ SplitMix64(epoch).next())
    for i in range(count, 1, -1):
        other = draw.below(i)
        order[i - 1], order[other] = order[other], order[i - 1]
    return order


def patches(path, side=14, merge=2):
    """A picture whose sides are multiples of 28, which is not resized; each frame twice."""
    values = (numpy.asarray(Image.open(path).convert("RGB"), dtype=numpy.float32) / 255 - MEAN) / DEVIATION
    rows, columns = values.shape[0] // side, values.shape[1] // side
    cut = values.transpose(2, 0, 1).reshape(3, rows // merge, merge, side, columns // merge, merge, side)
    cut = cut.transpose(1, 4, 2, 5, 0, 3, 6).reshape(rows * columns, 3, 1, side * side)
    return torch.from_numpy(numpy.repeat(cut, 2, axis=2).reshape(rows * columns, -1).copy()), (1, rows, columns)


def encode(example, tokenizer, config):
    """Ids and labels: the answer's words and the end of its turn."""
    messages = [{"role": "user", "content": [{"type": "image"}, {"type": "text", "text": example["text"]}]},
                {"role": "assistant", "content": example["response"]}]
    whole = render_jinja_template([messages], chat_template=TEMPLATE)[0][0]
    head = render_jinja_template([messages[:1]], chat_template=TEMPLATE, add_generation_prompt=True)[0][0]
    pixels, grid = patches(pathlib.Path("tiny", example["image"]))
    ids, labels = [], []
    for token, (begin, _) in (lambda e: zip(e.ids, e.offsets))(tokenizer.encode(whole, add_special_tokens=False)):
        repeat = grid[1] * grid[2] // 4 if token == config.image_token_id else 1
        ids += repeat * [token]
        # The line end behind the end of the turn is not learned.
        labels += repeat * [token if len(head) <= begin < len(whole) - 1 else -100]
    return ids, labels, pixels, grid


def batch_of(rows, config):
    columns = max(len(row[0]) for row in rows)
    ids = torch.zeros(len(rows), columns, dtype=torch.long)
    mask, labels = torch.zeros_like(ids), torch.full_like(ids, -100)
    for i, (tokens, wanted, _, _) in enumerate(rows):
        ids[i, :len(tokens)], labels[i, :len(tokens)], mask[i, :len(tokens)] = torch.tensor(tokens), torch.tensor(wanted), 1
    return {"input_ids": ids, "attention_mask": mask, "labels": labels, "pixel_values": torch.cat([row[2] for row in rows]),
            "image_grid_thw": torch.tensor([row[3] for row in rows]),
            "mm_token_type_ids": (ids == config.image_token_id).int()}


def train_there(start, base=None, adamw=torch.optim.AdamW, rate=RATE, bf16=False):
    """Loss, learning rate and gradient norm of each step; `base` is the model, if not that of the files.

    Without a start, every weight of `base` is trained. With `bf16` it runs under autocast.
    """
    model = PeftModel.from_pretrained(base or load("tiny/model"), start, is_trainable=True).train() if start else base
    trained = [parameter for parameter in model.parameters() if parameter.requires_grad]
    # Vectors do not decay, here and there.
    groups = [{"params": [parameter for parameter in trained if parameter.dim() >= 2]},
              {"params": [parameter for parameter in trained if parameter.dim() < 2], "weight_decay": 0.0}]
    optimizer = adamw([group for group in groups if group["params"]], lr=rate, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01)
    scheduler = get_scheduler("cosine", optimizer, num_warmup_steps=WARMUP, num_training_steps=STEPS)
    tokenizer = Tokenizer.from_file("tiny/model/tokenizer.json")
    examples = [encode(json.loads(line), tokenizer, model.config) for line in open("tiny/train.jsonl", encoding="utf-8")]
    out, per_epoch = [], len(examples) // ROWS
    for step in range(STEPS):
        order = epoch_order(len(examples), 42, step // per_epoch)
        at = step % per_epoch * ROWS
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=bf16):
            loss = model(**batch_of([examples[i] for i in order[at:at + ROWS]], model.config)).loss
        loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(trained, 1.0)
        out.append({"loss": loss.item(), "learning_rate": scheduler.get_last_lr()[0], "grad_norm": norm.item()})
        optimizer.step()
        scheduler.step()
        optimizer.zero_grad()
    return out


def train_here(out, *options, storage="32bit", optim="adamw_torch"):
    trainer("train", "-m", "tiny/model", "-d", "tiny/train.jsonl", "-o", out, "--threads", 1, f"--load-in-{storage}",
            "--optim", optim, "--batch-size", ROWS, "--gradient-accumulation-steps", 1, "-q",
            *([] if "--full-finetuning" in options else ["--save-method", "lora"]), *options)
    entries = [json.loads(line) for line in open(pathlib.Path(out, "log.jsonl"), encoding="utf-8")]
    return [entry for entry in entries if "loss" in entry]


def make_start(out="start", *options):
    """A start with its weights: one step that changes nothing."""
    train_here(out, "--max-steps", 1, "--learning-rate", 0, "--weight-decay", 0, *options)


def largest_differences(ours, theirs):
    assert len(ours) == len(theirs) == STEPS, (len(ours), len(theirs))
    worst = {key: max(abs(a[key] - b[key]) for a, b in zip(ours, theirs)) for key in theirs[0]}
    print(f"loss {ours[0]['loss']:.4f} to {ours[-1]['loss']:.4f} over {STEPS} steps; largest differences {worst}")
    return worst


def curves_agree():
    make_start()
    ours = train_here("out", *SCHEDULE)
    worst = largest_differences(ours, train_there("start/adapter"))
    assert ours[-1]["loss"] < 0.7 * ours[0]["loss"], "next to nothing was learned"
    assert worst["loss"] <= 1e-4 and worst["learning_rate"] <= 1e-12 and worst["grad_norm"] <= 1e-3, worst


def dora_curves_agree():
    make_start("dora-start", "--use-dora")
    ours = train_here("dora", *SCHEDULE, "--use-dora")
    worst = largest_differences(ours, train_there("dora-start/adapter"))
    assert ours[-1]["loss"] < 0.7 * ours[0]["loss"], "next to nothing was learned"
    assert worst["loss"] <= 1e-4 and worst["grad_norm"] <= 1e-3, worst


def whole_curves_agree(frozen, rate=5e-4):
    """Every weight, or all but the vision tower's: losses, and the weights at the end as transformers loads them."""
    out = "whole-frozen" if frozen else "whole"
    options = ["--finetune-vision-layers", "false"] if frozen else []
    ours = train_here(out, *SCHEDULE[:-1], rate, "--full-finetuning", *options)
    base = load("tiny/model").requires_grad_(True).train()
    base.model.visual.requires_grad_(not frozen)
    worst = largest_differences(ours, train_there(None, base, rate=rate))
    assert ours[-1]["loss"] < 0.7 * ours[0]["loss"], "next to nothing was learned"
    assert worst["loss"] <= 1e-4 and worst["grad_norm"] <= 1e-3, worst
    written = load(f"{out}/model").state_dict()
    for name, value in base.state_dict().items():
        # Rounded where the model is stored in 16 bits.
        assert (written[name] - value).abs().max() <= 1e-2 * value.abs().max(), name
    tower = {name: value for name, value in load("tiny/model").state_dict().items() if ".visual." in name}
    same = all(torch.equal(written[name], value) for name, value in tower.items())
    assert same == frozen, "the vision tower"


def bf16_curves_agree():
    """The weights in bf16 and autocast, there and here; both against fp32, which shows what bf16 itself costs."""
    exact = train_here("fp32-of-bf16", *SCHEDULE, storage="16bit")
    ours = train_here("bf16", *SCHEDULE, "--compute-dtype", "bf16", storage="16bit")
    theirs = train_there("start/adapter", load("tiny/model").to(torch.bfloat16), bf16=True)
    apart = largest_differences(ours, theirs)["loss"]
    off_here, off_there = (max(abs(a["loss"] - b["loss"]) for a, b in zip(exact, other)) for other in (ours, theirs))
    print(f"from fp32 over the same weights: here {off_here:.2e}, there {off_there:.2e}")
    assert ours[-1]["loss"] < 0.7 * ours[0]["loss"], "next to nothing was learned"
    # bf16 keeps 8 bits of a number: one rounding of a loss of 7 is 0.03.
    assert 0 < apart <= 0.06 and off_here <= 1.5 * off_there, (apart, off_here, off_there)


def gradients_agree():
    """All weights, and a batch with pictures and padding: loss, logits, positions, every gradient."""
    model = load("tiny/model").requires_grad_(True)
    for seed in range(2):
        write_case(model, batch(model.config, seed), "case.safetensors")
        report = check("tiny/model", "case.safetensors")
        print(json.dumps(report))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        os.environ["XDG_CACHE_HOME"] = folder
        trainer("init", "--preset", "tiny", "-o", "tiny", "--examples", EXAMPLES, "--eval-examples", 2)
        gradients_agree()
        curves_agree()
        bf16_curves_agree()
        dora_curves_agree()
        whole_curves_agree(frozen=False)
        whole_curves_agree(frozen=True)
