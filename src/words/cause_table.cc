// SPDX-License-Identifier: Apache-2.0
#include "words/cause_table.h"

namespace plateau {
namespace {

constexpr CauseWords kCauses[] = {
    {"per-example-cache", "per-example cache (decoded data kept)",
     "run the same 20 batches twice: the second pass does not grow",
     "give an lru_cache a size, or drop decoded examples after use and decode per batch"},
    {"copy-on-write", "copy-on-write in forked workers",
     "set num_workers=0: growth stops; gc.collect and malloc_trim change nothing",
     "hold the dataset in one flat array or Arrow table instead of Python objects, or use "
     "fewer workers"},
    {"file-backed-pages", "mapped files filling the page cache (reclaimable)",
     "run it under a memory limit below the current size: pages shrink and the job keeps running",
     "nothing to fix; track anonymous memory instead of RSS"},
    {"shared-memory", "shared memory that is not returned",
     "watch /dev/shm and deleted file descriptors; set num_workers=0",
     "release batches that came from workers, use the file_descriptor sharing strategy, "
     "unlink segments"},
    {"worker-pools", "worker processes that multiply",
     "count processes before and after an evaluation",
     "create loaders once, outside the loop; turn off persistent workers"},
    {"thread-growth", "threads that are never joined",
     "count threads over steps; set OMP_NUM_THREADS=1",
     "use one fixed-size pool; join every thread you start"},
    {"evaluation-leak", "something kept at every evaluation",
     "run five evaluations in a row: five equal steps prove it",
     "clear predictions, metrics and loaders after each evaluation"},
    {"checkpoint-leak", "something kept at every checkpoint",
     "save ten times as often: growth per step becomes ten times as fast",
     "free staging buffers after each save; look at what the serializer caches"},
    {"first-events", "buffers allocated by the first evaluation or checkpoint",
     "run two more evaluations: no further step up",
     "expected; plan for the level after the first evaluation"},
    {"epoch-history", "history kept until, or beyond, the end of the epoch",
     "halve the epoch: the teeth halve too", "reduce metrics as you go; detach and reset them"},
    {"bounded-cache", "bounded cache filling up",
     "shrink the cache or fix the input shapes: the level falls in proportion",
     "nothing if it fits; otherwise a smaller cache, fewer distinct shapes or shorter buffers"},
    {"allocator-high-water", "allocator holding the high-water mark",
     "'plateau try PID trim': resident memory drops while the heap in use does not",
     "put the largest batch first, bucket lengths, or use jemalloc",
     "run it again with jemalloc preloaded: the level is lower"},
    {"start-up-state", "state allocated once at the start (optimizer, workers, kernels)",
     "run ten steps twice in one process: the second ten add nothing",
     "expected; plan for the level after the first steps"},
    {"phase-change", "a new phase of the job",
     "check what the job started at that step (batch size, sequence length, new loader)",
     "expected if the job changed; otherwise look at what happens at that step"},
    {"python-objects", "Python objects or tensors that accumulate",
     "'plateau profile PID --objects --again 1m': the type that grows points to the holder",
     "append numbers instead of tensors (.item(), .detach()), bound histories, reset metrics",
     "run it again under 'plateau run --heap=exact', then 'plateau profile FILE': it names the "
     "lines whose objects stay"},
    {"native-leak",
     "something kept and not released, holder unknown (native memory, or objects the log does not "
     "count)",
     "'plateau run --heap', then 'plateau profile FILE': it names the call stack that holds the "
     "memory; 'plateau try PID trim' tells whether the allocator merely keeps it",
     "release or bound what that call stack keeps; if a native library leaks, bisect its versions",
     "run it again under 'plateau run --heap', then 'plateau profile FILE': it names the call "
     "stack "
     "that holds the memory"},
    {"load", "memory that work in flight needs",
     "take the load away: the memory falls, or is used again when the load returns",
     "limit how much is in flight at once; plan for the highest load"},
    {"gpu-memory", "GPU memory or its caching allocator",
     "compare allocated and reserved; empty_cache() lowers reserved only",
     "bucket shapes, use expandable segments; look for tensors kept on the device"},
    {"java-heap", "objects that stay reachable in the Java heap",
     "'jcmd PID GC.class_histogram' twice, some minutes apart: the class that grows; it collects "
     "first, and stops the program while it counts",
     "take a heap dump ('jcmd PID GC.heap_dump FILE') and follow what holds that class: a static "
     "map, a listener, a thread local, a cache without a size",
     "run it again with -XX:+HeapDumpOnOutOfMemoryError and a smaller -Xmx: the dump names the "
     "class, and what holds it"},
    {"evaluation-spikes", "temporary memory during evaluations or checkpoints",
     "watch the minimum, not the maximum: it stays level",
     "smaller evaluation batches; plan for floor plus spike"},
    {"sawtooth", "garbage collected late, or queues that fill and drain",
     "'plateau try PID gc': the tooth drops early", "expected; plan for the top of the teeth",
     "run it again with gc.collect() every few steps: the teeth are lower"},
};

// The same without the words of a training job, where they have some.
constexpr CauseWords kCausesByTime[] = {
    {"shared-memory", "shared memory that is not returned",
     "watch /dev/shm, deleted file descriptors and the size set for shared buffers",
     "unlink segments that are done with; if it is a pool of buffers, set its size"},
    {"worker-pools", "worker processes that multiply",
     "count the processes now and in ten minutes, under the same load",
     "start workers once, and end those that are done"},
    {"thread-growth", "threads that are never joined",
     "count the threads now and in ten minutes, under the same load",
     "use one fixed-size pool; join every thread you start"},
    {"bounded-cache", "bounded cache filling up",
     "set the cache's own limit to half: the level falls in proportion",
     "nothing if it fits; otherwise a smaller cache or shorter buffers"},
    {"allocator-high-water", "allocator holding the high-water mark",
     "'plateau try PID trim': resident memory drops while the heap in use does not",
     "nothing if it fits; otherwise less work at once, which lowers the peak that sets the level",
     "run it again with less work at once: the level is lower"},
    {"start-up-state", "state allocated once at the start",
     "start it again: as much arrives at the start, and nothing after",
     "expected; plan for the level after the start"},
    {"phase-change", "a new phase of the job",
     "check what the program began at that moment (a new client, another kind of request)",
     "expected if it began something new; otherwise look at what happens then"},
    {"evaluation-spikes", "temporary memory", "watch the minimum, not the maximum: it stays level",
     "less work at once; plan for floor plus spike"},
    {"sawtooth", "garbage collected late, or queues that fill and drain",
     "have it collect now ('plateau try PID gc' in Python, 'jcmd PID GC.run' in a JVM): the tooth "
     "drops early",
     "expected; plan for the top of the teeth",
     "run it again with a smaller heap, or collecting more often: the teeth are lower"},
};

}  // namespace

const CauseWords& cause_words(std::string_view name, const Verdict& verdict) {
  const bool by_time = verdict.clock == Clock::seconds && !verdict.epoch_steps;
  for (const CauseWords& cause : kCausesByTime) {
    if (by_time && cause.name == name) return cause;
  }
  return cause_words(name);
}

const CauseWords& cause_words(std::string_view name) {
  static constexpr CauseWords kUnknown = {};
  for (const CauseWords& cause : kCauses) {
    if (cause.name == name) return cause;
  }
  return kUnknown;
}

}  // namespace plateau
