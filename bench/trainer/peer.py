#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The same training in Python: Qwen2.5-VL with LoRA on torch, written as such code usually is.

    peer.py MODEL_DIR CASE.safetensors [--steps 20] [--threads 2] [--rank 16] [--checkpoint]

Runs optimizer steps on the one stored batch of CASE (in/input_ids, in/attention_mask, in/labels,
in/pixel_values, in/image_grid_thw) and prints one JSON line: loss of the first and the last step,
tokens a second, peak of resident memory. Scores of attention are stored whole, logits are computed
at every position and layers keep what autograd keeps: what the C++ trainer is set against in
bench/trainer/compare.py. Weights and adapters in fp32, AdamW from torch.optim.
"""
import argparse
import json
import math
import pathlib
import resource
import struct
import time

import torch
import torch.nn.functional as F
from torch.utils.checkpoint import checkpoint

DTYPES = {"F32": torch.float32, "I64": torch.int64, "BF16": torch.bfloat16, "U8": torch.uint8,
          "F64": torch.float64, "I32": torch.int32, "BOOL": torch.bool}


def read_safetensors(path):
    data = pathlib.Path(path).read_bytes()
    (length,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8 : 8 + length])
    out = {}
    for name, entry in header.items():
        if name == "__metadata__":
            continue
        begin, end = entry["data_offsets"]
        raw = bytearray(data[8 + length + begin : 8 + length + end])
        out[name] = torch.frombuffer(raw, dtype=DTYPES[entry["dtype"]]).reshape(entry["shape"])
    return out


class Lora(torch.nn.Module):
    def __init__(self, weight, bias, rank):
        super().__init__()
        self.weight = torch.nn.Parameter(weight.float(), requires_grad=False)
        self.bias = None if bias is None else torch.nn.Parameter(bias.float(), requires_grad=False)
        bound = 1 / math.sqrt(weight.shape[1])
        self.a = torch.nn.Parameter(torch.empty(rank, weight.shape[1]).uniform_(-bound, bound))
        self.b = torch.nn.Parameter(torch.zeros(weight.shape[0], rank))
        self.scale = 1.0  # alpha = rank

    def forward(self, x):
        return F.linear(x, self.weight, self.bias) + F.linear(F.linear(x, self.a), self.b) * self.scale


def rms_norm(x, weight, eps):
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps) * weight


def rotate_half(x):
    half = x.shape[-1] // 2
    return torch.cat((-x[..., half:], x[..., :half]), -1)


class VisionBlock(torch.nn.Module):
    def __init__(self, weights, prefix, config, rank):
        super().__init__()
        self.heads = config["num_heads"]
        get = lambda name: weights[prefix + name]
        self.norm1, self.norm2 = get("norm1.weight").float(), get("norm2.weight").float()
        lora = lambda name: Lora(get(name + ".weight"), get(name + ".bias"), rank)
        self.qkv, self.proj = lora("attn.qkv"), lora("attn.proj")
        self.gate, self.up, self.down = lora("mlp.gate_proj"), lora("mlp.up_proj"), lora("mlp.down_proj")

    def forward(self, x, cos, sin, mask):
        n = x.shape[0]
        q, k, v = self.qkv(rms_norm(x, self.norm1, 1e-6)).view(n, 3, self.heads, -1).unbind(1)
        q = q * cos + rotate_half(q) * sin
        k = k * cos + rotate_half(k) * sin
        scores = torch.einsum("qhd,khd->hqk", q, k) / math.sqrt(q.shape[-1]) + mask
        x = x + self.proj(torch.einsum("hqk,khd->qhd", scores.softmax(-1), v).reshape(n, -1))
        y = rms_norm(x, self.norm2, 1e-6)
        return x + self.down(F.silu(self.gate(y)) * self.up(y))


class TextLayer(torch.nn.Module):
    def __init__(self, weights, prefix, config, rank):
        super().__init__()
        self.heads, self.kv = config["num_attention_heads"], config["num_key_value_heads"]
        self.eps = config["rms_norm_eps"]
        get = lambda name: weights.get(prefix + name)
        self.norm1 = get("input_layernorm.weight").float()
        self.norm2 = get("post_attention_layernorm.weight").float()
        lora = lambda name: Lora(get(name + ".weight"), get(name + ".bias"), rank)
        self.q, self.k, self.v = (lora(f"self_attn.{n}_proj") for n in "qkv")
        self.o = lora("self_attn.o_proj")
        self.gate, self.up, self.down = (lora(f"mlp.{n}_proj") for n in ("gate", "up", "down"))

    def forward(self, x, cos, sin, mask):
        rows, length, _ = x.shape
        y = rms_norm(x, self.norm1, self.eps)
        split = lambda t, heads: t.view(rows, length, heads, -1).transpose(1, 2)
        q, k, v = split(self.q(y), self.heads), split(self.k(y), self.kv), split(self.v(y), self.kv)
        q = q * cos + rotate_half(q) * sin
        k = k * cos + rotate_half(k) * sin
        k = k.repeat_interleave(self.heads // self.kv, 1)
        v = v.repeat_interleave(self.heads // self.kv, 1)
        scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1]) + mask
        x = x + self.o((scores.softmax(-1) @ v).transpose(1, 2).reshape(rows, length, -1))
        y = rms_norm(x, self.norm2, self.eps)
        return x + self.down(F.silu(self.gate(y)) * self.up(y))


class Model(torch.nn.Module):
    def __init__(self, directory, rank, checkpoints):
        super().__init__()
        config = json.loads((pathlib.Path(directory) / "config.json").read_text())
        self.config, self.vision = {**config, **config.get("text_config", {})}, config["vision_config"]
        weights = {rename(k): v for k, v in read_safetensors(pathlib.Path(directory) / "model.safetensors").items()}
        self.checkpoints = checkpoints
        self.patch = weights["visual.patch_embed.proj.weight"].float().flatten(1)
        self.blocks = torch.nn.ModuleList(
            VisionBlock(weights, f"visual.blocks.{i}.", self.vision, rank) for i in range(self.vision["depth"]))
        self.merger = [weights[f"visual.merger.{n}"].float() for n in
                       ("ln_q.weight", "mlp.0.weight", "mlp.0.bias", "mlp.2.weight", "mlp.2.bias")]
        self.embed = weights["model.embed_tokens.weight"].float()
        self.layers = torch.nn.ModuleList(
            TextLayer(weights, f"model.layers.{i}.", self.config, rank)
            for i in range(self.config["num_hidden_layers"]))
        self.norm = weights["model.norm.weight"].float()
        self.head = weights.get("lm_head.weight", self.embed).float()

    def run(self, layer, x, *rest):
        return checkpoint(layer, x, *rest) if self.checkpoints else layer(x, *rest)

    def see(self, pixels, grids):
        merge = self.vision["spatial_merge_size"]
        cells = self.vision["window_size"] // merge // self.vision["patch_size"]
        x = pixels @ self.patch.t()
        order, windows, frames, spots = [], [], [], []
        base = tokens = 0
        for t, h, w in grids.tolist():
            rows = torch.arange(h).view(h // merge, 1, merge, 1).expand(-1, w // merge, -1, merge)
            columns = torch.arange(w).view(1, w // merge, 1, merge).expand(h // merge, -1, merge, -1)
            spots.append(torch.stack((rows.reshape(-1), columns.reshape(-1)), -1).repeat(t, 1))
            index = torch.arange(t * (h // merge) * (w // merge)).view(t, h // merge, w // merge) + tokens
            for frame in range(t):
                for r in range(0, h // merge, cells):
                    for c in range(0, w // merge, cells):
                        piece = index[frame, r : r + cells, c : c + cells].reshape(-1)
                        order.append(piece)
                        windows += [len(windows) and windows[-1] + 1 or 0] * (piece.numel() * merge * merge)
                frames += [base + frame] * (h * w)
            base += t
            tokens += t * (h // merge) * (w // merge)
        order = torch.cat(order)
        unit = merge * merge
        x = x.view(-1, unit, x.shape[-1])[order].reshape(x.shape)
        size = x.shape[-1] // self.vision["num_heads"] // 2
        inverse = 1.0 / 10000 ** (torch.arange(0, size, 2).float() / size)
        angles = (torch.cat(spots).unsqueeze(-1) * inverse).flatten(1)
        angles = angles.view(-1, unit, size)[order].reshape(-1, size)
        angles = torch.cat((angles, angles), -1).unsqueeze(1)
        cos, sin = angles.cos(), angles.sin()
        near = mask_of(torch.tensor(windows))
        whole = mask_of(torch.tensor(frames).view(-1, unit)[order].reshape(-1))
        x.requires_grad_(True)
        for i, block in enumerate(self.blocks):
            x = self.run(block, x, cos, sin, whole if i in self.vision["fullatt_block_indexes"] else near)
        norm, w0, b0, w2, b2 = self.merger
        x = rms_norm(x, norm, 1e-6).view(-1, unit * x.shape[-1])
        return F.linear(F.gelu(F.linear(x, w0, b0)), w2, b2)[order.argsort()]

    def forward(self, case):
        ids, labels = case["in/input_ids"], case["in/labels"]
        x = self.embed[ids]
        if "in/pixel_values" in case:
            seen = self.see(case["in/pixel_values"], case["in/image_grid_thw"])
            x = x.masked_scatter((ids == self.config["image_token_id"]).unsqueeze(-1), seen)
        size = x.shape[-1] // self.config["num_attention_heads"]
        inverse = 1.0 / self.config["rope_theta"] ** (torch.arange(0, size, 2).float() / size)
        angles = case["position_ids"].float().unsqueeze(-1) * inverse
        angles = torch.cat((angles, angles), -1)
        sections = self.config["rope_scaling"]["mrope_section"] * 2
        pieces = [part[i % 3] for i, part in enumerate(angles.split(sections, -1))]
        angles = torch.cat(pieces, -1).unsqueeze(1)
        length = ids.shape[1]
        mask = torch.full((length, length), float("-inf")).triu(1)
        padding = (case["in/attention_mask"] == 0)[:, None, None, :]
        mask = mask[None, None].expand(ids.shape[0], 1, -1, -1).masked_fill(padding, -1e30)
        x.requires_grad_(True) if x.is_leaf else None
        for layer in self.layers:
            x = self.run(layer, x, angles.cos(), angles.sin(), mask)
        logits = F.linear(rms_norm(x, self.norm, self.config["rms_norm_eps"]), self.head)
        return F.cross_entropy(logits[:, :-1].reshape(-1, logits.shape[-1]), labels[:, 1:].reshape(-1), ignore_index=-100)


def mask_of(groups):
    return torch.where(groups[:, None] == groups[None, :], 0.0, float("-inf"))


def rename(name):
    return name.replace("model.language_model.", "model.").replace("model.visual.", "visual.")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("case")
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rank", type=int, default=16)
    parser.add_argument("--checkpoint", action="store_true")
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    torch.manual_seed(42)
    case = read_safetensors(arguments.case)
    case = {k: v for k, v in case.items() if k.startswith("in/") or k == "position_ids"}
    model = Model(arguments.model, arguments.rank, arguments.checkpoint)
    trained = [p for p in model.parameters() if p.requires_grad]
    optimizer = torch.optim.AdamW(trained, lr=1e-3, weight_decay=0.01)
    losses, seconds = [], []
    for _ in range(arguments.steps):
        begin = time.perf_counter()
        loss = model(case)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(trained, 1.0)
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.item())
        seconds.append(time.perf_counter() - begin)
    tokens = int(case["in/attention_mask"].sum())
    # The first step warms up.
    rest = sorted(seconds[1:] or seconds)
    print(json.dumps({"first_loss": losses[0], "last_loss": losses[-1],
                      "tokens_per_second": tokens / rest[len(rest) // 2],
                      "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6}))


if __name__ == "__main__":
    main()
