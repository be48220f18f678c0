# SPDX-License-Identifier: Apache-2.0
"""Tells Plateau how far a training loop is, so that memory is judged per step and not per second.

Under `plateau run -- python train.py` (or any watcher that sets PLATEAU_SOCKET) this module sends
short text lines to the watcher. Without a watcher every call is a cheap no-op, so the calls may
stay in the code for good. One file, standard library only: install it or copy it beside train.py.

A plain loop:

    import plateau
    p = plateau.start(total_steps=250, examples=663, batch=8)
    for step, batch in enumerate(loader, 1):
        train(batch)
        p.on_step_end(step)             # or p.step(), which counts for itself
        if step % 50 == 0:
            with p.evaluate():
                evaluate()
            with p.save():
                save_checkpoint()
    p.close()

The same around an iterable:   for batch in plateau.steps(loader, batch=8): train(batch)
Hugging Face:                  Trainer(..., callbacks=[plateau.TrainerCallback()])
Lightning:                     Trainer(..., callbacks=[plateau.LightningCallback()])

Every 10 steps it also sends the process's memory, the counts of the garbage collector and what the
client itself costs. start(census=True) adds a census: tensors by device, dtype and shape, Python
objects by type, the allocator's free memory. A census looks at every object, so it is spaced out
until it takes at most 1 % of the time; p.census() takes one at once and returns it.

Promises: it cleans nothing up (gc.collect is never called), it never blocks, it never raises into
the job, and p.cost() says how much time it took. Only the process that called start() speaks:
forked workers are silent. Under torchrun only LOCAL_RANK 0 says steps and other ranks send gauges,
unless each rank has a watcher of its own (PLATEAU_OWN_RANK=1, which `plateau run` sets).
Methods may be called from any thread. The lines are described in docs/formats/step-clock.md.
"""
import collections
import contextlib
import ctypes
import functools
import gc
import os
import socket
import sys
import threading
import time

__version__ = "0.2.0"
__all__ = ["Client", "LightningCallback", "TrainerCallback", "start", "steps"]

_MB = 1e6
_MAX_KEPT_LINES = 32  # Events that wait for room in the watcher's queue.
_MAX_TEXT = 1000
_MAX_GAUGES = 40  # Of one census.
_MAX_SHAPES = 10
_MAX_TYPES = 14


def start(total_steps=None, examples=None, batch=None, epoch_steps=None, every=10, census=False,
          socket_path=None, says_steps=None):
    """Returns a Client. `batch` is the number of examples per optimizer step over all devices,
    `examples` the size of the training set; say what you know. Never raises."""
    facts = {"total_steps": total_steps, "examples": examples, "batch": batch,
             "epoch_steps": epoch_steps}
    return Client(facts, every=every, census=census, socket_path=socket_path,
                  says_steps=says_steps)


def steps(iterable, total_steps=None, **options):
    """Yields from `iterable` and says a step after each item's turn; options as for start()."""
    if total_steps is None:
        total_steps = _length(iterable)
    client = start(total_steps=total_steps, **options)
    try:
        for item in iterable:
            yield item
            client.step()
    finally:
        client.close()


def _guarded(method):
    """Keeps a method's exceptions from the job and adds its time to the client's cost."""

    @functools.wraps(method)
    def call(self, *args, **kwargs):
        began = time.perf_counter()
        try:
            if self._closed or os.getpid() != self._pid:
                return None
            return method(self, *args, **kwargs)
        except Exception:  # pylint: disable=broad-except
            self._errors += 1
            return None
        finally:
            spent = time.perf_counter() - began
            self._spent_s += spent
            self._longest_s = max(self._longest_s, spent)

    return call


class _Target:
    """One watcher's socket. Events that found its queue full wait here for the next send."""

    def __init__(self, path):
        self.path = path
        self.kept = collections.deque(maxlen=_MAX_KEPT_LINES)
        self.knows_facts = False


