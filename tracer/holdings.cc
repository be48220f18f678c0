// SPDX-License-Identifier: Apache-2.0
#include "tracer/holdings.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstring>

#include "tracer/lane_writer.h"
#include "tracer/process.h"
#include "tracer/stack.h"
#include "tracer/system_calls.h"

namespace plateau::trace {
namespace {

// Holdings have addresses of their own, above all memory of a program and far apart.
constexpr uint64_t kFirstAddress = uint64_t{1} << 63;
constexpr uint64_t kAddressStep = uint64_t{1} << 44;
constexpr size_t kPagesPerLook = 512;

struct alignas(kPageBytes) HoldingTable {
  std::atomic<uint64_t> claimed;  // Ever; the next place to look for an empty entry.
  std::atomic<uint64_t> turn;     // Of those that are measured in turn.
  std::atomic<uint64_t> mapped_files;
  Holding entries[kMaxHoldings];
};
constinit HoldingTable table{};

// Keeps hooks that are entered from here on from tracing, and the program's errno.
class Looking {
 public:
  Looking() noexcept : errno_(errno), before_(thread_state.busy) {
    thread_state.busy = Busy::looking;
  }
  ~Looking() {
    thread_state.busy = before_;
    errno = errno_;
  }
  Looking(const Looking&) = delete;
  Looking& operator=(const Looking&) = delete;

