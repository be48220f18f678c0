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
     "run it under a memory limit below the current size: pages shrink and the job goes on",
     "nothing is needed; count anonymous memory instead of RSS"},
    {"shared-memory", "shared memory that is not returned",
     "watch /dev/shm and deleted file descriptors; set num_workers=0",
     "release batches that came from workers, use the file_descriptor sharing strategy, "
     "unlink segments"},
    {"worker-pools", "worker processes that multiply",
     "count processes before and after an evaluation",
     "create loaders once, outside the loop; switch persistent workers off"},
    {"thread-growth", "threads that are never joined",
     "count threads over steps; set OMP_NUM_THREADS=1", "use one fixed pool; join what is started"},
    {"evaluation-leak", "something kept at every evaluation",
     "run five evaluations in a row: five equal steps prove it",
     "clear predictions, metrics and loaders after each evaluation"},
    {"checkpoint-leak", "something kept at every checkpoint",
     "save ten times as often: growth per step becomes ten times as fast",
     "free staging buffers after each save; look at what the serializer caches"},
    {"first-events", "buffers made by the first evaluation or checkpoint",
     "run two more evaluations: no further step up",
     "expected; plan for the level after the first evaluation"},
    {"epoch-history", "history kept until, or beyond, the end of the epoch",
     "halve the epoch: the teeth halve too", "reduce metrics as they come; detach and reset them"},
    {"bounded-cache", "bounded cache filling up",
     "shrink the cache or fix the input shapes: the level falls in proportion",
     "nothing if it fits; else a smaller cache, fewer distinct shapes, shorter buffers"},
    {"allocator-high-water", "allocator holding the high-water mark",
     "'plateau try PID trim': resident memory drops while the heap in use does not",
     "put the largest batch first, bucket lengths, or use jemalloc"},
    {"start-up-state", "state allocated once at the start (optimizer, workers, kernels)",
     "run ten steps twice in one process: the second ten add nothing",
     "expected; plan for the level after the first steps"},
    {"phase-change", "a new phase of the job",
     "match the step with what the job began there (batch size, sequence length, new loader)",
     "expected if the job changed; else look at what happens at that step"},
    {"python-objects", "Python objects or tensors that accumulate",
     "'plateau profile PID --objects --again 1m': the type that grows is the holder's",
     "append numbers instead of tensors (.item(), .detach()), bound histories, reset metrics"},
    {"native-leak", "memory lost in native code or kept by the allocator",
     "'plateau try PID trim': if resident memory stays, it is live; 'plateau run --heap' then "
     "says which call stack holds it",
     "bisect versions of native dependencies; switch the suspected stage off"},
    {"gpu-memory", "GPU memory or its caching allocator",
     "compare allocated and reserved; empty_cache() lowers reserved only",
     "bucket shapes, expandable segments; look for tensors kept on the device"},
    {"evaluation-spikes", "temporary memory of evaluations or checkpoints",
     "watch the minimum, not the maximum: it stays",
     "smaller evaluation batches; plan for floor plus spike"},
    {"sawtooth", "garbage collected late, or queues that fill and drain",
     "'plateau try PID gc': the tooth drops early", "expected; plan for the top of the teeth"},
};

}  // namespace

const CauseWords& cause_words(std::string_view name) {
  static constexpr CauseWords kUnknown = {"", "", "", ""};
  for (const CauseWords& cause : kCauses) {
    if (cause.name == name) return cause;
  }
  return kUnknown;
}

}  // namespace plateau
