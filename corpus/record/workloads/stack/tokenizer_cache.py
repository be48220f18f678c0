# SPDX-License-Identifier: Apache-2.0
"""A tokenizer behind functools.lru_cache: encodings of ever new texts.

mode=bounded: the cache has a size; from its first eviction on it cannot grow.
mode=unbounded (leak): maxsize=None.
"""
import functools

from stack_steps import StackJob
from tokenizers import Tokenizer, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast

# Of an encoding: id, type, mask, offsets, word and token text in Rust, three lists in Python.
BYTES_PER_TOKEN = 100

job = StackJob(mode="bounded", texts=8, words=120, size=600)


def word():
    """Returns a made-up word of a few syllables."""
    return "".join(job.random.choice("bdfgklmnprst") + job.random.choice("aeiou")
                   for _ in range(job.random.randrange(1, 5)))


def trained():
    """Returns a tokenizer trained on a few lines."""
    tokenizer = Tokenizer(models.BPE(unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    lines = [" ".join(word() for _ in range(50)) for _ in range(200)]
    tokenizer.train_from_iterator(lines, trainers.BpeTrainer(
        vocab_size=800, special_tokens=["[UNK]"], show_progress=False))
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, unk_token="[UNK]")


tokenizer = trained()


@functools.lru_cache(maxsize=job.size if job.mode == "bounded" else None)
def encoded(text):
    return tokenizer(text)


for step in job:
    for _ in range(job.texts):
        length = job.random.randrange(job.words // 4, job.words)
        ids = encoded(" ".join(word() for _ in range(length)))["input_ids"]
        if job.mode == "unbounded":
            job.leak(BYTES_PER_TOKEN * len(ids))
    if encoded.cache_info().currsize == job.size and job.mode == "bounded":
        job.growth_ends(step)