class Client:
    """Speaks to the watchers named by PLATEAU_SOCKET (several paths are separated by ':')."""

    def __init__(self, facts, every=10, census=False, socket_path=None, says_steps=None):
        self._pid = os.getpid()
        self._closed = False
        self._spent_s = self._longest_s = self._reported_s = self._census_s = 0.0
        self._steps = self._reported_steps = 0
        self._sent = self._lost = self._errors = 0
        self._step = 0
        self._until_report = 0
        self._first_census = None
        self._next_census_at = 0.0
        self._socket = None
        self._targets = []
        self._facts = ""
        # Reentrant: a signal handler or a finalizer may call us inside our own send.
        self._lock = threading.RLock()
        try:
            self._every = max(1, int(every))
            self._census_wanted = bool(census)
            first = (os.environ.get("LOCAL_RANK", "0") in ("", "0")
                     or os.environ.get("PLATEAU_OWN_RANK") == "1")
            self._says_steps = first if says_steps is None else bool(says_steps)
            path = os.environ.get("PLATEAU_SOCKET", "") if socket_path is None else socket_path
            self._targets = [_Target(part) for part in str(path).split(":") if part]
            if self._targets:
                self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
                self._socket.setblocking(False)
            self._facts = _run_line(facts)
            if self._facts:
                self._send([])
        except Exception:  # pylint: disable=broad-except
            self._errors += 1

    # ---- what a loop says -------------------------------------------------------------------

    @_guarded
    def on_step_end(self, step, epoch=None):
        """The optimizer step `step` has ended; `epoch` may be fractional (1.45)."""
        self._steps += 1
        self._step = int(step)
        if self._socket is None:
            return
        lines = []
        if self._says_steps:
            lines.append("step %d" % self._step if epoch is None
                         else "step %d epoch=%.6g" % (self._step, epoch))
        self._until_report -= 1
        if self._until_report <= 0:
            self._until_report = self._every
            # A watcher may restart between two sends without our noticing.
            for target in self._targets:
                target.knows_facts = False
            lines += self._report()
        if lines:
            self._send(lines)

    def step(self, step=None, epoch=None):
        """Like on_step_end; without a number, the one after the last."""
        self.on_step_end(self._step + 1 if step is None else step, epoch)

    def evaluate(self):
        """`with p.evaluate():` around an evaluation."""
        return self.phase("eval")

    def save(self):
        """`with p.save():` around the writing of a checkpoint."""
        return self.phase("save")

    @contextlib.contextmanager
    def phase(self, name):
        """A stretch of another kind of work than steps, with a name of one word."""
        self.begin(name)
        try:
            yield self
        finally:
            self.end(name)

    @_guarded
    def begin(self, name):
        self._send([], events=["begin " + _word(name)])

    @_guarded
    def end(self, name):
        self._send([], events=["end " + _word(name)])

    @_guarded
    def gauge(self, name, value):
        """A number of any kind, followed over the steps: queue lengths, cache sizes."""
        self._send([_gauge_line(name, value)])

    @_guarded
    def mark(self, text):
        """An event, in words. "eval", "checkpoint", "epoch" and "restart" mean what they say."""
        text = _printable(text).strip()
        if text:
            self._send([], events=["mark " + text])

    @_guarded
    def facts(self, **facts):
        """Facts known only later: total_steps, examples, batch, epoch_steps."""
        line = _run_line(facts)
        if line:
            self._facts = "run" + self._facts[3:] + line[3:]
            for target in self._targets:
                target.knows_facts = False
            self._send([])

    @_guarded
    def state(self, lines):
        """Facts in the words of the step clock, one or several lines, for a layer that makes its own; they take
        the place of all facts said before."""
        self._facts = lines
        for target in self._targets:
            target.knows_facts = False
        self._send([])

    @_guarded
    def say(self, lines, events=()):
        """Lines in the words of the step clock. Those that do not fit are lost; events are kept for later."""
        if self._says_steps:
            self._send(lines, events)

    def leave_steps_to_others(self):
        """Another process of the job says the steps, as it turns out; facts and gauges are still sent."""
        self._says_steps = False

    def post(self, text):
        """Like say(), for a layer that speaks often and catches for itself: one datagram, the short way where nothing
        else waits to be said."""
        if not self._says_steps or self._socket is None:
            return
        target = self._targets[0]
        if len(self._targets) > 1 or target.kept or not target.knows_facts:
            self._send([text])
            return
        try:
            self._socket.sendto(text.encode(), socket.MSG_DONTWAIT, target.path)
            self._sent += 1
        except (BlockingIOError, InterruptedError):
            self._lost += 1
        except OSError:
            target.knows_facts = False
            self._lost += 1

    def census(self):
        """Counts what lives in this process now, sends it, and returns it as {name: value}."""
        return self._take_census() or {}

    def cost(self):
        """What the client took of the job's time so far."""
        per_step = self._spent_s / self._steps if self._steps else 0.0
        return {"steps": self._steps, "total_us": self._spent_s * 1e6,
                "per_step_us": per_step * 1e6, "longest_us": self._longest_s * 1e6,
                "census_us": self._census_s * 1e6, "sent": self._sent, "lost": self._lost,
                "errors": self._errors}

    @_guarded
    def close(self):
        """Says the last words and lets go of the socket. Later calls do nothing."""
        if self._socket is not None:
            self._send([_gauge_line("client.cost_us", self.cost()["per_step_us"])])
            self._socket.close()
            self._socket = None
        self._closed = True

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __del__(self):
        # One that was never closed, or a forked child's copy: Python would warn of an open socket (-X dev).
        try:
            self._socket.close()
        except Exception:  # pylint: disable=broad-except
            pass

    # ---- how it is said ---------------------------------------------------------------------

    def _send(self, lines, events=()):
        """One datagram per watcher. Lines are lost if it does not fit; events are kept and go
        first next time, because the next step replaces a lost step but nothing replaces them."""
        if self._socket is None:
            return
        with self._lock:
            for target in self._targets:
                head = [self._facts] if self._facts and not target.knows_facts else []
                whole = head + list(target.kept) + list(events) + list(lines)
                if not whole:
                    continue
                data = "\n".join(whole).encode("utf-8", "replace")
                try:
                    # By path each time: a watcher that restarts on the same path is found again.
                    self._socket.sendto(data, socket.MSG_DONTWAIT, target.path)
                    self._sent += 1
                    target.kept.clear()
                    target.knows_facts = True
                except (BlockingIOError, InterruptedError):
                    self._lost += len(lines)
                    target.kept.extend(events)
                except OSError:
                    # Nobody listens. Whoever does later has not heard the facts.
                    self._lost += len(lines) + len(events)
                    target.knows_facts = False

    def _report(self):
        lines = [_gauge_line(*pair) for pair in _memory_gauges() + _gc_gauges()]
        fresh = self._steps - 1 - self._reported_steps
        if fresh > 0:
            cost_us = (self._spent_s - self._reported_s) * 1e6 / fresh
            lines.append(_gauge_line("client.cost_us", cost_us))
        self._reported_s, self._reported_steps = self._spent_s, self._steps - 1
        if self._lost:
            lines.append(_gauge_line("client.lost", self._lost))
        if self._census_wanted and time.perf_counter() >= self._next_census_at:
            lines += [_gauge_line(*pair) for pair in self._count().items()]
        return lines

    @_guarded
    def _take_census(self):
        counts = self._count()
        self._send([_gauge_line(*pair) for pair in counts.items()])
        return counts

    def _count(self):
        began = time.perf_counter()
        everything = _Census()
        if self._first_census is None:
            self._first_census = everything
        counts = everything.top(self._first_census)
        ended = time.perf_counter()
        self._census_s += ended - began
        # At most one part in a hundred of the time goes into counting.
        self._next_census_at = ended + 99 * (ended - began)
        counts["census.cost_us"] = (ended - began) * 1e6
        return counts


