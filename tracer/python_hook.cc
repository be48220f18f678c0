// SPDX-License-Identifier: Apache-2.0
// Small Python objects. CPython serves requests of up to 512 bytes from arenas of its own, which
// malloc never sees; larger ones it passes on. Its public interface lets anybody put functions in
// front of that allocator: ours call the ones that were there, and sample what is small.
//
// When. The interpreter must be up and this thread must hold its lock, because the table of
// functions is changed while nobody else may call it. Both hold at some sample soon enough: the
// first one that is taken while Python code runs.
//
// Cost. Two more indirect calls, a countdown and a filter look-up per object come to 5 ns, which is
// a tenth of what a program that only makes small objects spends; every object in full would be
// twelve times as slow. So these objects are sampled, also in exact mode (each record says at which
// rate), and they are hooked in exact mode only. Without the hook new arenas still are told with
// their stacks: growth made of small objects shows there, 256 KiB or 1 MiB at a time.
//
// When not. If another tool stands in front already, or the program chose malloc or the debug
// functions for small objects (PYTHONMALLOC): then the original is not CPython's small-object
// allocator, blocks are malloc's and seen there. Free-threaded builds are not known at all.
//
// A block that realloc shrinks from above 512 bytes stays malloc's block, and malloc's hook has
// counted it by then: the thread's countdown, which every counted block moves, tells.
//
// The functions run under the interpreter's lock, so what they share needs no care; it is atomic
// because interpreters of one process may have a lock each.
#include <atomic>
#include <cerrno>
#include <cstddef>

#include "tracer/address_set.h"
#include "tracer/blocks.h"
#include "tracer/lane_writer.h"
#include "tracer/process.h"
#include "tracer/python.h"
#include "tracer/sampler.h"
#include "tracer/stack.h"
#include "tracer/thread_state.h"

