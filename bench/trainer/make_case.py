#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes a random Qwen2.5-VL of a chosen size and one batch for it, for bench/trainer/compare.py.

    make_case.py DIR [--hidden 512] [--layers 8] [--tokens 512] [--rows 1] [--grid 32] ...

DIR gets config.json, model.safetensors (fp32) and case.safetensors: rows of a picture of
grid x grid patches and text around it, the last --labelled tokens labelled.
"""
import argparse
import json
import math
import pathlib
import struct

import torch

START, END, IMAGE, VIDEO = 1, 2, 3, 4


def write_safetensors(path, tensors):
    names = {torch.float32: "F32", torch.int64: "I64"}
    header, offset = {}, 0
    for name, tensor in tensors.items():
        size = tensor.numel() * tensor.element_size()
        header[name] = {"dtype": names[tensor.dtype], "shape": list(tensor.shape), "data_offsets": [offset, offset + size]}
        offset += size
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for tensor in tensors.values():
            file.write(tensor.contiguous().numpy().tobytes())


def config_of(a):
    head = a.hidden // a.heads // 2
    sections = [head - 2 * (head * 3 // 8), head * 3 // 8, head * 3 // 8]
    return {
        "architectures": ["Qwen2_5_VLForConditionalGeneration"], "model_type": "qwen2_5_vl",
        "hidden_size": a.hidden, "intermediate_size": a.inner, "num_hidden_layers": a.layers,
        "num_attention_heads": a.heads, "num_key_value_heads": a.kv_heads, "vocab_size": a.vocab,
        "tie_word_embeddings": True, "rms_norm_eps": 1e-6, "rope_theta": 1000000.0, "hidden_act": "silu",
        "rope_scaling": {"type": "mrope", "mrope_section": sections}, "max_position_embeddings": 128000,
        "bos_token_id": 0, "eos_token_id": 5, "vision_start_token_id": START, "vision_end_token_id": END,
        "image_token_id": IMAGE, "video_token_id": VIDEO,
        "vision_config": {
            "depth": a.vision_layers, "hidden_size": a.vision_hidden, "intermediate_size": a.vision_inner,
            "num_heads": a.vision_heads, "in_chans": 3, "patch_size": 14, "temporal_patch_size": 2,
            "spatial_merge_size": 2, "window_size": 112, "out_hidden_size": a.hidden, "hidden_act": "silu",
            "fullatt_block_indexes": list(range(3, a.vision_layers, 4)), "tokens_per_second": 2,
        },
    }


def weights_of(c):
    v, h, f = c["vision_config"], c["hidden_size"], c["intermediate_size"]
    d, g = v["hidden_size"], v["intermediate_size"]
    kv = h // c["num_attention_heads"] * c["num_key_value_heads"]
    draw = lambda *shape: torch.randn(*shape) / math.sqrt(math.prod(shape[1:]))
    out = {"model.embed_tokens.weight": draw(c["vocab_size"], h), "model.norm.weight": torch.ones(h),
           "visual.patch_embed.proj.weight": draw(d, 3, 2, 14, 14), "visual.merger.ln_q.weight": torch.ones(d),
           "visual.merger.mlp.0.weight": draw(4 * d, 4 * d), "visual.merger.mlp.0.bias": torch.zeros(4 * d),
           "visual.merger.mlp.2.weight": draw(h, 4 * d), "visual.merger.mlp.2.bias": torch.zeros(h)}
    for i in range(c["num_hidden_layers"]):
        p = f"model.layers.{i}."
        out[p + "input_layernorm.weight"] = torch.ones(h)
        out[p + "post_attention_layernorm.weight"] = torch.ones(h)
        for name, rows in (("q", h), ("k", kv), ("v", kv)):
            out[p + f"self_attn.{name}_proj.weight"] = draw(rows, h)
            out[p + f"self_attn.{name}_proj.bias"] = torch.zeros(rows)
        out[p + "self_attn.o_proj.weight"] = draw(h, h)
        out[p + "mlp.gate_proj.weight"], out[p + "mlp.up_proj.weight"] = draw(f, h), draw(f, h)
        out[p + "mlp.down_proj.weight"] = draw(h, f)
    for i in range(v["depth"]):
        p = f"visual.blocks.{i}."
        out[p + "norm1.weight"], out[p + "norm2.weight"] = torch.ones(d), torch.ones(d)
        for name, rows, columns in (("attn.qkv", 3 * d, d), ("attn.proj", d, d), ("mlp.gate_proj", g, d),
                                    ("mlp.up_proj", g, d), ("mlp.down_proj", d, g)):
            out[p + name + ".weight"], out[p + name + ".bias"] = draw(rows, columns), torch.zeros(rows)
    return out


def case_of(c, a):
    merged = a.grid // 2
    seen = merged * merged
    text = a.tokens - seen - 2
    if text < a.labelled + 8:
        raise SystemExit(f"--tokens {a.tokens} leaves no room beside {seen} tokens of the picture")
    row = [6] * 4 + [START] + [IMAGE] * seen + [END] + torch.randint(6, c["vocab_size"], (text - 4,)).tolist()
    place = torch.arange(merged)
    before, after = 5, a.tokens - 5 - seen
    axes = [torch.zeros(seen, dtype=torch.int64), place.repeat_interleave(merged), place.repeat(merged)]
    positions = [torch.cat((torch.arange(before), axis + before, torch.arange(after) + before + merged)) for axis in axes]
    ids = torch.tensor([row] * a.rows)
    labels = torch.full_like(ids, -100)
    labels[:, -a.labelled :] = ids[:, -a.labelled :]
    return {"in/input_ids": ids, "in/attention_mask": torch.ones_like(ids), "in/labels": labels,
            "in/pixel_values": torch.randn(a.rows * a.grid * a.grid, 588).view(-1, 3, 1, 196).repeat(1, 1, 2, 1).reshape(-1, 1176),
            "in/image_grid_thw": torch.tensor([[1, a.grid, a.grid]] * a.rows),
            "position_ids": torch.stack(positions)[:, None, :].repeat(1, a.rows, 1)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", type=pathlib.Path)
    for name, default in (("hidden", 512), ("inner", 1408), ("layers", 8), ("heads", 8), ("kv-heads", 2),
                          ("vocab", 32000), ("vision-hidden", 320), ("vision-inner", 864), ("vision-layers", 8),
                          ("vision-heads", 4), ("tokens", 640), ("labelled", 64), ("rows", 1), ("grid", 32)):
        parser.add_argument("--" + name, type=int, default=default)
    a = parser.parse_args()
    torch.manual_seed(7)
    a.directory.mkdir(parents=True, exist_ok=True)
    config = config_of(a)
    (a.directory / "config.json").write_text(json.dumps(config, indent=2) + "\n")
    write_safetensors(a.directory / "model.safetensors", weights_of(config))
    write_safetensors(a.directory / "case.safetensors", case_of(config, a))


if __name__ == "__main__":
    main()
