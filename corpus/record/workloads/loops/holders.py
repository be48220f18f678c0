# SPDX-License-Identifier: Apache-2.0
"""Small things that a loop registers, starts or opens, and what ends them.

mode=append: the last `limit` records of the run are kept; append_all: all. named: callbacks that
capture a batch are replaced by the next of the same name, of which there are `limit`; closures:
each is registered for itself. best: the `limit` best epochs are kept; epoch_end: all. imports:
modules of the standard library are imported when first needed; modules: generated code is loaded
under a new name each time. codecs: a compressor per client, the `limit` last used are kept;
codecs_all: one per request, never dropped. tasks: asyncio tasks wait for an answer and are
cancelled after `limit` steps; tasks_waiting: nobody cancels them. freed: memory of malloc, through
ctypes, freed after `limit` steps; malloc: never. `count` are made at each step, of part_kb.
"""
import asyncio
import collections
import ctypes
import importlib
import os
import sys
import types
import zlib

from steps import Job, fill

MODULES = """asyncio xml.dom.minidom email.message http.server unittest.mock decimal sqlite3
    ctypes.util ssl multiprocessing.pool concurrent.futures tarfile zipfile lzma bz2 difflib pydoc
    argparse xmlrpc.server imaplib smtplib ftplib poplib telnetlib nntplib pickletools turtledemo
    mailbox curses doctest pdb cProfile trace tracemalloc statistics fractions urllib.request
    http.cookiejar html.parser wsgiref.simple_server json.tool csv configparser optparse
    logging.config logging.handlers lib2to3.main distutils.core idlelib.config ensurepip venv zipapp
    timeit
    calendar locale gettext cmd code ast dis inspect tokenize symtable tabnanny py_compile
    encodings.cp932 encodings.gb18030 unicodedata zoneinfo ipaddress uuid secrets hmac""".split()

FUNCTION_BYTES = 565  # of a function of generated code, by tracemalloc
CODEC_KB = 256  # of a compressor at its usual window, as zlib documents


def size_of(job):
    return job.part_kb * 1024 * job.random.uniform(0.5, 1.5)


def append(job):
    records = collections.deque(maxlen=job.limit if job.mode == "append" else None)
    for step in job:
        for number in range(job.count):
            record = {"step": step, "loss": number * 0.37, "text": "z" * int(size_of(job))}
            records.append(record)
            if job.mode == "append_all":
                job.leak(sys.getsizeof(record) + sys.getsizeof(record["text"]))
        if len(records) == records.maxlen:
            job.growth_ends(step)


def closures(job):
    callbacks, made = {}, 0
    for step in job:
        for _ in range(job.count):
            batch = fill(size_of(job))
            name = made % job.limit if job.mode == "named" else made
            callbacks[name] = lambda batch=batch: len(batch)
            made += 1
            if job.mode == "closures":
                job.leak(len(batch))
        if job.mode == "named" and made >= job.limit:
            job.growth_ends(step)


def epoch_end(job):
    best = []
    for step in job:
        if step % job.epoch_steps:
            continue
        if job.mode == "epoch_end":
            job.keep_for_ever(size_of(job))
            continue
        best = sorted(best + [(job.random.random(), step, fill(size_of(job)))])[-job.limit:]
        if len(best) == job.limit:
            job.growth_ends(step)


def code(job, step, number):
    """Loads generated code as a module; returns about what it takes."""
    lines = [f"def f{i}(a, b): return [a + {i}, b * {step}, 'text {step} {i} {number}']"
             for i in range(job.limit)]
    source = "\n".join(lines)
    module = types.ModuleType(f"generated_{step}_{number}")
    exec(compile(source, module.__name__, "exec"), module.__dict__)
    sys.modules[module.__name__] = module
    return job.limit * FUNCTION_BYTES


def imports(job):
    waiting = list(MODULES)
    job.random.shuffle(waiting)
    for step in job:
        if job.mode == "modules":
            for number in range(job.count):
                job.leak(code(job, step, number))
        elif waiting and step % job.interval == 0:
            importlib.import_module(waiting.pop())
        elif not waiting:
            job.growth_ends(step)


def codecs(job):
    clients, made = collections.OrderedDict(), 0
    for step in job:
        for _ in range(job.count):
            codec = zlib.compressobj(9)
            codec.compress(job.random.randbytes(int(size_of(job))))
            made += 1
            clients[made] = codec
            if job.mode == "codecs_all":
                job.leak(CODEC_KB * 1024)
            elif len(clients) > job.limit:
                clients.popitem(last=False)
                job.growth_ends(step)


async def answer(job, event):
    batch = fill(size_of(job))
    if job.mode == "tasks_waiting":
        job.leak(len(batch))
    await event.wait()
    return len(batch)


def tasks(job):
    loop, started = asyncio.new_event_loop(), collections.deque()
    event = asyncio.Event()
    for step in job:
        started.append([loop.create_task(answer(job, event)) for _ in range(job.count)])
        if job.mode == "tasks" and len(started) > job.limit:
            for task in started.popleft():
                task.cancel()
            job.growth_ends(step)
        loop.run_until_complete(asyncio.sleep(0))
    os._exit(0)  # without a word for each task that still waits


def malloc(job):
    libc = ctypes.CDLL(None)
    libc.malloc.restype, libc.malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
    libc.free.argtypes = [ctypes.c_void_p]
    made = collections.deque()
    for step in job:
        for _ in range(job.count):
            size = int(size_of(job))
            made.append(libc.malloc(size))
            ctypes.memset(made[-1], 0x5a, size)
            if job.mode == "malloc":
                job.leak(size)
        while job.mode == "freed" and len(made) > job.limit * job.count:
            libc.free(made.popleft())
            job.growth_ends(step)


MODES = {"append": append, "append_all": append, "named": closures, "closures": closures,
         "best": epoch_end, "epoch_end": epoch_end, "imports": imports, "modules": imports,
         "codecs": codecs, "codecs_all": codecs, "tasks": tasks, "tasks_waiting": tasks,
         "freed": malloc, "malloc": malloc}
this_job = Job(mode="append", limit=100, count=4, part_kb=20.0, interval=4)
MODES[this_job.mode](this_job)
