#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""GPU memory as `plateau plan` says it, beside figures that others published.

    bench/plan_published.py build/release/plateau

Every row names its source. A "GB" is taken as 10^9 bytes, as the sources write it; where one reads
nvidia-smi, which counts in 2^30, its figure is 7 % more. No constant was chosen by these rows.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

LLAMA2_7B = dict(model_type="llama", hidden_size=4096, intermediate_size=11008, num_hidden_layers=32, num_attention_heads=32,
                 num_key_value_heads=32, vocab_size=32000, tie_word_embeddings=False, torch_dtype="float16")
LLAMA31_8B = dict(model_type="llama", hidden_size=4096, intermediate_size=14336, num_hidden_layers=32, num_attention_heads=32,
                  num_key_value_heads=8, vocab_size=128256, tie_word_embeddings=False, torch_dtype="bfloat16")
LLAMA32_3B = dict(LLAMA31_8B, hidden_size=3072, intermediate_size=8192, num_hidden_layers=28, num_attention_heads=24,
                  head_dim=128, tie_word_embeddings=True)
LLAMA3_70B = dict(LLAMA31_8B, hidden_size=8192, intermediate_size=28672, num_hidden_layers=80, num_attention_heads=64)
GEMMA2_9B = dict(model_type="gemma2", hidden_size=3584, intermediate_size=14336, num_hidden_layers=42, num_attention_heads=16,
                 num_key_value_heads=8, head_dim=256, vocab_size=256000, torch_dtype="bfloat16")
QWEN25_14B = dict(model_type="qwen2", hidden_size=5120, intermediate_size=13824, num_hidden_layers=48, num_attention_heads=40,
                  num_key_value_heads=8, vocab_size=152064, tie_word_embeddings=False, torch_dtype="bfloat16")
MISTRAL_7B = dict(model_type="mistral", hidden_size=4096, intermediate_size=14336, num_hidden_layers=32, num_attention_heads=32,
                  num_key_value_heads=8, vocab_size=32000, tie_word_embeddings=False, torch_dtype="bfloat16")

WIKI = "LLaMA-Factory wiki, Performance comparison"
WIKI_LORA = ["--method", "lora", "--rank", "8", "--batch", "4", "--accumulation", "2", "--tokens", "1024"]
WIKI_4BIT = ["--method", "qlora", "--rank", "8", "--accumulation", "4"]
UNSLOTH = "Unsloth, requirements"
SHORT = ["--rank", "16", "--batch", "1", "--tokens", "512", "--optimizer", "adamw_8bit"]

# (source, what, model, words, published GB)
ROWS = [
    (WIKI, "Llama 2 7B, LoRA, 4 x 1,024, FlashAttention 2", LLAMA2_7B, ["--for", "transformers", "--checkpointing", "on",
     "--attention", "flash", *WIKI_LORA], 17),
    (WIKI, "the same with Unsloth", LLAMA2_7B, ["--for", "unsloth", "--attention", "flash", *WIKI_LORA], 16),
]
for tokens, gb in ((1024, 6), (2048, 7), (4096, 9), (8192, 12), (16384, 19), (32768, 32)):
    ROWS.append((WIKI, f"Llama 2 7B, QLoRA, 1 x {tokens:,}, FlashAttention 2", LLAMA2_7B,
                 ["--for", "transformers", "--checkpointing", "on", "--attention", "flash", "--tokens", str(tokens), *WIKI_4BIT], gb))
for tokens, gb in ((1024, 5), (4096, 7), (16384, 10), (32768, 16), (65536, 25), (100000, 37)):
    ROWS.append((WIKI, f"the same with Unsloth, 1 x {tokens:,}", LLAMA2_7B,
                 ["--for", "unsloth", "--attention", "flash", "--tokens", str(tokens), *WIKI_4BIT], gb))
for name, model, four, sixteen in (("3B", LLAMA32_3B, 3.5, 8), ("7B", MISTRAL_7B, 5, 19), ("8B", LLAMA31_8B, 6, 22),
                                   ("9B", GEMMA2_9B, 6.5, 24), ("14B", QWEN25_14B, 8.5, 33), ("70B", LLAMA3_70B, 41, 164)):
    ROWS.append((UNSLOTH, f"{name}, QLoRA", model, ["--for", "unsloth", "--method", "qlora", *SHORT], four))
    ROWS.append((UNSLOTH, f"{name}, LoRA in 16 bits", model, ["--for", "unsloth", "--method", "lora", *SHORT], sixteen))
ROWS.append(("LongLoRA, table 12, as listed by odyn-network/benchmark-finetune-lora-v1",
             "Llama 2 7B, LoRA, 1 x 8,192, ZeRO 2 over 8 GPUs", LLAMA2_7B,
             ["--for", "transformers", "--method", "lora", "--targets", "q_proj,k_proj,v_proj,o_proj", "--rank", "8", "--checkpointing",
              "on", "--attention", "flash", "--tokens", "8192", "--accumulation", "8", "--ranks", "8", "--sharding", "zero2"], 25.7))


def main():
    plateau = sys.argv[1]
    print("| source | run | published | planned | error |\n|---|---|---|---|---|")
    errors = []
    for source, what, model, words, published in ROWS:
        with tempfile.TemporaryDirectory() as directory:
            config = pathlib.Path(directory, "config.json")
            config.write_text(json.dumps(model))
            told = subprocess.run([plateau, "plan", str(config), "--device", "cuda", "--json", *words], capture_output=True, text=True)
        if told.returncode:
            sys.exit(f"{what}: {told.stderr}")
        planned = json.loads(told.stdout)["gpu"]["peak_bytes"] / 1e9
        errors.append(planned / published - 1)
        print(f"| {source} | {what} | {published:g} GB | {planned:.1f} GB | {errors[-1]:+.0%} |")
    errors = sorted(abs(error) for error in errors)
    print(f"\n{len(errors)} rows: the error is {errors[len(errors) // 2]:.0%} in the middle and {errors[-1]:.0%} at most.")


if __name__ == "__main__":
    main()