# ---- words ----------------------------------------------------------------------------------


def _printable(text):
    text = str(text)[:_MAX_TEXT]
    return "".join(c if c >= " " and c != "\x7f" else " " for c in text)


def _word(name):
    return "_".join(_printable(name).split())[:100] or "unnamed"


def _number(value):
    value = float(value)
    if value != value or value in (float("inf"), float("-inf")):
        raise ValueError("not a finite number")
    return "%d" % value if value == int(value) and abs(value) < 1e15 else "%.9g" % value


def _gauge_line(name, value):
    return "gauge %s %s" % (_word(name), _number(value))


def _run_line(facts):
    """"run batch=8 ...", or nothing if no fact is a positive number."""
    words = []
    for key, value in facts.items():
        try:
            if value is not None and float(value) > 0:
                words.append("%s=%s" % (key, _number(value)))
        except (TypeError, ValueError, OverflowError):
            continue
    return "run " + " ".join(words) if words else ""


def _length(thing):
    try:
        return len(thing)
    except Exception:  # pylint: disable=broad-except
        return None  # A stream: its end is not known.


# ---- what is measured -----------------------------------------------------------------------

_PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096


def _memory_gauges():
    """Resident and anonymous memory of this process, in MB of 1,000,000 bytes."""
    try:
        fd = os.open("/proc/self/statm", os.O_RDONLY | os.O_CLOEXEC)
        try:
            fields = os.read(fd, 256).split()
        finally:
            os.close(fd)
        resident, shared = int(fields[1]), int(fields[2])
    except (OSError, IndexError, ValueError):
        return []
    return [("ram.rss_mb", resident * _PAGE / _MB),
            ("ram.anon_mb", (resident - shared) * _PAGE / _MB)]


