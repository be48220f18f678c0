#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""One training step of transformers with peft: what bench/trainer/compare.py sets the trainer against.

    beside_peft.py MODEL_DIR CASE.safetensors [--steps 5] [--threads 2] [--rank 16] [--checkpoint] [--bf16]

The model of transformers with scaled-dot-product attention and LoRA of peft on the same layers, AdamW of torch, on the
one stored batch of CASE (make_case.py). With --bf16 the weights are bf16 and it runs under autocast, as the Trainer does
with bf16=True. Prints one JSON line: losses, CPU seconds of a step and before the first, tokens a second, peak memory.
"""
import argparse
import json
import resource
import statistics
import time

import torch
from peft import LoraConfig, get_peft_model
from safetensors.torch import load_file
from transformers import Qwen2_5_VLConfig, Qwen2_5_VLForConditionalGeneration
from transformers.utils import logging

TARGETS = r".*(\.(q|k|v|o|gate|up|down)_proj|\.attn\.(qkv|proj))"


def model_of(a):
    kind = torch.bfloat16 if a.bf16 else torch.float32
    model, loading = Qwen2_5_VLForConditionalGeneration.from_pretrained(
        a.model, dtype=kind, attn_implementation="sdpa", output_loading_info=True)
    assert not any(loading.values()), loading
    model = get_peft_model(model, LoraConfig(r=a.rank, lora_alpha=a.rank, target_modules=TARGETS))
    if a.checkpoint:
        model.enable_input_require_grads()
        model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": True})
    return model.train()


def inputs_of(path, config):
    case = load_file(path)
    inputs = {name[3:]: value for name, value in case.items() if name.startswith("in/")}
    inputs["mm_token_type_ids"] = (inputs["input_ids"] == config.image_token_id).int()
    return inputs


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("case")
    parser.add_argument("--steps", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rank", type=int, default=16)
    parser.add_argument("--checkpoint", action="store_true")
    parser.add_argument("--bf16", action="store_true")
    a = parser.parse_args()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    torch.set_num_threads(a.threads)
    model = model_of(a)
    inputs = inputs_of(a.case, model.config)
    trained = [parameter for parameter in model.parameters() if parameter.requires_grad]
    optimizer = torch.optim.AdamW(trained, lr=1e-3, weight_decay=0.01)
    start = time.process_time()
    losses, cpu, wall = [], [], []
    for _ in range(a.steps):
        begin, begin_cpu = time.perf_counter(), time.process_time()
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=a.bf16):
            loss = model(**inputs, use_cache=False).loss
        loss.backward()
        torch.nn.utils.clip_grad_norm_(trained, 1.0)
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.item())
        cpu.append(time.process_time() - begin_cpu)
        wall.append(time.perf_counter() - begin)
    tokens = int(inputs["attention_mask"].sum())
    print(json.dumps({"first_loss": losses[0], "last_loss": losses[-1],
                      "tokens_per_second": tokens / statistics.median(wall[1:] or wall),
                      "step_cpu_seconds": statistics.median(cpu[1:] or cpu), "start_cpu_seconds": start,
                      "trained": sum(parameter.numel() for parameter in trained),
                      "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6}))


if __name__ == "__main__":
    main()
