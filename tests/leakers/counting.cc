// SPDX-License-Identifier: Apache-2.0
// A counting allocator: the witness against which the exact mode of the tracer is held.
//
// Preloaded behind the tracer it sees every call that the tracer forwards, counts what was asked
// for, and hands on to glibc. It shares no code and no table with the tracer. The sums lie in the
// file COUNTING_DIR/PID, mapped shared, so that they outlive the process however it ends. A child
// made by fork starts at zero, because all state is memory that a fork wipes; what it inherited is
// unknown to it, and so are the frees of that. An exec begins the file anew.
//
// It acts only where PLATEAU_HEAP is set, that is in the job and not in plateau itself.
#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

extern "C" {
void* __libc_malloc(size_t bytes);
void* __libc_calloc(size_t count, size_t each);
void* __libc_realloc(void* block, size_t bytes);
void* __libc_memalign(size_t alignment, size_t bytes);
void* __libc_valloc(size_t bytes);
void* __libc_pvalloc(size_t bytes);
void __libc_free(void* block);
}

namespace {

constexpr size_t kSlots = size_t{1} << 20;
constexpr size_t kPageBytes = 4096;

// The file, in this order; check_exact.py reads it.
struct Totals {
  uint64_t allocated_bytes;
  uint64_t allocated_blocks;
  uint64_t freed_bytes;
  uint64_t freed_blocks;
  uint64_t lost;  // The table was full: the sums are wrong.
};

struct Block {
  uint64_t address;  // 0: the slot is empty.
  uint64_t bytes;
};

// Wiped by fork: a child finds all of it zero.
struct alignas(kPageBytes) State {
  std::atomic<uint32_t> locked;
  uint32_t used;
  Totals* file;   // Null until the environment is there.
  Totals before;  // What was counted until then.
  bool refused;   // Not our business, or no file.
  Block blocks[kSlots];
};
constinit State state{};

class Locked {
 public:
  Locked() {
    while (state.locked.exchange(1, std::memory_order_acquire) != 0) sched_yield();
  }
  ~Locked() { state.locked.store(0, std::memory_order_release); }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;
};

void* map_shared(int fd) {
  return reinterpret_cast<void*>(
      syscall(SYS_mmap, nullptr, kPageBytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0));
}

void open_file() {
  if (environ == nullptr) return;
  const char* directory = getenv("COUNTING_DIR");
  state.refused = true;
  if (directory == nullptr || getenv("PLATEAU_HEAP") == nullptr) return;
  if (madvise(&state, sizeof state, MADV_WIPEONFORK) != 0) return;
  char path[512];
  snprintf(path, sizeof path, "%s/%d", directory, static_cast<int>(getpid()));
  const int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (fd < 0) return;
  void* memory = ftruncate(fd, kPageBytes) == 0 ? map_shared(fd) : MAP_FAILED;
  close(fd);
  if (memory == MAP_FAILED) return;
  state.file = static_cast<Totals*>(memory);
  *state.file = state.before;
  state.refused = false;
}

Totals& totals() {
  if (state.file == nullptr && !state.refused) open_file();
  return state.file != nullptr ? *state.file : state.before;
}

size_t home(uint64_t address) {
  return address * 0x9e3779b97f4a7c15U >> 44;
}
static_assert(kSlots == size_t{1} << (64 - 44));

size_t place(uint64_t address) {
  size_t at = home(address);
  while (state.blocks[at].address != 0 && state.blocks[at].address != address) {
    at = (at + 1) % kSlots;
  }
  return at;
}

void remember(const void* block, size_t bytes) {
  if (block == nullptr) return;
  const Locked locked;
  Totals& sums = totals();
  sums.allocated_bytes += bytes;
  sums.allocated_blocks += 1;
  if (state.used > kSlots / 4 * 3) {
    ++sums.lost;
    return;
  }
  const auto address = reinterpret_cast<uint64_t>(block);
  Block& slot = state.blocks[place(address)];
  if (slot.address == 0) ++state.used;
  slot = {address, bytes};
}

// Closes the gap at `hole`: what stands behind it and belongs before it moves up.
void close_gap(size_t hole) {
  for (size_t next = (hole + 1) % kSlots; state.blocks[next].address != 0;
       next = (next + 1) % kSlots) {
    const size_t wanted = home(state.blocks[next].address);
    if ((next - wanted) % kSlots < (next - hole) % kSlots) continue;
    state.blocks[hole] = state.blocks[next];
    hole = next;
  }
  state.blocks[hole].address = 0;
}

// Before the block is given back: afterwards its address may be another thread's.
bool forget(const void* block, size_t& bytes) {
  if (block == nullptr) return false;
  const Locked locked;
  Totals& sums = totals();
  const size_t at = place(reinterpret_cast<uint64_t>(block));
  if (state.blocks[at].address == 0) return false;
  bytes = state.blocks[at].bytes;
  sums.freed_bytes += bytes;
  sums.freed_blocks += 1;
  --state.used;
  close_gap(at);
  return true;
}

// The block stays after all: as if forget() had not been.
void keep(const void* block, size_t bytes) {
  remember(block, bytes);
  const Locked locked;
  Totals& sums = totals();
  sums.allocated_bytes -= bytes;
  sums.allocated_blocks -= 1;
  sums.freed_bytes -= bytes;
  sums.freed_blocks -= 1;
}

void* counted(void* block, size_t bytes) {
  remember(block, bytes);
  return block;
}

}  // namespace

extern "C" {

void* malloc(size_t bytes) {
  return counted(__libc_malloc(bytes), bytes);
}

void* calloc(size_t count, size_t each) {
  return counted(__libc_calloc(count, each), count * each);
}

void* realloc(void* block, size_t bytes) {
  size_t old = 0;
  const bool known = forget(block, old);
  void* fresh = __libc_realloc(block, bytes);
  if (fresh == nullptr && bytes != 0 && known) keep(block, old);
  return counted(fresh, bytes);
}

void free(void* block) {
  size_t bytes = 0;
  forget(block, bytes);
  __libc_free(block);
}

void* memalign(size_t alignment, size_t bytes) {
  return counted(__libc_memalign(alignment, bytes), bytes);
}

void* aligned_alloc(size_t alignment, size_t bytes) {
  return counted(__libc_memalign(alignment, bytes), bytes);
}

int posix_memalign(void** out, size_t alignment, size_t bytes) {
  if (alignment % sizeof(void*) != 0 || alignment == 0 || (alignment & (alignment - 1)) != 0) {
    return EINVAL;
  }
  void* block = __libc_memalign(alignment, bytes);
  if (block == nullptr) return ENOMEM;
  *out = counted(block, bytes);
  return 0;
}

void* valloc(size_t bytes) {
  return counted(__libc_valloc(bytes), bytes);
}

void* pvalloc(size_t bytes) {
  return counted(__libc_pvalloc(bytes), bytes);
}

}  // extern "C"