def _gc_gauges():
    """The collector's counters. Reading them does not start a collection."""
    waiting = gc.get_count()
    stats = gc.get_stats()
    return [("gc.gen%d" % i, count) for i, count in enumerate(waiting)] + [
        ("gc.collections", sum(s.get("collections", 0) for s in stats)),
        ("gc.collected", sum(s.get("collected", 0) for s in stats)),
        ("gc.uncollectable", sum(s.get("uncollectable", 0) for s in stats))]


class _MallInfo2(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in (
        "arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "uordblks",
        "fordblks", "keepcost")]


class _MallInfo(ctypes.Structure):
    # Before glibc 2.33 the fields have 32 bits: beyond 4 GiB these numbers wrap.
    _fields_ = [(name, ctypes.c_uint) for name, _ in _MallInfo2._fields_]


@functools.lru_cache(maxsize=None)
def _mallinfo():
    """glibc's mallinfo2, or mallinfo, or None with another C library."""
    with contextlib.suppress(OSError):
        libc = ctypes.CDLL(None)
        for name, kind in (("mallinfo2", _MallInfo2), ("mallinfo", _MallInfo)):
            function = getattr(libc, name, None)
            if function is not None:
                function.restype = kind
                function.argtypes = []
                return function
    return None


def _allocator_gauges():
    gauges = [("py.blocks", sys.getallocatedblocks())] if hasattr(
        sys, "getallocatedblocks") else []
    function = _mallinfo()
    if function is not None:
        info = function()
        gauges.append(("malloc.in_use_mb", (info.uordblks + info.hblkhd) / _MB))
        gauges.append(("malloc.free_mb", info.fordblks / _MB))
    return gauges


def _cuda_gauges(torch):
    """Only if the job uses CUDA already: asking earlier would start the driver in this process."""
    gauges = []
    cuda = getattr(torch, "cuda", None)
    if cuda is None or not getattr(cuda, "is_initialized", lambda: False)():
        return gauges
    for device in range(min(cuda.device_count(), 4)):
        gauges.append(("cuda.%d.allocated_mb" % device, cuda.memory_allocated(device) / _MB))
        gauges.append(("cuda.%d.reserved_mb" % device, cuda.memory_reserved(device) / _MB))
    return gauges


def _storage_of(tensor):
    """(identity, bytes) of a tensor's memory, which several tensors may share; None if it has none
    of the plain kind (sparse, fake)."""
    try:
        storage = (tensor.untyped_storage() if hasattr(tensor, "untyped_storage")
                   else tensor.storage())  # torch 1.13
        # The storage's own address where it tells: data_ptr() may count as a write and make a
        # copy-on-write storage copy.
        identity = getattr(storage, "_cdata", None)
        return storage.data_ptr() if identity is None else identity, storage.nbytes()
    except Exception:  # pylint: disable=broad-except
        return None