 private:
  int errno_;
  Busy before_;
};

uint64_t address_of(const Holding& holding) noexcept {
  return kFirstAddress + static_cast<uint64_t>(&holding - table.entries) * kAddressStep;
}

template <typename Fixed>
bool put_fixed(const Fixed& record) noexcept {
  const Piece piece{&record, sizeof(record)};
  return put_record(&piece, 1);
}

bool put_stack(const RawStack& stack) noexcept {
  const StackRecord head{.head = {.type = RecordType::stack},
                         .id = stack.id,
                         .native = static_cast<uint16_t>(stack.native),
                         .python = static_cast<uint16_t>(stack.python),
                         .truncated = static_cast<uint16_t>(stack.truncated)};
  const Piece pieces[] = {{&head, sizeof(head)},
                          {stack.native_frames, stack.native * sizeof(stack.native_frames[0])},
                          {stack.python_frames, stack.python * sizeof(stack.python_frames[0])}};
  return put_record(pieces, 3);
}

// The stack of the caller, told to the recorder; 0 if that failed.
[[gnu::noinline]] uint64_t tell_call_stack(Site site) noexcept {
  alignas(RawStack) unsigned char storage[sizeof(RawStack)];
  RawStack& stack = *reinterpret_cast<RawStack*>(storage);
  stack.id = 0;
  stack.native = stack.python = stack.truncated = 0;
  capture_stack(stack, site.caller, site.frame);
  if (stack.id == 0 || (!tables.stacks.contains(stack.id) && !put_stack(stack))) {
    return 0;
  }
  tables.stacks.insert(stack.id);
  return stack.id;
}

// What was told is taken back.
bool tell_nothing(Holding& holding) noexcept {
  if (holding.told_bytes == 0) {
    return true;
  }
  const bool told = holding.kind == BlockKind::shared
                        ? put_fixed(UnmapRecord{.head = {.type = RecordType::unmap},
                                                .address = address_of(holding),
                                                .bytes = holding.told_bytes,
                                                .stamp = trace_stamp()})
                        : put_fixed(FreeRecord{.head = {.type = RecordType::free},
                                               .address = address_of(holding),
                                               .stamp = trace_stamp()});
  if (told) {
    holding.told_bytes = 0;
  }
  return told;
}

void tell_bytes(Holding& holding, uint64_t bytes) noexcept {
  if (bytes == holding.told_bytes || !tell_nothing(holding) || bytes == 0) {
    return;
  }
  if (put_fixed(AllocRecord{
          .head = {.type = RecordType::alloc, .kind = static_cast<uint8_t>(holding.kind)},
          .address = address_of(holding),
          .bytes = bytes,
          .stack = holding.call_stack,
          .stamp = trace_stamp()})) {
    holding.told_bytes = bytes;
  }
}

// Resident bytes of a thread's stack, from its end down to the first long stretch without any.
uint64_t touched_stack(const Holding& holding) noexcept {
  uint64_t end = holding.stack_end.load(std::memory_order_acquire);
  if (end == 0) {
    return 0;
  }
  const uint64_t begin = end - holding.stack_bytes;
  uint64_t pages = 0;
  while (end > begin) {
    const uint64_t left = (end - begin) / kPageBytes;
    const uint64_t look = left < kPagesPerLook ? left : kPagesPerLook;
    unsigned char resident[kPagesPerLook];
    end -= look * kPageBytes;
    if (look == 0 || !sys_mincore(end, look * kPageBytes, resident)) {
      break;
    }
    uint64_t here = 0;
    for (uint64_t i = 0; i < look; ++i) {
      here += resident[i] & 1U;
    }
    if (here == 0) {
      break;
    }
    pages += here;
  }
  return pages * kPageBytes;
}

struct FileLook {
  bool there = false;
  uint64_t bytes = 0;
};

// "/dev/shm/" and a name.
struct NamedFile {
  char path[16 + kMaxFileName];
  explicit NamedFile(const char* name) noexcept {
    memcpy(path, "/dev/shm/", 10);
    const size_t length = strnlen(name, kMaxFileName - 1);
    memcpy(path + 9, name, length);
    path[9 + length] = '\0';
  }
};

FileLook look_at_file(const Holding& holding) noexcept {
  struct stat about{};
  const auto is_it = [&] {
    return about.st_dev == holding.device && about.st_ino == holding.inode;
  };
  const bool there =
      (sys_fstat(holding.fd, about) && is_it()) ||
      (holding.name[0] != '\0' && sys_stat(NamedFile(holding.name).path, about) && is_it());
  return there ? FileLook{true, static_cast<uint64_t>(about.st_blocks) * 512} : FileLook{};
}

void become_empty(Holding& holding) noexcept {
  tell_nothing(holding);
  if (holding.mapped_at.exchange(0, std::memory_order_relaxed) != 0) {
    table.mapped_files.fetch_sub(1, std::memory_order_relaxed);
  }
  holding.state.store(HoldingState::empty, std::memory_order_release);
}

// False if there was nothing to measure.
bool measure(Holding& holding) noexcept {
  HoldingState state = HoldingState::idle;
  if (!holding.state.compare_exchange_strong(state, HoldingState::busy,
                                             std::memory_order_acquire)) {
    return false;
  }
  if (holding.kind == BlockKind::stack) {
    tell_bytes(holding, touched_stack(holding));
  } else {
    const FileLook file = look_at_file(holding);
    if (!file.there) {
      become_empty(holding);
      return true;
    }
    const bool mapped = holding.mapped_at.load(std::memory_order_relaxed) != 0;
    tell_bytes(holding, mapped ? 0 : file.bytes);
  }
  state = HoldingState::busy;
  if (!holding.state.compare_exchange_strong(state, HoldingState::idle,
                                             std::memory_order_acq_rel)) {
    become_empty(holding);
  }
  return true;
}

bool may_look() noexcept {
  return may_call(MayCall::anything);
}

// How far the table has been used.
size_t used_entries() noexcept {
  const uint64_t claimed = table.claimed.load(std::memory_order_relaxed);
  return claimed < kMaxHoldings ? static_cast<size_t>(claimed) : kMaxHoldings;
}

}  // namespace

bool protect_holdings() noexcept {
  return sys_madvise(&table, sizeof(table), MADV_WIPEONFORK) == 0;
}

void empty_holdings() noexcept {
  memset(static_cast<void*>(&table), 0, sizeof(table));
}

bool threads_wanted() noexcept {
  return mappings_wanted() && process.mode.load(std::memory_order_relaxed) != Mode::unset;
}

bool holdings_wanted() noexcept {
  return threads_wanted() && may_look();
}

Holding* claim_holding(BlockKind kind, Site site) noexcept {
  const Looking looking;
  if (current_segment() == nullptr) {
    return nullptr;
  }
  constexpr size_t kTries = 64;
  for (size_t i = 0; i < kTries; ++i) {
    Holding& holding =
        table.entries[table.claimed.fetch_add(1, std::memory_order_relaxed) % kMaxHoldings];
    HoldingState state = HoldingState::empty;
    if (!holding.state.compare_exchange_strong(state, HoldingState::claimed,
                                               std::memory_order_acquire)) {
      continue;
    }
    holding.kind = kind;
    holding.told_bytes = 0;
    holding.stack_end.store(0, std::memory_order_relaxed);
    holding.thread.store(0, std::memory_order_relaxed);
    holding.mapped_at.store(0, std::memory_order_relaxed);
    holding.name[0] = '\0';
    holding.call_stack = tell_call_stack(site);
    return &holding;
  }
  return nullptr;
}

void publish_holding(Holding& holding) noexcept {
  holding.state.store(HoldingState::idle, std::memory_order_release);
}

void end_holding(Holding& holding) noexcept {
  const Looking looking;
  HoldingState state = HoldingState::idle;
  if (holding.state.compare_exchange_strong(state, HoldingState::busy, std::memory_order_acquire)) {
    become_empty(holding);
    return;
  }
  // If that fails too, who measured has just finished.
  if (state == HoldingState::busy &&
      !holding.state.compare_exchange_strong(state, HoldingState::ended_meanwhile,
                                             std::memory_order_acq_rel) &&
      state == HoldingState::idle &&
      holding.state.compare_exchange_strong(state, HoldingState::busy, std::memory_order_acquire)) {
    become_empty(holding);
  }
}

void measure_holdings(size_t others) noexcept {
  const size_t used = used_entries();
  if (used == 0 || !may_look()) {
    return;
  }
  const Looking looking;
  const uint64_t claimed = table.claimed.load(std::memory_order_relaxed);
  for (size_t i = 1; i <= kNewestPerLook && i <= used; ++i) {
    measure(table.entries[(claimed - i) % kMaxHoldings]);
  }
  for (size_t i = 0; others > 0 && i < used; ++i) {
    const uint64_t turn = table.turn.fetch_add(1, std::memory_order_relaxed);
    others -= measure(table.entries[turn % used]) ? 1 : 0;
  }
}

void note_memory_file(int fd, const char* name, Site site) noexcept {
  const Looking looking;
  measure_holdings(0);
  struct stat about{};
  if (!sys_fstat(fd, about)) {
    return;
  }
  Holding* holding = claim_holding(BlockKind::shared, site);
  if (holding == nullptr) {
    return;
  }
  holding->fd = fd;
  holding->device = about.st_dev;
  holding->inode = about.st_ino;
  if (name != nullptr) {
    while (*name == '/') {
      ++name;
    }
    // A name that is too long is not kept: the file is then over when its descriptor is closed.
    const size_t length = strnlen(name, kMaxFileName);
    if (length < kMaxFileName) {
      memcpy(holding->name, name, length + 1);
    }
  }
  publish_holding(*holding);
}

void note_file_mapped(int fd, const void* at) noexcept {
  for (size_t i = 0, used = used_entries(); i < used; ++i) {
    Holding& holding = table.entries[i];
    if (holding.state.load(std::memory_order_acquire) == HoldingState::empty ||
        holding.kind != BlockKind::shared || holding.fd != fd) {
      continue;
    }
    uint64_t nowhere = 0;
    if (holding.mapped_at.compare_exchange_strong(nowhere, reinterpret_cast<uint64_t>(at),
                                                  std::memory_order_relaxed)) {
      table.mapped_files.fetch_add(1, std::memory_order_relaxed);
      const Looking looking;
      measure(holding);
    }
  }
}

void note_file_unmapped(const void* at) noexcept {
  if (table.mapped_files.load(std::memory_order_relaxed) == 0) {
    return;
  }
  for (size_t i = 0, used = used_entries(); i < used; ++i) {
    uint64_t there = reinterpret_cast<uint64_t>(at);
    if (table.entries[i].mapped_at.compare_exchange_strong(there, 0, std::memory_order_relaxed)) {
      table.mapped_files.fetch_sub(1, std::memory_order_relaxed);
      const Looking looking;
      measure(table.entries[i]);
      return;
    }
  }
}

}  // namespace plateau::trace