namespace plateau::trace {
namespace {

constexpr size_t kMaxSmallBytes = 512;
constexpr uint32_t kIntervalLog2 = 16;

enum class HookState : uint32_t { open, installing, installed, refused };

// All of the hook's state.
struct SmallObjects {
  std::atomic<HookState> state{HookState::open};
  PythonAllocator originals[2];  // Of the domains mem and object.
  std::atomic<int64_t> countdown{0};
  uint64_t random = 0x8c5fb1d3a2e94d07;
  AddressFilter filter;
  AddressSet<size_t{1} << 15> blocks;  // Sampled and alive.
};
constinit SmallObjects g_small{};

bool is_small(size_t bytes) {
  return bytes - 1 < kMaxSmallBytes;
}

bool small_alloc_due(size_t bytes) {
  const int64_t left =
      g_small.countdown.load(std::memory_order_relaxed) - static_cast<int64_t>(bytes);
  g_small.countdown.store(left, std::memory_order_relaxed);
  return left < 0;
}

bool small_free_due(const void* block) {
  return g_small.filter.at(AddressFilter::index(reinterpret_cast<uint64_t>(block))) != 0;
}

bool forget_small(uint64_t address) {
  if (!g_small.blocks.remove(address)) return false;
  g_small.filter.remove(address);
  return true;
}

bool put_small(uint64_t address, size_t bytes, const RawStack& stack) {
  const StackRecord head{.head = {.type = RecordType::stack},
                         .id = stack.id,
                         .native = static_cast<uint16_t>(stack.native),
                         .python = static_cast<uint16_t>(stack.python),
                         .truncated = static_cast<uint16_t>(stack.truncated)};
  const Piece pieces[] = {{&head, sizeof head},
                          {stack.native_frames, stack.native * sizeof stack.native_frames[0]},
                          {stack.python_frames, stack.python * sizeof stack.python_frames[0]}};
  const AllocRecord alloc{.head = {.type = RecordType::alloc,
                                   .kind = static_cast<uint8_t>(BlockKind::python),
                                   .note = kIntervalLog2},
                          .address = address,
                          .bytes = bytes,
                          .stack = stack.id,
                          .stamp = trace_stamp()};
  const Piece piece{&alloc, sizeof alloc};
  return put_record(pieces, 3) && put_record(&piece, 1);
}

[[gnu::noinline]] void note_small_alloc(const void* block, size_t bytes, Site site) {
  g_small.countdown.store(draw_distance(g_small.random, kIntervalLog2), std::memory_order_relaxed);
  ThreadState& thread = thread_state;
  if (block == nullptr || thread.busy != Busy::idle) return;
  if (process.mode.load(std::memory_order_relaxed) != Mode::exact) return;
  const int saved_errno = errno;
  thread.busy = Busy::looking;
  if (SegmentHeader* segment = current_segment()) {
    segment->samples.fetch_add(1, std::memory_order_relaxed);
    RawStack stack;
    capture_stack(stack, site.caller, site.frame);
    const auto address = reinterpret_cast<uint64_t>(block);
    const bool known = g_small.blocks.insert(address);
    if (known) g_small.filter.add(address);
    if (!known || !put_small(address, bytes, stack)) {
      segment->dropped_allocs.fetch_add(1, std::memory_order_relaxed);
      forget_small(address);
    }
  }
  thread.busy = Busy::idle;
  errno = saved_errno;
}

[[gnu::noinline]] void note_small_free(const void* block) {
  const auto address = reinterpret_cast<uint64_t>(block);
  if (!forget_small(address)) return;
  if (process.mode.load(std::memory_order_relaxed) != Mode::exact) return;
  const FreeRecord record{
      .head = {.type = RecordType::free}, .address = address, .stamp = trace_stamp()};
  const Piece piece{&record, sizeof record};
  put_record(&piece, 1);
}

const PythonAllocator& original(void* context) {
  return *static_cast<const PythonAllocator*>(context);
}

void* python_malloc(void* context, size_t bytes) {
  const PythonAllocator& real = original(context);
  void* block = real.malloc(real.context, bytes);
  if (is_small(bytes) && small_alloc_due(bytes)) [[unlikely]] {
    note_small_alloc(block, bytes, PLATEAU_SITE);
  }
  return block;
}

void* python_calloc(void* context, size_t count, size_t bytes) {
  const PythonAllocator& real = original(context);
  void* block = real.calloc(real.context, count, bytes);
  size_t total = 0;
  if (!__builtin_mul_overflow(count, bytes, &total) && is_small(total) && small_alloc_due(total))
      [[unlikely]] {
    note_small_alloc(block, total, PLATEAU_SITE);
  }
  return block;
}

void* python_realloc(void* context, void* block, size_t bytes) {
  const PythonAllocator& real = original(context);
  if (small_free_due(block)) [[unlikely]] {
    note_small_free(block);
  }
  // Below zero its value means nothing (every block is due); -2 is one that malloc's hook changes.
  int64_t& countdown = thread_state.countdown;
  if (countdown < 0) countdown = -2;
  const int64_t before = countdown;
  void* moved = real.realloc(real.context, block, bytes);
  const bool counted = countdown != before;
  if (!counted && is_small(bytes) && small_alloc_due(bytes)) [[unlikely]] {
    note_small_alloc(moved, bytes, PLATEAU_SITE);
  }
  return moved;
}

void python_free(void* context, void* block) {
  const PythonAllocator& real = original(context);
  if (small_free_due(block)) [[unlikely]] {
    note_small_free(block);
  }
  real.free(real.context, block);
}

bool inside(const PythonInterpreter& python, const void* function) {
  const auto address = reinterpret_cast<uint64_t>(function);
  return address >= python.begin && address < python.end;
}

// CPython's small-object allocator has no context and is not the one of the raw domain.
bool is_small_object_allocator(const PythonInterpreter& python, const PythonAllocator& allocator,
                               const PythonAllocator& raw) {
  return allocator.context == nullptr && allocator.malloc != raw.malloc &&
         inside(python, reinterpret_cast<const void*>(allocator.malloc)) &&
         inside(python, reinterpret_cast<const void*>(allocator.free));
}

HookState install(const PythonInterpreter& python) {
  constexpr PythonDomain kDomains[2] = {PythonDomain::mem, PythonDomain::object};
  PythonAllocator raw;
  python.get_allocator(PythonDomain::raw, &raw);
  for (int i = 0; i < 2; ++i) {
    python.get_allocator(kDomains[i], &g_small.originals[i]);
    if (!is_small_object_allocator(python, g_small.originals[i], raw)) return HookState::refused;
  }
  g_small.random ^= trace_stamp() | 1;
  g_small.countdown = draw_distance(g_small.random, kIntervalLog2);
  for (int i = 0; i < 2; ++i) {
    PythonAllocator ours{.context = &g_small.originals[i],
                         .malloc = python_malloc,
                         .calloc = python_calloc,
                         .realloc = python_realloc,
                         .free = python_free};
    python.set_allocator(kDomains[i], &ours);
  }
  return HookState::installed;
}

}  // namespace

void hook_python_objects(const PythonInterpreter& python) noexcept {
  HookState open = HookState::open;
  if (g_small.state.load(std::memory_order_relaxed) != open) return;
  if (process.mode.load(std::memory_order_relaxed) != Mode::exact || python.holds_gil() == 0)
    return;
  if (!g_small.state.compare_exchange_strong(open, HookState::installing)) return;
  g_small.state.store(install(python), std::memory_order_release);
  tell_about_python();
}

void tell_about_python() noexcept {
  const PythonInterpreter* python = python_interpreter();
  SegmentHeader* segment = process.segment.load(std::memory_order_relaxed);
  if (python == nullptr || segment == nullptr) return;
  const bool hooked = g_small.state.load(std::memory_order_acquire) == HookState::installed;
  segment->python_minor.store(static_cast<uint32_t>(python->layout->minor),
                              std::memory_order_relaxed);
  segment->python_hooked.store(hooked ? 1 : 0, std::memory_order_relaxed);
}

}  // namespace plateau::trace