class _Census:
    """All that the garbage collector tracks, counted by type, and tensors by what they hold.

    Blind spots: objects without references to others (numbers, strings, bytes, and arrays whose
    type is not tracked) are in nobody's list, and tensors that only C++ holds (what autograd
    saves) have no Python object. malloc's numbers do not move if another allocator is preloaded.
    """

    def __init__(self):
        self.totals = collections.OrderedDict()
        self.types = {}
        self.shapes = {}
        allocator = _allocator_gauges()  # First, so that what it sets up is in no later growth.
        objects = gc.get_objects()
        by_type = collections.Counter(map(type, objects))
        self.totals["gc.objects"] = len(objects)
        torch = sys.modules.get("torch")
        base = getattr(torch, "Tensor", None)
        if isinstance(base, type):
            # By type(), never isinstance: that asks __class__, which lazy proxies act upon.
            kinds = {kind for kind in by_type if issubclass(kind, base)}
            self._count_tensors([o for o in objects if type(o) in kinds] if kinds else [])
        del objects
        for kind, count in by_type.items():
            name = _type_name(kind)
            self.types[name] = self.types.get(name, 0) + count
        self.totals.update(allocator)
        if torch is not None:
            with contextlib.suppress(Exception):
                self.totals.update(_cuda_gauges(torch))

    def _count_tensors(self, tensors):
        counts = collections.Counter()
        sizes = collections.Counter()
        seen = set()
        for tensor in tensors:
            try:
                device, dtype = tensor.device.type, str(tensor.dtype).replace("torch.", "")
                shape = "x".join(map(str, tensor.shape)) or "scalar"
            except Exception:  # pylint: disable=broad-except
                continue
            counts[device] += 1
            name = "tensors.%s.%s.%s" % (device, dtype, shape)
            self.shapes[name] = self.shapes.get(name, 0) + 1
            storage = _storage_of(tensor)
            if storage is not None and (device,) + storage not in seen:
                seen.add((device,) + storage)
                sizes[device] += storage[1]
        self.totals["tensors"] = sum(counts.values())
        for device, count in counts.most_common(4):
            self.totals["tensors." + device] = count
            self.totals["tensors.%s.bytes" % device] = sizes[device]

    def top(self, first):
        """At most _MAX_GAUGES numbers: the totals, then what grew most since `first`."""
        chosen = list(self.totals.items())
        chosen += _grown_most(self.shapes, first.shapes, _MAX_SHAPES)
        chosen += [("objects." + name, count)
                   for name, count in _grown_most(self.types, first.types, _MAX_TYPES)]
        return collections.OrderedDict(chosen[:_MAX_GAUGES - 1])  # One is left for the cost.


def _type_name(kind):
    module = getattr(kind, "__module__", None)
    name = str(getattr(kind, "__qualname__", kind))
    return name if module in (None, "builtins") else "%s.%s" % (module, name)


def _grown_most(now, first, limit):
    """The pairs of `now` that grew most since `first`; what did not grow comes by its size."""
    def rank(pair):
        return (max(0, pair[1] - first.get(pair[0], 0)), pair[1])
    return sorted(now.items(), key=rank, reverse=True)[:limit]


# ---- trainers with callbacks ----------------------------------------------------------------


def _product(*factors):
    result = 1
    for factor in factors:
        if not isinstance(factor, (int, float)) or factor <= 0:
            return None
        result *= factor
    return result


class _Callback:
    """What both callbacks share: options for start(), and a client while training lasts."""

    def __init__(self, every=10, census=False, **facts):
        super().__init__()
        self._options = dict(facts, every=every, census=census)
        self._client = None

    def __getstate__(self):
        # A trainer may be pickled into its workers; a socket stays where it is.
        return dict(self.__dict__, _client=None)

    def _start(self, facts, says_steps):
        if self._client is not None:
            self._client.close()
        options = dict(facts)
        options.update(self._options)
        self._client = start(says_steps=says_steps, **options)

    def _stop(self):
        if self._client is not None:
            self._client.close()
        self._client = None


class _TrainerHooks(_Callback):
    """transformers.TrainerCallback: steps, evaluations, checkpoints and epochs of a Trainer."""

    _evaluating = False

    def on_train_begin(self, args, state, control, **kwargs):
        facts = {}
        with contextlib.suppress(Exception):
            facts["total_steps"] = getattr(state, "max_steps", None)
            facts["batch"] = _product(getattr(args, "train_batch_size", None),
                                      getattr(args, "gradient_accumulation_steps", 1),
                                      getattr(args, "world_size", 1))
            loader = kwargs.get("train_dataloader")
            facts["examples"] = _length(getattr(loader, "dataset", None))
        self._start(facts, getattr(state, "is_local_process_zero", True))

    def on_step_end(self, args, state, control, **kwargs):
        if self._client is not None:
            self._client.on_step_end(state.global_step, getattr(state, "epoch", None))

    def on_prediction_step(self, args, state, control, **kwargs):
        # on_evaluate comes when an evaluation is over; its first batch is how it begins.
        if self._client is not None and not self._evaluating:
            self._evaluating = True
            self._client.begin("eval")

    def on_evaluate(self, args, state, control, **kwargs):
        if self._client is None:
            return
        if self._evaluating:
            self._client.end("eval")
        else:
            self._client.mark("eval")
        self._evaluating = False

    def on_predict(self, args, state, control, **kwargs):
        self.on_evaluate(args, state, control)

    def on_save(self, args, state, control, **kwargs):
        if self._client is not None:
            self._client.mark("checkpoint")

    def on_epoch_end(self, args, state, control, **kwargs):
        if self._client is not None:
            self._client.mark("epoch")

    def on_train_end(self, args, state, control, **kwargs):
        self._stop()


