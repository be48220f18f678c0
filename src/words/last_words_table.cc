// SPDX-License-Identifier: Apache-2.0
#include "words/last_words_table.h"

#include <array>

#include "recording/last_words.h"

namespace plateau {
namespace {

// In the order of LastWordsKind.
constexpr std::array<LastWordsTold, kLastWordsKinds> kTold = {{
    // gpu_memory
    {"The GPU's memory was full, not the machine's.",
     "Try a smaller batch, gradient checkpointing or shorter sequences; where much is reserved but "
     "unused, PYTORCH_ALLOC_CONF=expandable_segments:True."},
    // gpu_library
    {"A GPU library found no room for its workspace: the GPU's memory was full.",
     "Try a smaller batch, or leave it more room: it allocates beside PyTorch's own pool."},
    // device_memory
    {"A device's memory was full; on a CPU backend that is the machine's.",
     "Try a smaller batch; XLA_PYTHON_CLIENT_PREALLOCATE=false shows what JAX needs rather than "
     "what it takes."},
    // shared_memory
    {"/dev/shm was full: batches go from workers to the training process through it.",
     "Give it more (docker run --shm-size=8g, or an emptyDir of medium Memory at /dev/shm), use "
     "fewer workers or a smaller prefetch_factor, or "
     "torch.multiprocessing.set_sharing_strategy('file_system')."},
    // worker_killed
    {"A DataLoader worker was killed or vanished, most often by the kernel for want of memory.",
     "Look at the workers' growth below; fewer workers, a smaller prefetch_factor, or data that is "
     "not copied into each of them need less."},
    // host_memory
    {"An allocation was refused.",
     "The system had no more to give, or a limit forbade it: see the growth below, and the limit "
     "of the container or the batch system."},
    // address_limit
    {"An allocation was refused by the limit on address space (ulimit -v), which counts what is "
     "reserved, not what is used.",
     "Lift it with ulimit -v unlimited, and limit memory with a cgroup instead."},
    // java_heap
    {"The JVM reached the size that it was given, whatever the machine has.",
     "Raise it with -Xmx, or look for what its heap keeps."},
    // node_heap
    {"V8 reached the size that it was given, whatever the machine has.",
     "Raise it with --max-old-space-size, or look for what its heap keeps."},
    // kernel_kill
    {"The kernel killed a process because the machine had no memory left.",
     "It kills the largest process, which need not be the one that grew: see who did below."},
    // cgroup_kill
    {"The kernel killed a process at the limit of its container, its cgroup or its batch step.",
     "Ask for more (resources.limits.memory, --mem), or look at what grew below."},
    // killed
    {"SIGKILL ended it, as the kernel's OOM killer, a container's limit or a batch system does.",
     "dmesg, 'kubectl describe pod' or 'sacct -o State,MaxRSS' say who sent it."},
}};
constexpr LastWordsTold kNone;

}  // namespace

const LastWordsTold& last_words_told(std::string_view name) {
  const auto kind = last_words_from_name(name);
  return kind ? kTold[static_cast<size_t>(*kind)] : kNone;
}

}  // namespace plateau
