#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Computes the gradients of the reference cases with a plain Qwen2.5-VL in Python's torch.

The cases in qwen25vl-tiny come from the model class of transformers, but as they were handed over,
g/* of images and video were a copy of those of text (the gradient of every vision weight zero, that
of tokens that do not occur not). This script is a second, independent model: nothing but torch
operations and automatic differentiation. It first shows that it is the same model (activations,
logits and loss of all cases, and the gradients of text, within 1e-5 of what is stored), then
writes g/* of images and video anew.

    /usr/bin/python3 remake_gradients.py qwen25vl-tiny          # compare only
    /usr/bin/python3 remake_gradients.py qwen25vl-tiny --write
"""
import json
import struct
import sys

import torch
import torch.nn.functional as F

TYPES = {"F32": torch.float32, "F64": torch.float64, "I64": torch.int64}


def load(path):
    data = open(path, "rb").read()
    size = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8 : 8 + size])
    header.pop("__metadata__", None)
    out = {}
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        raw = bytearray(data[8 + size + begin : 8 + size + end])
        out[name] = torch.frombuffer(raw, dtype=TYPES[entry["dtype"]]).reshape(entry["shape"])
    return out


def save(path, replaced):
    """Writes tensors over those of the same name and shape; nothing else of the file changes."""
    data = bytearray(open(path, "rb").read())
    size = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8 : 8 + size])
    for name, tensor in replaced.items():
        begin, end = header[name]["data_offsets"]
        data[8 + size + begin : 8 + size + end] = tensor.contiguous().numpy().tobytes()
    open(path, "wb").write(data)


def norm(x, weight):
    return weight * (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6))


def turned(x, angles):
    half = x.shape[-1] // 2
    both = torch.cat([angles, angles], -1)
    return x * both.cos() + torch.cat([-x[..., half:], x[..., :half]], -1) * both.sin()


def linear(w, name, x):
    return F.linear(x, w[name + ".weight"], w.get(name + ".bias"))


def mlp(w, name, x):
    inner = F.silu(linear(w, name + "gate_proj", x)) * linear(w, name + "up_proj", x)
    return linear(w, name + "down_proj", inner)


def windows(config, grids):
    """Order of the merged blocks, and for each block its window and its frame."""
    merge = config["spatial_merge_size"]
    side = config["window_size"] // merge // config["patch_size"]
    blocks, first = [], 0
    for number, (frames, height, width) in enumerate(grids):
        rows, columns = height // merge, width // merge
        for frame in range(frames):
            for row in range(rows):
                for column in range(columns):
                    window = (number, frame, row // side, column // side)
                    blocks.append((window, first + (frame * rows + row) * columns + column))
        first += frames * rows * columns
    blocks.sort()
    return [b for _, b in blocks], [w for w, _ in blocks], [w[:2] for w, _ in blocks]


def vision(w, config, pixels, grids, act):
    merge, heads = config["spatial_merge_size"], config["num_heads"]
    unit, width = merge * merge, config["hidden_size"]
    size = width // heads
    x = pixels @ w["model.visual.patch_embed.proj.weight"].flatten(1).T
    act["model.visual.patch_embed"] = x
    places = []
    for frames, height, columns in grids:
        frame = [(a + i, b + j) for a in range(0, height, merge) for b in range(0, columns, merge)
                 for i in range(merge) for j in range(merge)]
        places += frame * frames
    places = torch.tensor(places, dtype=torch.float32)
    frequencies = 1.0 / 10000 ** (torch.arange(0, size // 2, 2).float() / (size // 2))
    angles = (places[:, :, None] * frequencies).flatten(1)
    order, window, frame = windows(config, grids)
    order_patches = torch.tensor([b * unit + i for b in order for i in range(unit)])
    x, angles = x[order_patches], angles[order_patches][:, None]
    for layer in range(config["depth"]):
        name = f"model.visual.blocks.{layer}."
        keys = frame if layer in config["fullatt_block_indexes"] else window
        keys = torch.tensor([sorted(set(keys)).index(k) for k in keys]).repeat_interleave(unit)
        qkv = linear(w, name + "attn.qkv", norm(x, w[name + "norm1.weight"]))
        q, k, v = qkv.view(-1, 3, heads, size).unbind(1)
        q, k = turned(q, angles), turned(k, angles)
        scores = torch.einsum("ihd,jhd->hij", q, k) * size**-0.5
        scores = scores.masked_fill(keys[:, None] != keys[None, :], float("-inf"))
        mixed = torch.einsum("hij,jhd->ihd", scores.softmax(-1), v).reshape(-1, width)
        x = x + linear(w, name + "attn.proj", mixed)
        x = x + mlp(w, name + "mlp.", norm(x, w[name + "norm2.weight"]))
        act[f"model.visual.blocks.{layer}"] = x
    x = norm(x, w["model.visual.merger.ln_q.weight"]).reshape(-1, unit * width)
    x = linear(w, "model.visual.merger.mlp.2", F.gelu(linear(w, "model.visual.merger.mlp.0", x)))
    act["model.visual.merger"] = x
    return x[torch.argsort(torch.tensor(order))]


def text(w, config, x, positions, mask, act):
    heads, kv_heads = config["num_attention_heads"], config["num_key_value_heads"]
    size = config["hidden_size"] // heads
    frequencies = 1.0 / config["rope_theta"] ** (torch.arange(0, size, 2).float() / size)
    axes = [a for a, n in enumerate(config["rope_scaling"]["mrope_section"]) for _ in range(n)]
    angles = (positions.float().permute(1, 2, 0)[..., axes] * frequencies)[:, :, None]
    rows, columns = mask.shape
    seen = torch.ones(columns, columns).tril().bool() & mask.bool()[:, None, None, :]
    for layer in range(config["num_hidden_layers"]):
        name = f"model.language_model.layers.{layer}."
        h = norm(x, w[name + "input_layernorm.weight"])
        q, k, v = (linear(w, f"{name}self_attn.{n}_proj", h).view(rows, columns, -1, size)
                   for n in "qkv")
        q, k = turned(q, angles), turned(k, angles)
        k, v = (t.repeat_interleave(heads // kv_heads, 2) for t in (k, v))
        scores = torch.einsum("bihd,bjhd->bhij", q, k) * size**-0.5
        scores = scores.masked_fill(~seen, torch.finfo(torch.float32).min)
        mixed = torch.einsum("bhij,bjhd->bihd", scores.softmax(-1), v).flatten(2)
        x = x + linear(w, name + "self_attn.o_proj", mixed)
        x = x + mlp(w, name + "mlp.", norm(x, w[name + "post_attention_layernorm.weight"]))
        act[f"model.language_model.layers.{layer}"] = x
    return norm(x, w["model.language_model.norm.weight"]) @ w["lm_head.weight"].T


def run(w, config, case):
    act = {}
    ids = case["in/input_ids"]
    x = w["model.language_model.embed_tokens.weight"][ids]
    for kind, suffix in (("image", ""), ("video", "_videos")):
        if f"in/pixel_values{suffix}" in case:
            grids = case[f"in/{kind}_grid_thw"].tolist()
            seen = vision(w, config["vision_config"], case[f"in/pixel_values{suffix}"], grids, act)
            at = (ids == config[f"{kind}_token_id"]).unsqueeze(-1).expand_as(x)
            x = x.masked_scatter(at, seen)
    mask = case["in/attention_mask"]
    logits = text(w, config["text_config"], x, case["position_ids"], mask, act)
    loss = F.cross_entropy(logits[:, :-1].flatten(0, 1), case["in/labels"][:, 1:].flatten())
    return loss, logits, act


def off(ours, stored):
    return ((ours - stored).norm() / stored.norm().clamp_min(1e-30)).item()


def main():
    directory = sys.argv[1]
    config = json.load(open(f"{directory}/config.json"))
    for name in ("text", "images", "video"):
        case = load(f"{directory}/{name}.safetensors")
        w = {k: v.requires_grad_() for k, v in load(f"{directory}/model.safetensors").items()}
        loss, logits, act = run(w, config, case)
        loss.backward()
        grads = {f"g/{k}": torch.zeros_like(v) if v.grad is None else v.grad for k, v in w.items()}
        valid = case["in/attention_mask"].bool()
        worst_act = max(off(v[valid] if v.dim() == 3 else v,
                            case["act/" + k][valid] if v.dim() == 3 else case["act/" + k])
                        for k, v in act.items())
        worst_grad = max((g - case[k]).norm().item() / max(case[k].norm().item(), 1e-6)
                         for k, g in grads.items())
        print(f"{name}: loss {loss.item():.8f} stored {case['loss'].item():.8f}, logits "
              f"{off(logits[valid], case['logits'][valid]):.1e}, activations {worst_act:.1e}, "
              f"gradients {worst_grad:.1e}")
        assert worst_act < 1e-5 and off(logits[valid], case["logits"][valid]) < 1e-5
        if name == "text":
            assert worst_grad < 1e-5
        elif "--write" in sys.argv:
            save(f"{directory}/{name}.safetensors", grads)


if __name__ == "__main__":
    main()