class _LightningHooks(_Callback):
    """lightning.pytorch.Callback: steps, validations, checkpoints and epochs of a Trainer."""

    _last_step = -1

    def on_train_start(self, trainer, pl_module):
        facts = {}
        with contextlib.suppress(Exception):
            accumulated = getattr(trainer, "accumulate_grad_batches", 1)
            batches = trainer.num_training_batches
            epoch_steps = -(-batches // accumulated) if batches != float("inf") else None
            facts["epoch_steps"] = epoch_steps
            planned = trainer.max_steps
            if planned is None or planned <= 0:
                planned = _product(trainer.max_epochs, epoch_steps)
            facts["total_steps"] = planned
            loader = getattr(trainer, "train_dataloader", None)
            facts["examples"] = _length(getattr(loader, "dataset", None))
            facts["batch"] = _product(getattr(loader, "batch_size", None), accumulated,
                                      getattr(trainer, "world_size", 1))
        self._last_step = -1
        self._start(facts, getattr(trainer, "local_rank", 0) == 0)

    def on_train_batch_end(self, trainer, pl_module, outputs, batch, batch_idx, *_, **__):
        step = trainer.global_step
        # With accumulated gradients several batches make one step.
        if self._client is None or step == self._last_step:
            return
        self._last_step = step
        epoch = None
        with contextlib.suppress(Exception):
            epoch = trainer.current_epoch + (batch_idx + 1) / trainer.num_training_batches
        self._client.on_step_end(step, epoch)

    def on_validation_start(self, trainer, pl_module):
        if self._client is not None:
            self._client.begin("eval")

    def on_validation_end(self, trainer, pl_module):
        if self._client is not None:
            self._client.end("eval")

    def on_save_checkpoint(self, trainer, pl_module, checkpoint):
        if self._client is not None:
            self._client.mark("checkpoint")

    def on_train_epoch_end(self, trainer, pl_module):
        if self._client is not None:
            self._client.mark("epoch")

    def on_train_end(self, trainer, pl_module):
        self._stop()

    def on_exception(self, trainer, pl_module, exception):
        self._stop()


def _quiet(hook):
    """A trainer whose attributes are not the ones we know costs us a step, not the job."""

    @functools.wraps(hook)
    def call(*args, **kwargs):
        with contextlib.suppress(Exception):
            hook(*args, **kwargs)

    return call


def _base_class(modules, name):
    """The class `name` of the first of `modules` there is, one already imported before others;
    object without any, so that a script's import line works where the package is missing."""
    for module in sorted(modules, key=lambda m: m not in sys.modules):
        try:
            return getattr(__import__(module, fromlist=[name]), name)
        except (ImportError, AttributeError):
            continue
    return object


_LAZY = {
    "TrainerCallback": (_TrainerHooks, ("transformers",), "TrainerCallback"),
    "LightningCallback": (_LightningHooks, ("lightning.pytorch", "pytorch_lightning"), "Callback"),
}


def load_ipython_extension(shell):
    """`%load_ext plateau` in a notebook (plateau_jupyter.py, which comes with the package)."""
    import plateau_jupyter

    plateau_jupyter.load(shell)


def __getattr__(name):
    """Makes the callback classes on first use: importing plateau imports no framework."""
    if name not in _LAZY:
        raise AttributeError("module %r has no attribute %r" % (__name__, name))
    hooks, modules, base_name = _LAZY[name]
    base = _base_class(modules, base_name)
    bases = (hooks,) if base is object else (hooks, base)
    body = {key: _quiet(value) for key, value in vars(hooks).items() if key.startswith("on_")}
    body.update({"__doc__": hooks.__doc__, "__module__": __name__})
    made = type(name, bases, body)
    globals()[name] = made
    return made


if __name__ == "__main__":
    print(__doc__)
    _demo = start(total_steps=3, census=True)
    for _ in range(3):
        _demo.step()
    print("A census of this process:")
    for _name, _value in _demo.census().items():
        print("  %-28s %s" % (_name, _number(_value)))
    print("PLATEAU_SOCKET is %s." % (
        "set" if os.environ.get("PLATEAU_SOCKET") else "not set: nobody listens, calls do nothing"))
    print("Cost of three steps and a census: %.0f us." % _demo.cost()["total_us"])
