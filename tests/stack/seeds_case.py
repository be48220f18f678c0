#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The case that Plateau began with, on the stack that people use, small enough for a test.

A dataset is a list of images that Pillow opens lazily: an image that was read once stays decoded, because
the list holds it. Qwen2.5-VL with drawn weights learns from it through PEFT's LoRA and the Trainer of
transformers, 663 examples, 2 per device step and 4 accumulated, as in the logs of corpus/model-garden.
There an image took 20 MB; here the side of a picture is an argument.

The job knows nothing of Plateau and prints no memory. What a processor does is done by hand, since no
tokenizer can be fetched: a picture becomes rows of patches as the model's own processor makes them.
"""
import argparse
import os
import tempfile

import torch
from peft import LoraConfig, get_peft_model
from PIL import Image
from torch.utils.data import Dataset
from transformers import Qwen2_5_VLConfig, Qwen2_5_VLForConditionalGeneration, Trainer, TrainingArguments

PATCH, MERGE, SIDE = 14, 2, 56  # A picture of 56 x 56 is 4 x 4 patches, merged into 4 tokens.
VOCABULARY, IMAGE_TOKEN, START, END = 64, 60, 61, 62


def tiny_model():
    torch.manual_seed(0)
    config = Qwen2_5_VLConfig(
        text_config=dict(
            vocab_size=VOCABULARY,
            hidden_size=32,
            intermediate_size=64,
            num_hidden_layers=2,
            num_attention_heads=2,
            num_key_value_heads=1,
            bos_token_id=0,
            eos_token_id=1,
            rope_parameters={"rope_type": "default", "rope_theta": 10000.0, "mrope_section": [2, 3, 3]},
        ),
        vision_config=dict(
            depth=2, hidden_size=32, intermediate_size=64, num_heads=2, out_hidden_size=32, fullatt_block_indexes=[1]
        ),
        image_token_id=IMAGE_TOKEN,
        vision_start_token_id=START,
        vision_end_token_id=END,
        video_token_id=63,
    )
    model = Qwen2_5_VLForConditionalGeneration(config)
    return get_peft_model(model, LoraConfig(r=4, target_modules=["q_proj", "v_proj"]))


def write_pictures(directory, count, side):
    """One file, and a link for each example: what is kept is decoded data, not files."""
    picture = os.path.join(directory, "picture.png")
    Image.linear_gradient("L").resize((side, side)).convert("RGB").save(picture)
    paths = [os.path.join(directory, "%04d.png" % i) for i in range(count)]
    for path in paths:
        os.link(picture, path)
    return paths


class Pictures(Dataset):
    """The fault: `Image.open` reads the header, the first use decodes, and the list keeps it."""

    def __init__(self, paths, keep):
        self.keep = keep
        self.paths = paths
        self.images = [Image.open(path) for path in paths] if keep else None

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, index):
        image = self.images[index] if self.keep else Image.open(self.paths[index])
        small = image.resize((SIDE, SIDE))
        pixels = torch.frombuffer(bytearray(small.tobytes()), dtype=torch.uint8).float() / 255
        return {"pixels": pixels.reshape(SIDE, SIDE, 3), "label": index % 32}


def patches_of(pixels):
    """(side, side, 3) -> rows of patches in the order of the merged blocks, each twice in time."""
    grid = SIDE // PATCH
    blocks = grid // MERGE
    cut = pixels.reshape(blocks, MERGE, PATCH, blocks, MERGE, PATCH, 3)
    rows = cut.permute(0, 3, 1, 4, 6, 2, 5).reshape(grid * grid, 3, 1, PATCH, PATCH)
    return rows.repeat(1, 1, 2, 1, 1).reshape(grid * grid, -1)


def collate(examples):
    tokens = (SIDE // PATCH // MERGE) ** 2
    grid = SIDE // PATCH
    rows = [[START] + [IMAGE_TOKEN] * tokens + [END, example["label"], example["label"]] for example in examples]
    ids = torch.tensor(rows)
    labels = ids.clone()
    labels[:, : tokens + 2] = -100
    return {
        "input_ids": ids,
        "attention_mask": torch.ones_like(ids),
        "mm_token_type_ids": (ids == IMAGE_TOKEN).int(),
        "labels": labels,
        "pixel_values": torch.cat([patches_of(example["pixels"]) for example in examples]),
        "image_grid_thw": torch.tensor([[1, grid, grid]] * len(examples)),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--examples", type=int, default=663)
    parser.add_argument("--side", type=int, default=512, help="of a picture in pixels; 4 bytes each once decoded")
    parser.add_argument("--epochs", type=float, default=1.6)
    parser.add_argument("--workers", type=int, default=0)
    parser.add_argument("--mended", action="store_true", help="open each picture when it is needed")
    options = parser.parse_args()
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as directory:
        data = Pictures(write_pictures(directory, options.examples, options.side), keep=not options.mended)
        arguments = TrainingArguments(
            output_dir=os.path.join(directory, "out"),
            per_device_train_batch_size=2,
            gradient_accumulation_steps=4,
            num_train_epochs=options.epochs,
            dataloader_num_workers=options.workers,
            remove_unused_columns=False,
            save_strategy="no",
            logging_steps=50,
            report_to=[],
            use_cpu=True,
            disable_tqdm=True,
        )
        Trainer(model=tiny_model(), args=arguments, train_dataset=data, data_collator=collate).train()


if __name__ == "__main__":
    main()
