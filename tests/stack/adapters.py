# SPDX-License-Identifier: Apache-2.0
"""Adapters go both ways between plateau-train and the peft of PyPI, whole, with the same logits and gradients."""

import json
import os
import pathlib
import shutil
import tempfile

import torch
from peft import LoraConfig, PeftModel, get_peft_model
from safetensors.torch import load_file
from vl import batch, check, load, saved_name, trainer, write_case

LANGUAGE = r"model\.language_model\.layers\.\d+\.(self_attn\.(q|v)_proj)"


def put_on(model, adapter):
    """The adapter on the model by PEFT; not one tensor may be left out by either side."""
    adapted = PeftModel.from_pretrained(model, adapter, is_trainable=True)
    result = adapted.load_adapter(adapter, "again")
    assert not result.unexpected_keys, f"{len(result.unexpected_keys)} keys dropped: {result.unexpected_keys[0]}"
    assert not [key for key in result.missing_keys if "lora_" in key], result.missing_keys
    adapted.delete_adapter("again")
    written = load_file(pathlib.Path(adapter, "adapter_model.safetensors"))
    own = {saved_name(name): value for name, value in adapted.named_parameters() if "lora_" in name}
    assert own.keys() == written.keys(), own.keys() ^ written.keys()
    for name, value in written.items():
        assert torch.equal(own[name].detach(), value), name
    return adapted


def ours_loads_there(options):
    """Trained here, with these options; the same in peft, in transformers' own loader, and merged."""
    trainer("train", "-m", "tiny/model", "-d", "tiny/train.jsonl", "-o", "out", "--threads", 1, "--load-in-32bit",
            "--batch-size", 2, "--gradient-accumulation-steps", 1, "--max-steps", 4, "--warmup-steps", 0,
            "--learning-rate", "2e-2", "--lora-r", 4, "-q", *options)
    plain = load("tiny/model")
    inputs = batch(plain.config)
    before = plain(**inputs).logits.detach()
    adapted = put_on(plain, "out/adapter")
    logits = write_case(adapted, inputs, "case.safetensors")
    assert (logits - before).abs().max() > 0.1, "the adapter does next to nothing"
    report = check("tiny/model", "case.safetensors", "--adapter", "out/adapter")
    assert report["gradients"] == len(load_file("out/adapter/adapter_model.safetensors")), report
    trainer("ask", "-m", "tiny/model", "-a", "out/adapter", "-d", "tiny/eval.jsonl", "--load-in-32bit", "--count", 1)
    models = {"merged": load("out/merged")}
    # transformers' own loader leaves out the lengths of DoRA, also those of adapters that peft wrote.
    if "--use-dora" not in options:
        models["transformers' own loader"] = load("tiny/model")
        models["transformers' own loader"].load_adapter("out/adapter")
    for name, model in models.items():
        difference = (model(**inputs).logits - logits).abs().max() / logits.abs().max()
        assert difference < 1e-5, f"{name}: logits differ by {difference:.1e}"
    return report


def theirs_loads_here(config, dtype=torch.float32):
    """Drawn and saved by peft; the same here by check, ask and merge."""
    torch.manual_seed(3)
    model = get_peft_model(load("tiny/model"), LoraConfig(**config))
    for name, parameter in model.named_parameters():
        if "lora_B" in name:
            torch.nn.init.normal_(parameter, std=0.1)
        if "lora_magnitude" in name:
            parameter.data *= 1 + 0.1 * torch.randn_like(parameter)
        if "lora_" in name:
            parameter.data = parameter.data.to(dtype)
    model.save_pretrained("theirs")
    saved = load_file("theirs/adapter_model.safetensors")
    assert {value.dtype for value in saved.values()} == {dtype}, "peft saved another type"
    model = model.float().eval()
    inputs = batch(model.config, seed=1)
    logits = write_case(model, inputs, "case.safetensors")
    report = check("tiny/model", "case.safetensors", "--adapter", "theirs")
    assert report["gradients"] == len(saved), report
    trainer("ask", "-m", "tiny/model", "-a", "theirs", "-d", "tiny/eval.jsonl", "--load-in-32bit", "--count", 1)
    trainer("merge", "-m", "tiny/model", "-a", "theirs", "-o", "merged-theirs")
    difference = (load("merged-theirs")(**inputs).logits - logits).abs().max() / logits.abs().max()
    assert difference < 1e-5, f"merged: logits differ by {difference:.1e}"
    return report


def refused(config, said):
    """What would be computed wrongly is one line, not a number."""
    model = get_peft_model(load("tiny/model"), LoraConfig(r=4, target_modules=["q_proj", "v_proj"], **config))
    model.save_pretrained("theirs")
    error = trainer("ask", "-m", "tiny/model", "-a", "theirs", "-d", "tiny/eval.jsonl", "--count", 1, code=2)
    assert said in error and error.count("\n") == 1, error


def main():
    trainer("init", "--preset", "tiny", "-o", "tiny", "--examples", 24, "--eval-examples", 2)
    everywhere = {"r": 4, "lora_alpha": 8, "target_modules": r".*\.(q|k|v|o|gate|up|down)_proj|.*\.blocks\.\d+\.attn\.(qkv|proj)"}
    cases = {
        "ours, everywhere": lambda: ours_loads_there([]),
        "ours, vision off": lambda: ours_loads_there(["--finetune-vision-layers", "false", "--use-rslora"]),
        "ours, q and v": lambda: ours_loads_there(["--target-modules", "q_proj,v_proj"]),
        "theirs, everywhere": lambda: theirs_loads_here(everywhere),
        "theirs, bf16": lambda: theirs_loads_here(everywhere, torch.bfloat16),
        "theirs, q and v": lambda: theirs_loads_here({"r": 8, "target_modules": ["q_proj", "v_proj"], "use_rslora": True}),
        "theirs, a pattern, two layers": lambda: theirs_loads_here(
            {"r": 2, "target_modules": LANGUAGE.replace(r"\d+", "[02]")}, torch.float16),
        "ours, DoRA": lambda: ours_loads_there(["--use-dora"]),
        "theirs, DoRA": lambda: theirs_loads_here({**everywhere, "use_dora": True}),
        "theirs, DoRA with rsLoRA on q and v": lambda: theirs_loads_here(
            {"r": 8, "target_modules": ["q_proj", "v_proj"], "use_rslora": True, "use_dora": True}),
        "theirs, with biases": lambda: refused({"lora_bias": True}, "lora_bias is not supported"),
        "theirs, modules saved whole": lambda: refused({"modules_to_save": ["embed_tokens"]}, "modules_to_save is not supported"),
        "theirs, trained tokens": lambda: refused({"trainable_token_indices": [1, 2]}, "trainable_token_indices is not supported"),
        "theirs, biases trained": lambda: refused({"bias": "all"}, "bias other than"),
        "theirs, ranks by module": lambda: refused({"rank_pattern": {"q_proj": 2}}, "rank_pattern is not supported"),
        "theirs, PiSSA": lambda: refused({"init_lora_weights": "pissa"}, "changed the base weights"),
    }
    for name, run in cases.items():
        for left in ("out", "theirs", "merged-theirs"):
            shutil.rmtree(left, ignore_errors=True)
        report = run()
        print(name, json.dumps(report) if report else "refused", flush=True)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        os.environ["XDG_CACHE_HOME"] = folder
        main()
