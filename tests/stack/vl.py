# SPDX-License-Identifier: Apache-2.0
"""Tiny Qwen2.5-VL models of transformers beside plateau-train's: batches, and reference cases made of them."""

import json
import os
import subprocess

import torch
from safetensors.torch import save_file
from transformers import Qwen2_5_VLForConditionalGeneration
from transformers.utils import logging

TRAINER = os.environ["TRAINER"]
# As tests/train/train_lib.sh: tests run side by side.
os.environ.update(OMP_NUM_THREADS="1")
torch.set_num_threads(1)
logging.set_verbosity_error()
logging.disable_progress_bar()


def trainer(*arguments, code=0):
    """Runs plateau-train; its standard output. Any other exit code is a failure of the test."""
    done = subprocess.run([TRAINER, *map(str, arguments)], capture_output=True, text=True, check=False)
    assert done.returncode == code, f"{arguments}: exit {done.returncode}, not {code}\n{done.stdout}{done.stderr}"
    return done.stdout if code == 0 else done.stderr


def load(directory):
    """The model of a directory in transformers, every weight of it found and none left over."""
    model, loading = Qwen2_5_VLForConditionalGeneration.from_pretrained(
        directory, dtype=torch.float32, attn_implementation="eager", output_loading_info=True)
    assert not any(loading.values()), loading
    return model.eval()


def batch(config, seed=0):
    """Two rows, the second padded at the right, each with a picture; labels on the last tokens of each."""
    draw = torch.Generator().manual_seed(seed)
    grids = torch.tensor([[1, 4, 4], [1, 4, 6]])
    vision = config.vision_config
    values = 3 * vision.temporal_patch_size * vision.patch_size**2
    rows = []
    for grid in grids.tolist():
        text = torch.randint(5, 300, (12,), generator=draw).tolist()
        pictured = grid[0] * grid[1] * grid[2] // vision.spatial_merge_size**2
        rows.append(text[:3] + [config.vision_start_token_id] + pictured * [config.image_token_id] +
                    [config.vision_end_token_id] + text[3:])
    columns = max(map(len, rows)) + 2
    ids = torch.zeros(2, columns, dtype=torch.long)
    mask, labels = torch.zeros_like(ids), torch.full_like(ids, -100)
    for i, row in enumerate(rows):
        ids[i, :len(row)], mask[i, :len(row)] = torch.tensor(row), 1
        labels[i, len(row) - 6:len(row)] = torch.tensor(row[-6:])
    frame = torch.randn(int(grids.prod(1).sum()), 3, 1, vision.patch_size**2, generator=draw)
    pixels = frame.expand(-1, -1, vision.temporal_patch_size, -1).reshape(-1, values).contiguous()
    return {"input_ids": ids, "attention_mask": mask, "labels": labels, "pixel_values": pixels,
            "image_grid_thw": grids, "mm_token_type_ids": (ids == config.image_token_id).int()}


def positions(model, inputs):
    """Three axes of positions; 1 where a row is padded, which no result depends on."""
    inner = model.get_base_model().model if hasattr(model, "get_base_model") else model.model
    ids = inner.get_rope_index(inputs["input_ids"], mm_token_type_ids=inputs["mm_token_type_ids"],
                               image_grid_thw=inputs["image_grid_thw"], attention_mask=inputs["attention_mask"])[0]
    return torch.where(inputs["attention_mask"].bool(), ids, 1)


def saved_name(name):
    """As peft writes a parameter into its file: without the adapter's name, and lengths of rows without .weight."""
    return name.replace(".default.", ".").replace(".lora_magnitude_vector.weight", ".lora_magnitude_vector")


def write_case(model, inputs, path):
    """Everything that transformers makes of a batch, as docs/formats/reference-case.md has it; the logits."""
    model.zero_grad()
    out = model(**inputs)
    out.loss.backward()
    case = {f"in/{name}": value.contiguous() for name, value in inputs.items() if name != "mm_token_type_ids"}
    case.update(logits=out.logits.detach(), loss=out.loss.detach().reshape(1), position_ids=positions(model, inputs))
    for name, parameter in model.named_parameters():
        if parameter.requires_grad:
            gradient = parameter.grad if parameter.grad is not None else torch.zeros_like(parameter)
            case[f"g/{saved_name(name)}"] = gradient.float().contiguous()
    save_file({name: value.contiguous() for name, value in case.items()}, path)
    return out.logits.detach()


def check(model, case, *more):
    """plateau-train's own comparison: loss and logits within 1e-5, gradients within 1e-4, positions equal."""
    return json.loads(trainer("check", "--model", model, "--case", case, *more))
