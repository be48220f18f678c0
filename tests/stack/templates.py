# SPDX-License-Identifier: Apache-2.0
"""Chat templates render here as in transformers; a model's own files are read, or refused in one line."""

import importlib.util
import json
import os
import pathlib
import random
import subprocess
import tempfile

from transformers.utils.chat_template_utils import render_jinja_template

TRAINER = os.environ["TRAINER"]
# The templates that TRL ships as their models publish them.
PUBLISHED = pathlib.Path(importlib.util.find_spec("trl").submodule_search_locations[0], "chat_templates")
# Corners of Jinja that templates lean on: loops that keep what they set to themselves, white space, slices, tests.
CORNERS = [
    "{%- set n = namespace(v=0) -%}\n  {% for m in messages %}\n    {% set n.v = n.v + 1 %}\n  {{ n.v }}:{{ loop.index0 }}"
    "{% if not loop.last %},{% endif %}\n{% endfor %}\n  {# gone #}\nend {{ n.v }}\n",
    "{% set x = 'out' %}{% for m in messages %}{% set x = m.role %}{{ x }} {% endfor %}{{ x }}",
    "{% for m in messages[1:] %}{{ m['content'] | trim }}|{% endfor %}{{ messages | length }} {{ messages[-1].role }}",
    "{{ 'a' if messages[0].role == 'system' else 'b' ~ 1 }}{{ missing is defined }}{{ missing }}{{ none is none }}"
    "{% if messages[0].content is string and 'x' not in messages[0].content %}\n  yes\n{% else %}\n  no\n{% endif %}\n",
    "{{- '\\n' }}  {%- if add_generation_prompt and true %}\t{{ \"it's\" }}{%- endif %}  \n\n",
]


def run(*arguments):
    return subprocess.run([TRAINER, *map(str, arguments)], capture_output=True, text=True, check=False)


def conversations(count):
    """Drawn ones: with and without a system message, text or parts, pictures anywhere, odd white space."""
    draw = random.Random(7)
    for _ in range(count):
        words = lambda: draw.choice(["Hi", " a\nb ", "\n", "x{{ y }}", "é 😀", "<|im_end|>", "'\"", ""])  # noqa: E731
        messages = [{"role": "system", "content": words()}] if draw.random() < 0.4 else []
        for turn in range(draw.randint(1, 4)):
            role = "assistant" if turn % 2 else "user"
            parts = [draw.choice([{"type": "text", "text": words()}, {"type": "image"}, {"type": "image", "image": "a"}])
                     for _ in range(draw.randint(1, 3))]
            messages.append({"role": role, "content": parts if draw.random() < 0.6 else words()})
        yield {"messages": messages, "add_generation_prompt": draw.random() < 0.5, "add_vision_id": draw.random() < 0.3}


def renders_alike():
    templates = {"qwen2_5_vl": (PUBLISHED / "qwen2_5_vl.jinja").read_text(),
                 "qwen2_5_vl_training": (PUBLISHED / "qwen2_5_vl_training.jinja").read_text()}
    templates.update({f"corner {i}": text for i, text in enumerate(CORNERS)})
    for name, source in templates.items():
        pathlib.Path("t.jinja").write_text(source)
        text_only = name.startswith("corner")
        seen = 0
        for case in conversations(120 if text_only else 12):
            if text_only and (seen == 5 or any(not isinstance(m["content"], str) for m in case["messages"])):
                continue  # Each of them starts the trainer, which takes half a second.
            more = {key: value for key, value in case.items() if key not in ("messages", "add_generation_prompt")}
            expected = render_jinja_template([case["messages"]], chat_template=source,
                                             add_generation_prompt=case["add_generation_prompt"], **more)[0][0]
            pathlib.Path("v.json").write_text(json.dumps(case))
            done = run("render", "--template", "t.jinja", "--values", "v.json")
            assert done.returncode == 0, f"{name}: {done.stderr}"
            assert done.stdout == expected, f"{name}: {case}\n{done.stdout!r}\n{expected!r}"
            seen += 1
        assert seen >= 5, f"{name}: only {seen} conversations"
        print(f"{name}: {seen} conversations alike", flush=True)


def unread_is_named():
    for source, said in (("{% macro x() %}{% endmacro %}", "{% macro %}"), ("{{ a|tojson }}", "|tojson"),
                         ("{{ messages.items() }}", ".items()"), ("a\n{% if x %}", "line 2")):
        pathlib.Path("t.jinja").write_text(source)
        pathlib.Path("v.json").write_text('{"messages": []}')
        done = run("render", "--template", "t.jinja", "--values", "v.json")
        assert done.returncode == 2 and said in done.stderr and done.stderr.count("\n") == 1, done.stderr


def the_models_files_are_read():
    done = run("init", "--preset", "tiny", "-o", "tiny", "--examples", 4, "--eval-examples", 2)
    assert done.returncode == 0, done.stderr
    model = pathlib.Path("tiny/model")
    ask = ("ask", "-m", model, "-d", "tiny/eval.jsonl", "--count", 1, "--load-in-32bit", "--max-new-tokens", 1)

    def refused(said, *more):
        done = run(*ask, *more)
        assert done.returncode == 2 and said in done.stderr and done.stderr.count("\n") == 1, done.stderr

    def taken(*more):
        done = run(*ask, *more)
        assert done.returncode == 0, done.stderr

    published = (PUBLISHED / "qwen2_5_vl.jinja").read_text()
    for name, text in (("chat_template.jinja", published), ("tokenizer_config.json", json.dumps({"chat_template": published})),
                       ("chat_template.json", json.dumps({"chat_template": published}))):
        (model / name).write_text(text)
        taken()
        (model / name).write_text(text.replace("You are a helpful assistant.", "You are kind."))
        refused(f"{name}: the chat template: from character ")
        taken("--chat-template", "builtin")
        (model / name).unlink()
    processor = model / "preprocessor_config.json"
    usual = {"min_pixels": 3136, "max_pixels": 12845056, "patch_size": 14, "temporal_patch_size": 2, "merge_size": 2,
             "image_mean": [0.48145466, 0.4578275, 0.40821073], "image_std": [0.26862954, 0.26130258, 0.27577711]}
    processor.write_text(json.dumps(usual))
    taken()
    for key, value in (("image_mean", [0.5, 0.5, 0.5]), ("patch_size", 16), ("resample", 2), ("do_normalize", False)):
        processor.write_text(json.dumps(dict(usual, **{key: value})))
        refused(f"preprocessor_config.json: {key} is ")
    # The limits are the model's: fewer patches, unless the user says another number.
    plan = ("plan", "-m", model, "-d", "tiny/train.jsonl", "--json")
    patches = lambda *more: json.loads(run(*plan, *more).stdout)["largest_example"]["patches"]  # noqa: E731
    processor.write_text(json.dumps(usual))
    assert patches() == 16
    for written in ({"max_pixels": 28 * 28 * 2}, {"size": {"shortest_edge": 28 * 28, "longest_edge": 28 * 28 * 2}}):
        kept = {key: value for key, value in usual.items() if not key.endswith("_pixels")}
        processor.write_text(json.dumps(dict(kept, min_pixels=28 * 28, **written) if "size" not in written else
                                        dict(kept, **written)))
        assert patches() < 16, patches()
        assert patches("--max-pixels", 100000) == 16


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        os.environ["XDG_CACHE_HOME"] = folder
        renders_alike()
        unread_is_named()
        the_models_files_are_read()
