// SPDX-License-Identifier: Apache-2.0
#include "tracer/process.h"

#include <pthread.h>

#include <cstring>

#include "tracer/account.h"
#include "tracer/holdings.h"
#include "tracer/patience.h"
#include "tracer/sampler.h"
#include "tracer/segment_file.h"
#include "tracer/stack.h"
#include "tracer/system_calls.h"
#include "tracer/thread_state.h"

namespace plateau::trace {

constinit Tables tables{};
constinit Process process{};
thread_local constinit ThreadState thread_state{};

namespace {

constexpr char kVariable[] = "PLATEAU_HEAP=";

const char* find_spec() noexcept {
  for (char** entry = environ; *entry != nullptr; ++entry) {
    if (strncmp(*entry, kVariable, sizeof(kVariable) - 1) == 0) {
      return *entry + sizeof(kVariable) - 1;
    }
  }
  return nullptr;
}

uint32_t log2_of(uint64_t bytes) noexcept {
  uint32_t log2 = 0;
  while (bytes > 1) {
    bytes >>= 1;
    ++log2;
  }
  return log2 < kMinIntervalLog2   ? kMinIntervalLog2
         : log2 > kMaxIntervalLog2 ? kMaxIntervalLog2
                                   : log2;
}

// A whole decimal number; false if `text` is anything else.
bool read_number(const char* text, uint64_t& out) noexcept {
  if (*text == '\0') {
    return false;
  }
  uint64_t value = 0;
  for (; *text != '\0'; ++text) {
    if (*text < '0' || *text > '9' || value > (UINT64_MAX - 9) / 10) {
      return false;
    }
    value = value * 10 + static_cast<uint64_t>(*text - '0');
  }
  out = value;
  return true;
}

struct Spec {
  size_t directory_bytes = 0;
  bool exact = false;
  uint64_t interval_bytes = 0;
};

bool read_spec(const char* text, Spec& out) noexcept {
  const char* mode = strchr(text, ':');
  const char* interval = mode != nullptr ? strchr(mode + 1, ':') : nullptr;
  if (interval == nullptr || mode == text) {
    return false;
  }
  out.directory_bytes = static_cast<size_t>(mode - text);
  const auto mode_bytes = static_cast<size_t>(interval - mode - 1);
  out.exact = mode_bytes == 5 && memcmp(mode + 1, "exact", 5) == 0;
  const bool sampled = mode_bytes == 7 && memcmp(mode + 1, "sampled", 7) == 0;
  return (out.exact || sampled) && read_number(interval + 1, out.interval_bytes) &&
         (out.exact || out.interval_bytes > 0) && out.directory_bytes < kMaxDirectoryBytes;
}

// Children are to find the tables empty.
bool protect_tables() noexcept {
  return sys_madvise(&tables, sizeof(tables), MADV_WIPEONFORK) == 0 && protect_holdings();
}

// The same without a call, for children that libc makes.
void empty_tables() noexcept {
  memset(static_cast<void*>(&tables), 0, sizeof(tables));
  empty_holdings();
}

// What may be called under the filters that were there when tracing began: this is known from the
// first segment that the recorder made. False if the tables cannot be kept from children.
bool settle_filters(const SegmentHeader& segment) noexcept {
  if (process.filters == 0 || process.segment.load(std::memory_order_relaxed) != nullptr) {
    return true;
  }
  if (process.filters == segment.filters) {
    process.may_call.store(MayCall::anything, std::memory_order_relaxed);
    return protect_tables();
  }
  return pthread_atfork(nullptr, nullptr, empty_tables) == 0;
}

}  // namespace

void switch_off() noexcept {
  process.mode.store(Mode::off, std::memory_order_relaxed);
  process.filter_mask.store(0, std::memory_order_relaxed);
  tables.filter.set(0, 0);
}

bool configure_from(const char* text) noexcept {
  Spec spec;
  if (!read_spec(text, spec)) {
    return false;
  }
  process.filters = count_filters();
  if (process.filters != 0) {
    process.may_call.store(MayCall::loaders, std::memory_order_relaxed);
  } else if (!protect_tables()) {
    return false;
  }
  memcpy(process.directory, text, spec.directory_bytes);
  process.directory[spec.directory_bytes] = '\0';
  process.first_interval_log2 = spec.exact ? 0 : log2_of(spec.interval_bytes);
  process.interval_log2.store(process.first_interval_log2, std::memory_order_relaxed);
  find_account();
  process.filter_mask.store(spec.exact ? 0 : kFilterSlots - 1, std::memory_order_relaxed);
  process.mode.store(spec.exact ? Mode::exact : Mode::sampled, std::memory_order_release);
  return true;
}

void begin_anew() noexcept {
  if (tables.owner.load(std::memory_order_acquire) <= kSettingUp) {
    return;
  }
  tables.stacks.clear();
  lose_patience_no_more();
  tables.owner.store(kNoOwner, std::memory_order_release);
}

Mode configure() noexcept {
  const Mode mode = process.mode.load(std::memory_order_acquire);
  if (mode != Mode::unset || (environ == nullptr && !process.started)) {
    return mode;
  }
  uint32_t nobody = 0;
  if (!process.configuring.compare_exchange_strong(nobody, 1)) {
    return process.mode.load(std::memory_order_acquire);
  }
  const char* spec = environ != nullptr ? find_spec() : nullptr;
  if (spec == nullptr || !configure_from(spec)) {
    switch_off();
  }
  return process.mode.load(std::memory_order_acquire);
}

void stop_tracing(SegmentState state) noexcept {
  switch_off();
  if (tables.owner.load(std::memory_order_acquire) == owner_word(sys_getpid())) {
    process.segment.load(std::memory_order_relaxed)->state.store(state, std::memory_order_release);
  }
}

namespace {

// One that the recorder holds ready, else one of our own. In that order: the former takes none but
// calls of the loader.
SegmentHeader* find_segment(bool& told) noexcept {
  const SegmentRequest request{.directory = process.directory,
                               .exact = process.first_interval_log2 == 0,
                               .interval_log2 = process.first_interval_log2,
                               .small = process.segment.load(std::memory_order_relaxed) != nullptr};
  SegmentHeader* segment = may_call(MayCall::loaders) ? claim_segment(request) : nullptr;
  if (segment == nullptr && may_call(MayCall::anything)) {
    segment = create_segment(request, told);
  }
  return segment;
}

}  // namespace

SegmentHeader* start_segment() noexcept {
  uint32_t owner = kNoOwner;
  if (!tables.owner.compare_exchange_strong(owner, kSettingUp, std::memory_order_acquire)) {
    return owner > kSettingUp ? process.segment.load(std::memory_order_relaxed) : nullptr;
  }
  bool told = false;
  SegmentHeader* segment = find_segment(told);
  if (segment == nullptr || !settle_filters(*segment)) {
    // Told through the parent's segment, which is still mapped, where there is one.
    SegmentHeader* parents = process.segment.load(std::memory_order_relaxed);
    if (parents != nullptr && !told) {
      parents->silent_children.fetch_add(1, std::memory_order_relaxed);
    }
    switch_off();
    return nullptr;
  }
  const bool another = process.segment.load(std::memory_order_relaxed) != nullptr;
  process.interval_log2.store(process.first_interval_log2, std::memory_order_relaxed);
  // Known without asking, so that a process too short to be asked says it too.
  segment->account.allocator.store(static_cast<uint32_t>(allocator_in_use()),
                                   std::memory_order_relaxed);
  process.segment.store(segment, std::memory_order_relaxed);
  if (process.mode.load(std::memory_order_relaxed) == Mode::exact) {
    tables.filter.set(0, 1);
  }
  tables.owner.store(owner_word(static_cast<pid_t>(segment->pid.load(std::memory_order_relaxed))),
                     std::memory_order_release);
  if (another) {
    process.forked.store(true, std::memory_order_relaxed);
    announce_all_again();
  }
  return segment;
}

// At 3/4 of the table, and then each time half of what is left is gone.
void make_room_for_samples(SegmentHeader& segment) noexcept {
  constexpr size_t kCapacity = decltype(tables.blocks)::capacity();
  uint32_t now = process.interval_log2.load(std::memory_order_relaxed);
  const uint32_t doublings = now - process.first_interval_log2;
  const size_t left = kCapacity >> (doublings < 8 ? doublings + 2 : 10);
  if (tables.blocks.size() <= kCapacity - left || now >= kMaxIntervalLog2) {
    return;
  }
  if (process.interval_log2.compare_exchange_strong(now, now + 1, std::memory_order_relaxed)) {
    segment.interval_log2.store(now + 1, std::memory_order_relaxed);
  }
}

}  // namespace plateau::trace
