# SPDX-License-Identifier: Apache-2.0
"""Kinds of traces whose parameters are drawn: one file per area in this folder, found by itself.

    drawn("cache_ttl", "plateau", "bounded-cache", "loops/caches.py", "why the label holds",
          family="ttl", number=8, entry_kb=span(4, 60), mode="ttl",
          given=lambda draw: {"life_steps": round(draw.end_share() * draw.steps)})

A range is `span(low, high)` (log-uniform; whole if both ends are), `one_of(a, b, ...)` or a plain
value; None is not passed on to the workload. `given` is called last, with all that was drawn so
far as attributes, and returns what depends on it. Each trace draws from a generator seeded with its
name, so the catalogue is the same at each run, and a new kind changes no other.

The split is by mechanism: a hash of the family chooses fit, calibrate or test. A leak and its
bounded twin made by the same code share a family, so no mechanism is in two of the folders.
"""
import hashlib
import importlib
import math
import pkgutil
import random

GLIBC, ONE_ARENA = "glibc", "MALLOC_ARENA_MAX=1"
JEMALLOC, TCMALLOC, MIMALLOC = "libjemalloc.so.2", "libtcmalloc_minimal.so.4", "libmimalloc.so.2.0"

DRAWN = []
SALT = "plateau"  # of the split
FIT_SHARE, CALIBRATE_SHARE = 0.40, 0.25  # the rest is for the test
SAMPLES = 25, 300  # per trace, fewest and most
LONGEST_EVERY = 20
BOUNDED_MB, LEAK_MB = (3.0, 400.0), (10.0, 200.0)
SMALL_LEAK_SHARE, SMALL_LEAK_MB = 0.15, (3.0, 10.0)
WAVERING_SHARE = 0.3  # of the Python traces: memory follows an AR(1) process on top
ENDED_SHARE = 0.8  # of the bounded traces: growth ends within them


# --- ranges --------------------------------------------------------------------------------------

def span(low, high):
    """A number between low and high, log-uniformly; whole if both are."""
    def draw_from(rng):
        value = math.exp(rng.uniform(math.log(low), math.log(high)))
        return round(value) if isinstance(low, int) and isinstance(high, int) else round(value, 4)
    return draw_from


def one_of(*choices):
    """One of the values, all alike."""
    return lambda rng: rng.choice(choices)


def weighted(weights):
    """One of the keys of a dict, by weight."""
    return lambda rng: rng.choices(list(weights), list(weights.values()))[0]


ALLOCATORS = {GLIBC: 4, ONE_ARENA: 1, JEMALLOC: 1, TCMALLOC: 1, MIMALLOC: 1}


class Draw:
    """The parameters of one trace while they are drawn; what was drawn is read as attributes."""

    def __init__(self, name):
        digest = hashlib.sha256(name.encode()).digest()
        self.random = random.Random(int.from_bytes(digest, "big"))

    def take(self, key, value):
        """Draws a value for a key from a range (or takes the plain value) and keeps it."""
        setattr(self, key, value(self.random) if callable(value) else value)

    def span(self, low, high):
        return span(low, high)(self.random)

    def one_of(self, *choices):
        return one_of(*choices)(self.random)

    def grown_mb(self, low=BOUNDED_MB[0], high=BOUNDED_MB[1]):
        """How much a bounded mechanism adds in all."""
        return self.span(low, high)

    def leaked_mb(self, low=LEAK_MB[0], high=LEAK_MB[1]):
        """How much a leak adds over the run: mostly plenty, sometimes little."""
        small = self.random.random() < SMALL_LEAK_SHARE
        return self.span(*SMALL_LEAK_MB) if small else self.span(low, high)

    def end_share(self):
        """At which share of the run bounded growth ends; above 1 it does not end within it."""
        ends = self.random.random() < ENDED_SHARE
        return self.random.uniform(0.15, 0.85) if ends else self.random.uniform(1.1, 2.5)

    def end_step(self):
        return max(2, round(self.end_share() * self.steps))


# --- what `given` usually returns ---------------------------------------------------------------

def count_of(draw, each):
    """Returns how many parts a step makes: a number, or the name of what was drawn."""
    return getattr(draw, each) if isinstance(each, str) else each


