#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Planned against measured: what `plateau plan --for transformers --device cpu` says of a run, beside
the peak resident memory of that run.

    bench/plan_check.py build/release/plateau            # every configuration
    bench/plan_check.py build/release/plateau -k lora    # those whose name holds "lora"
    bench/plan_check.py --job full-llama                 # one run alone, as JSON (used by the above)

Each run is a process of its own: transformers.Trainer on the CPU, 2 steps, weights drawn at random and
saved first, so that they are loaded as a user's are. The peak is the kernel's VmHWM. With DataLoader
workers it is that of the tree, sampled every 20 ms: what each holds in its proportion, and files once,
because other programs may share those.

The configurations marked "tuned" were looked at while the constants of src/plan were chosen; the
others were kept aside and are the figures to quote. Needs torch, transformers and peft: run it with
the Python that `tools/stack.sh` prints.
"""
import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading
import time

# Sizes of models: what differs from the small defaults of SIZES["llama"].
SIZES = {
    "llama": dict(model_type="llama", hidden_size=512, intermediate_size=1536, num_hidden_layers=8,
                  num_attention_heads=8, num_key_value_heads=4, vocab_size=16000, tie_word_embeddings=False),
    "llama-wide": dict(model_type="llama", hidden_size=768, intermediate_size=2304, num_hidden_layers=12,
                       num_attention_heads=12, num_key_value_heads=4, vocab_size=32000, tie_word_embeddings=True),
    "qwen2": dict(model_type="qwen2", hidden_size=640, intermediate_size=1920, num_hidden_layers=10,
                  num_attention_heads=10, num_key_value_heads=2, vocab_size=50000, tie_word_embeddings=True),
    "qwen3": dict(model_type="qwen3", hidden_size=512, intermediate_size=1536, num_hidden_layers=12, head_dim=64,
                  num_attention_heads=8, num_key_value_heads=4, vocab_size=24000, tie_word_embeddings=True),
    "mistral": dict(model_type="mistral", hidden_size=768, intermediate_size=2048, num_hidden_layers=10,
                    num_attention_heads=12, num_key_value_heads=4, vocab_size=32000, sliding_window=None,
                    tie_word_embeddings=False),
    "gemma2": dict(model_type="gemma2", hidden_size=512, intermediate_size=2048, num_hidden_layers=8, head_dim=64,
                   num_attention_heads=8, num_key_value_heads=4, vocab_size=32000, query_pre_attn_scalar=64,
                   tie_word_embeddings=True),
    "gemma3": dict(model_type="gemma3_text", hidden_size=512, intermediate_size=2048, num_hidden_layers=8, head_dim=64,
                   num_attention_heads=8, num_key_value_heads=4, vocab_size=40000, query_pre_attn_scalar=64,
                   tie_word_embeddings=True),
}
# name: (model, options, tuned)
RUNS = {
    "full-llama": ("llama", dict(batch=4, tokens=512), True),
    "full-llama-checkpointing": ("llama", dict(batch=6, tokens=512, checkpointing=True), True),
    "full-llama-bf16": ("llama", dict(batch=2, tokens=128, dtype="bf16"), True),
    "lora-wide": ("llama-wide", dict(batch=3, tokens=384, lora=16, targets="all"), True),
    "lora-wide-attention": ("llama-wide", dict(batch=2, tokens=512, lora=16, targets="qv"), True),
    "lora-qwen2-bf16": ("qwen2", dict(batch=2, tokens=128, lora=16, targets="all", dtype="bf16"), True),
    "full-wide-eager": ("llama-wide", dict(batch=2, tokens=512, attention="eager"), True),
    "full-gemma2": ("gemma2", dict(batch=2, tokens=512, attention="eager"), True),
    "full-qwen2": ("qwen2", dict(batch=2, tokens=768), True),
    "full-qwen3-checkpointing": ("qwen3", dict(batch=3, tokens=640, checkpointing=True), True),
    "full-mistral-sgd": ("mistral", dict(batch=2, tokens=640, optimizer="sgd"), True),
    "full-mistral-adafactor": ("mistral", dict(batch=1, tokens=384, optimizer="adafactor"), True),
    "full-mistral-accumulate": ("mistral", dict(batch=2, tokens=384, accumulation=2), True),
    "full-qwen3-bf16": ("qwen3", dict(batch=2, tokens=192, dtype="bf16"), True),
    "lora-mistral-checkpointing": ("mistral", dict(batch=4, tokens=512, lora=8, targets="all", checkpointing=True), True),
    "lora-qwen3": ("qwen3", dict(batch=3, tokens=640, lora=32, targets="all"), True),
    "lora-mistral-bf16-qv": ("mistral", dict(batch=2, tokens=160, lora=16, targets="qv", dtype="bf16"), True),
    "full-gemma3": ("gemma3", dict(batch=2, tokens=384), True),
    "full-wide-workers": ("llama-wide", dict(batch=2, tokens=384, workers=2), True),
    # Kept aside.
    "aside-full-mistral-checkpointing": ("mistral", dict(batch=2, tokens=512, checkpointing=True), False),
    "aside-lora-llama-checkpointing": ("llama", dict(batch=4, tokens=384, lora=32, targets="all", checkpointing=True), False),
    "aside-lora-gemma2-qv": ("gemma2", dict(batch=2, tokens=384, lora=16, targets="qv", attention="eager"), False),
    "aside-full-qwen2-short": ("qwen2", dict(batch=4, tokens=256), False),
    "aside-full-llama-adafactor": ("llama", dict(batch=4, tokens=384, optimizer="adafactor"), False),
    "aside-full-wide-workers": ("llama-wide", dict(batch=1, tokens=512, workers=3), False),
    "aside-full-qwen3-accumulate": ("qwen3", dict(batch=1, tokens=512, accumulation=3), False),
    "aside-full-gemma3-sgd": ("gemma3", dict(batch=2, tokens=320, optimizer="sgd"), False),
    "aside-lora-qwen2": ("qwen2", dict(batch=2, tokens=448, lora=8, targets="all"), False),
    "aside-full-gemma3-bf16": ("gemma3", dict(batch=1, tokens=128, dtype="bf16"), False),
    "aside-lora-wide-workers": ("llama-wide", dict(batch=4, tokens=256, lora=16, targets="qv", workers=2), False),
    "aside-full-qwen2-checkpointing": ("qwen2", dict(batch=3, tokens=320, checkpointing=True), False),
    "aside-full-mistral-long": ("mistral", dict(batch=1, tokens=1280), False),
    "aside-lora-qwen3-checkpointing": ("qwen3", dict(batch=5, tokens=256, lora=16, targets="all", checkpointing=True), False),
}
TARGETS = {"all": ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"],
           "qv": ["q_proj", "v_proj"]}


def field(pid, name, file="status"):
    try:
        for line in open(f"/proc/{pid}/{file}"):
            if line.startswith(name + ":"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    return 0


def tree(pid):
    pids = [pid]
    for each in pids:
        try:
            for thread in os.listdir(f"/proc/{each}/task"):
                pids += [int(word) for word in open(f"/proc/{each}/task/{thread}/children").read().split()]
        except OSError:
            pass
    return pids


def draw_weights(directory, model, dtype):
    """Weights at random, saved as a user would have them."""
    code = ("import sys, json, torch, transformers\n"
            "size, dtype, out = json.loads(sys.argv[1]), sys.argv[2], sys.argv[3]\n"
            "config = transformers.AutoConfig.for_model(**size)\n"
            "torch.manual_seed(0)\n"
            "model = transformers.AutoModelForCausalLM.from_config(config, dtype=getattr(torch, dtype))\n"
            "model.save_pretrained(out)\n")
    name = {"fp32": "float32", "bf16": "bfloat16"}[dtype]
    subprocess.run([sys.executable, "-c", code, json.dumps(SIZES[model]), name, str(directory)], check=True,
                   stderr=subprocess.DEVNULL)


def job(name, directory):
    """One run; prints what it held as JSON."""
    model_name, given, _ = RUNS[name]
    import torch
    import transformers
    from transformers import Trainer, TrainingArguments
    if given.get("lora"):
        import peft
    torch.set_num_threads(2)
    told = {"baseline": field("self", "VmRSS")}
    transformers.logging.set_verbosity_error()
    dtype = {"fp32": torch.float32, "bf16": torch.bfloat16}[given.get("dtype", "fp32")]
    model = transformers.AutoModelForCausalLM.from_pretrained(
        directory, dtype=dtype, attn_implementation=given.get("attention", "sdpa"))
    model.config.use_cache = False
    told["loaded"] = field("self", "VmRSS")
    told["parameters"] = sum(p.numel() for p in model.parameters())
    if given.get("lora"):
        model = peft.get_peft_model(model, peft.LoraConfig(
            r=given["lora"], lora_alpha=32, lora_dropout=0.0, target_modules=TARGETS[given["targets"]],
            task_type="CAUSAL_LM"))
    told["trainable"] = sum(p.numel() for p in model.parameters() if p.requires_grad)
    vocabulary, tokens = SIZES[model_name]["vocab_size"], given["tokens"]

    class Rows(torch.utils.data.Dataset):
        def __len__(self):
            return 1000

        def __getitem__(self, at):
            ids = torch.randint(0, vocabulary, (tokens,), generator=torch.Generator().manual_seed(at))
            return {"input_ids": ids, "labels": ids.clone(), "attention_mask": torch.ones_like(ids)}

    with tempfile.TemporaryDirectory() as out:
        trainer = Trainer(model=model, train_dataset=Rows(), args=TrainingArguments(
            out, per_device_train_batch_size=given["batch"], gradient_accumulation_steps=given.get("accumulation", 1),
            max_steps=2, use_cpu=True, save_strategy="no", report_to="none", disable_tqdm=True, logging_steps=100,
            gradient_checkpointing=given.get("checkpointing", False), dataloader_pin_memory=False,
            dataloader_num_workers=given.get("workers", 0),
            optim={"adamw": "adamw_torch"}.get(given.get("optimizer", "adamw"), given.get("optimizer"))))
        trainer.train()
    told["peak"] = field("self", "VmHWM")
    told["anonymous"] = field("self", "RssAnon")
    print(json.dumps(told))


def measure(name, directory):
    """Runs the job; its own peak, or that of its tree where it has workers."""
    process = subprocess.Popen([sys.executable, __file__, "--job", name, "--model", str(directory)],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    together = [0]

    def follow():
        while process.poll() is None:
            pids = tree(process.pid)
            if len(pids) > 1:
                own = sum(field(pid, kind, "smaps_rollup") for pid in pids for kind in ("Pss_Anon", "Pss_Shmem"))
                together[0] = max(together[0], own + max(field(pid, "RssFile") for pid in pids))
            time.sleep(0.02)

    if RUNS[name][1].get("workers"):
        threading.Thread(target=follow, daemon=True).start()
    out, err = process.communicate()
    if process.returncode:
        sys.exit(f"{name}: {err.strip().splitlines()[-1]}")
    told = json.loads(out.strip().splitlines()[-1])
    if together[0]:
        told["peak"] = together[0]
    return told


def planned(plateau, name, directory):
    _, given, _ = RUNS[name]
    words = [plateau, "plan", str(directory), "--for", "transformers", "--device", "cpu", "--json",
             "--tokens", given["tokens"], "--batch", given["batch"], "--dtype", given.get("dtype", "fp32"),
             "--attention", given.get("attention", "sdpa"), "--optimizer", given.get("optimizer", "adamw"),
             "--accumulation", given.get("accumulation", 1), "--workers", given.get("workers", 0)]
    if given.get("lora"):
        words += ["--method", "lora", "--rank", given["lora"], "--targets", ",".join(TARGETS[given["targets"]])]
    words += ["--checkpointing", "on" if given.get("checkpointing") else "off"]
    told = subprocess.run([str(word) for word in words], capture_output=True, text=True)
    if told.returncode not in (0, 1):
        sys.exit(told.stderr)
    return json.loads(told.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("plateau", nargs="?")
    parser.add_argument("-k", default="", help="only names that hold this")
    parser.add_argument("--keep", help="a file for what was measured; read instead of measuring again")
    parser.add_argument("--job", help=argparse.SUPPRESS)
    parser.add_argument("--model", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.job:
        return job(given.job, given.model)
    kept = pathlib.Path(given.keep) if given.keep else None
    measured = json.loads(kept.read_text()) if kept and kept.exists() else {}
    print(f"{'run':<30}{'':>8}{'planned':>10}{'measured':>10}{'error':>8}   MB")
    worst = {True: 0.0, False: 0.0}
    for name, (model, options, tuned) in RUNS.items():
        if given.k not in name:
            continue
        directory = pathlib.Path(tempfile.mkdtemp(prefix="plan_check."))
        try:
            draw_weights(directory, model, options.get("dtype", "fp32"))
            if name not in measured:
                measured[name] = measure(name, directory)
                if kept:
                    kept.write_text(json.dumps(measured, indent=1))
            if not given.plateau:
                print(name, measured[name], flush=True)
                continue
            plan = planned(given.plateau, name, directory)
        finally:
            shutil.rmtree(directory)
        peak, said = measured[name]["peak"], plan["host"]["peak_bytes"]
        error = said / peak - 1
        worst[tuned] = max(worst[tuned], abs(error))
        assert plan["parameters"] == measured[name]["parameters"], (name, plan["parameters"])
        assert plan["trainable"] == measured[name]["trainable"], (name, plan["trainable"])
        print(f"{name:<30}{'tuned' if tuned else 'aside':>8}{said / 1e6:>10,.0f}{peak / 1e6:>10,.0f}{error:>+8.1%}",
              flush=True)
    if given.plateau:
        print(f"largest error: {worst[True]:.1%} of those tuned on, {worst[False]:.1%} of those kept aside")


if __name__ == "__main__":
    main()
