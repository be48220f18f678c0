# SPDX-License-Identifier: Apache-2.0
"""Evaluations of a language model of transformers with drawn weights, between training steps.

mode=generate: each evaluation generates from the same prompts; its key-value cache and scores are
alive when sampled and are dropped then. Bounded from the first evaluation on.
mode=kept (leak): the logits of every evaluation stay in a list: a staircase.
mode=metric (leak): a metric object is fed the logits of every few training steps; never reset.
"""
from stack_steps import StackJob
import torch
from transformers import GPT2Config, GPT2LMHeadModel, LlamaConfig, LlamaForCausalLM

from small_models import bytes_of, padded

job = StackJob(mode="generate", architecture="gpt2", vocabulary=1000, width=64, layers=2,
                      shortest=12, longest=64, eval_every=30, rows=12, prompt=120, new=12,
                      every_steps=1)
torch.manual_seed(job.seed)


def made():
    """Returns a causal language model of the architecture asked for."""
    if job.architecture == "gpt2":
        return GPT2LMHeadModel(GPT2Config(
            vocab_size=job.vocabulary, n_positions=512, n_embd=job.width, n_layer=job.layers,
            n_head=4, bos_token_id=1, eos_token_id=0, pad_token_id=0))
    return LlamaForCausalLM(LlamaConfig(
        vocab_size=job.vocabulary, hidden_size=job.width, intermediate_size=2 * job.width,
        num_hidden_layers=job.layers, num_attention_heads=4, num_key_value_heads=4,
        bos_token_id=1, eos_token_id=0, pad_token_id=0))


class Predictions:
    """A metric that concatenates at the end: until compute() it holds all it was given."""

    def __init__(self):
        self.logits, self.labels = [], []

    def update(self, logits, labels):
        self.logits.append(logits)
        self.labels.append(labels)


def evaluate(model):
    """Returns what one evaluation holds at its end."""
    model.eval()
    with torch.no_grad():
        if job.mode == "generate":
            held = model.generate(prompts, attention_mask=torch.ones_like(prompts), do_sample=True,
                                  min_new_tokens=job.new, max_new_tokens=job.new, use_cache=True,
                                  return_dict_in_generate=True, output_scores=True)
        else:
            held = model(prompts).logits
    model.train()
    return held


model, metric, outputs = made(), Predictions(), []
model.train()
optimizer = torch.optim.AdamW(model.parameters())
prompts = torch.randint(2, job.vocabulary, (job.rows, job.prompt))
for step in job:
    ids = padded(job, job.items(step))
    result = model(input_ids=ids, labels=ids)
    result.loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    if job.mode == "metric" and step % job.every_steps == 0:
        metric.update(result.logits.detach(), ids)
        job.leak(bytes_of([result.logits, ids]))
    del result
    if job.mode != "metric" and step % job.eval_every == 0:
        held = evaluate(model)
        if job.mode == "kept":
            outputs.append(held)
            job.leak(bytes_of([held]))
        else:
            job.growth_ends(step)
        job.hold(held, "eval")
        del held