def fills(end_key, kb_key, each=1, in_parts=False, high=BOUNDED_MB[1]):
    """Growth of a drawn size that ends at a drawn step; a part is so large that it comes out. With
    in_parts the end is given as a number of parts."""
    def given(draw):
        end, count = draw.end_step(), count_of(draw, each)
        part_kb = draw.grown_mb(high=high) * 1024 / end / count
        return {end_key: end * count if in_parts else end, kb_key: round(part_kb, 3)}
    return given


def leaks(kb_key, each=1, **more):
    """A leak of a drawn size over the run, in parts; more: further values, drawn too."""
    def given(draw):
        part_kb = draw.leaked_mb() * 1024 / draw.steps / count_of(draw, each)
        return {kb_key: round(part_kb, 3)} | {k: v(draw) for k, v in more.items()}
    return given


# --- kinds ---------------------------------------------------------------------------------------

def split_of(family):
    """Returns the folder of a mechanism."""
    digest = hashlib.sha256(f"{SALT}:{family}".encode()).digest()
    place = int.from_bytes(digest[:8], "big") / 2**64
    if place < FIT_SHARE:
        return "fit"
    return "calibrate" if place < FIT_SHARE + CALIBRATE_SHARE else "test"


def every_of(draw):
    """Draws how many steps lie between samples: such that these are not too few nor too many."""
    fewest = max(1, math.ceil(draw.steps / SAMPLES[1]))
    most = max(fewest, min(LONGEST_EVERY, draw.steps // SAMPLES[0]))
    return draw.span(fewest, most)


def draw_run(name, server, runtime, level, ranges, given):
    """Draws one trace: the run's own values first, in fixed order, then those of the kind."""
    draw, ranges = Draw(name), dict(ranges)
    draw.take("steps", ranges.pop("steps", span(120, 600)))
    draw.take("every", ranges.pop("every", every_of(draw)))
    epochs = None if server else span(max(2, round(draw.steps / 12)), round(draw.steps / 1.3))
    draw.take("epoch_steps", ranges.pop("epoch_steps", epochs))
    draw.take("batch", ranges.pop("batch", None if server else one_of(4, 8, 16)))
    draw.take("allocator", ranges.pop("allocator", GLIBC if server else weighted(ALLOCATORS)))
    draw.take("onset_step", ranges.pop("onset_step", None))
    draw.take("options", ranges.pop("options", ""))
    values = {"pace_ms": 2}
    if level:
        values |= {"model_mb": span(8, 350), "noise_mb": span(0.5, 10.0)}
    if level and runtime == "python" and draw.random.random() < WAVERING_SHARE:
        values |= {"waver_mb": span(0.3, 6.0), "phi": one_of(0.5, 0.8, 0.9, 0.95, 0.98)}
    values |= ranges
    for key, value in values.items():
        draw.take(key, value)
    parameters = {key: getattr(draw, key) for key in values}
    run = {key: getattr(draw, key) for key in
           ("steps", "every", "epoch_steps", "batch", "allocator", "onset_step", "options")}
    for key, value in (given(draw) if given else {}).items():
        (run if key in run else parameters)[key] = value
    return run | {"parameters": {k: v for k, v in parameters.items() if v is not None}}


def drawn(name, label, cause, workload, note, *, family, number=14, first=1, server=False,
          runtime="python", level=None, folder=None, given=None, **ranges):
    """Adds `number` traces of a kind, numbered from `first`; the number is also the seed.

    `runtime` is python, cc, node, java, perl, ruby, lua, php, or venv (a Python with torch and the
    like). `level` says whether the workload takes model_mb and noise_mb, which all do but drivers
    of servers and venv. `options` (a range) are options of the runtime itself. A kind of which the
    older folders have traces already names folder="fit".
    """
    if level is None:
        level = not server and runtime != "venv"
    for index in range(first, first + number):
        run = draw_run(f"{name}-{index}", server, runtime, level, ranges, given)
        run["parameters"].setdefault("seed", index)
        DRAWN.append(run | {"name": f"{name}-{index}", "kind": name, "label": label,
                            "cause": cause, "workload": workload, "note": note, "server": server,
                            "runtime": runtime, "family": family,
                            "folder": folder or split_of(family)})


def all_drawn():
    """Imports every area and returns the traces of all."""
    for area in sorted(module.name for module in pkgutil.iter_modules(__path__)):
        importlib.import_module(f"{__name__}.{area}")
    names = [trace["name"] for trace in DRAWN]
    twice = {name for name in names if names.count(name) > 1}
    if twice:
        raise ValueError(f"two kinds share a name: {sorted(twice)}")
    return DRAWN
