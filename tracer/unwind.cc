// SPDX-License-Identifier: Apache-2.0
// Question: which calls led here? It is asked inside malloc, up to millions of times a second.
//
// Method. Debian's libraries have no frame pointers, so each step needs the rule of its place in
// the code (cfi.cc: binary search and a small interpreter, some hundred nanoseconds). But a program
// has only some thousand call sites that ever lead to malloc, and the rule of a call site never
// changes while its object is loaded. So rules are kept in a direct-mapped table from the address
// to the rule, packed into one word:
//
//     bits  0-2   FrameBase            bits  5-31  cfa_offset, signed
//     bits  3-4   SavedFramePointer    bits 32-47  saved_offset, signed
//     bits 48-63  generation
//
// Worked example. Return address 0x401234, rsp = 0x7ffd1000, rule "CFA = rsp + 48, rbp at CFA -
// 16": CFA = 0x7ffd1030, the next return address is the word at 0x7ffd1028, the caller's rbp the
// word at 0x7ffd1020, and the caller's rsp is the CFA. One table line and two stack words per
// frame.
//
// The table is shared by all threads without locks. An entry is two words, rule and check, with
// check = address ^ rule * odd constant: a reader that meets half of one entry and half of another
// finds that the check does not fit and learns the rule anew. A new generation makes all entries
// unfit at once (dlclose may put other code at the same address).
//
// The outer frames of most stacks are those of the stack before: walk_memo.h takes them over.
//
// A child that was forked finds its parent's rules there, and learns those of the code that only
// children run: writing each to its place would copy a page of the table each time, some fifteen
// for a shell's subshell. So a child's first rules go to a table of 2 KB on a page that it writes
// to anyway (Tables::young_rules), and only what finds its place taken there goes to the large one.
//
// Each step must move the stack pointer up and stay inside the stack (stack_bounds.h); the kernel's
// signal frame alone may lead to another stack. Code without call frame information, such as what
// a JIT writes, is passed by its frame pointer if that is plausible.
//
// Blind spots. Code without both frame information and frame pointers ends the walk early. Within
// prologues that realign the stack, an interrupted pc ends it too. On arm64 only frame pointers
// are followed: Debian builds its arm64 libraries with them.
#include "tracer/unwind.h"

#include <atomic>
#include <cstddef>

#include "tracer/cfi.h"
#include "tracer/mix.h"
#include "tracer/objects.h"
#include "tracer/process.h"
#include "tracer/python.h"
#include "tracer/stack_bounds.h"
#include "tracer/walk_memo.h"

namespace plateau::trace {
namespace {

constexpr uint64_t kMinCodeAddress = 0x10000;
constexpr uint64_t kMaxCodeAddress = uint64_t{1} << 47;

// Beyond this a frame pointer that is only guessed to be one leads to another stack.
constexpr uint64_t kMaxGuessedFrameBytes = uint64_t{1} << 20;

constexpr uint64_t kRulePlaces = uint64_t{1} << 14;  // 256 KiB, touched as it is used.
alignas(64) KeptRule g_rules[kRulePlaces];
std::atomic<uint32_t> g_generation{1};

// Beyond the values of FrameBase: the address lies in no object.
constexpr uint64_t kBaseNoObject = 7;

constexpr uint64_t pack(const UnwindRule& rule) {
  return static_cast<uint64_t>(rule.base) | static_cast<uint64_t>(rule.saved) << 3 |
         (static_cast<uint64_t>(rule.cfa_offset) & 0x7ffffff) << 5 |
         (static_cast<uint64_t>(rule.saved_offset) & 0xffff) << 32;
}
constexpr uint64_t base_of(uint64_t packed) {
  return packed & 7;
}
constexpr uint64_t saved_of(uint64_t packed) {
  return (packed >> 3) & 3;
}
// Offsets, sign-extended.
constexpr uint64_t cfa_offset_of(uint64_t packed) {
  return static_cast<uint64_t>(static_cast<int64_t>(packed << 32) >> 37);
}
constexpr uint64_t saved_offset_of(uint64_t packed) {
  return static_cast<uint64_t>(static_cast<int64_t>(packed << 16) >> 48);
}
static_assert(cfa_offset_of(pack({.base = FrameBase::frame_pointer,
                                  .saved = SavedFramePointer::at_cfa,
                                  .cfa_offset = -24,
                                  .saved_offset = -16})) == static_cast<uint64_t>(-24));
static_assert(saved_offset_of(pack({.base = FrameBase::frame_pointer,
                                    .saved = SavedFramePointer::at_cfa,
                                    .cfa_offset = -24,
                                    .saved_offset = -16})) == static_cast<uint64_t>(-16));

constexpr uint64_t raw(FrameBase base) {
  return static_cast<uint64_t>(base);
}
constexpr uint64_t raw(SavedFramePointer saved) {
  return static_cast<uint64_t>(saved);
}

inline KeptRule& place_of(uint64_t address) {
  return g_rules[(address ^ address >> 13) % kRulePlaces];
}

void keep(KeptRule& place, uint64_t address, uint64_t rule) {
  place.rule.store(rule, std::memory_order_relaxed);
  place.check.store(address ^ rule * kMixFactor, std::memory_order_relaxed);
}

// The rule that is kept in this place for the address; 0 if it is none or another's.
inline uint64_t kept_in(const KeptRule& place, uint64_t address, uint64_t generation) {
  const uint64_t rule = place.rule.load(std::memory_order_relaxed);
  const uint64_t check = place.check.load(std::memory_order_relaxed);
  const bool fits = (check ^ rule * kMixFactor) == address && rule >> 48 == generation;
  return fits ? rule : 0;
}

KeptRule& young_place_of(uint64_t address) {
  return tables.young_rules[(address ^ address >> 7) % kYoungRules];
}

// Works the rule out, tells the recorder about the object, and keeps the rule for the next time.
__attribute__((noinline)) uint64_t learn_rule(uint64_t address, uint64_t generation) {
  KeptRule& young = young_place_of(address);
  const bool is_child = process.forked.load(std::memory_order_relaxed);
  if (const uint64_t rule = is_child ? kept_in(young, address, generation) : 0) return rule;
  LoadedObject object;
  if (!find_object(address, object)) return kBaseNoObject;
  const Announced announced = announce_object(object);
  if (announced == Announced::now) look_for_python(object);
  const uint64_t rule = pack(find_unwind_rule(cfi_window(object), address)) | generation << 48;
  if (announced != Announced::failed) {
    const bool room = is_child && young.rule.load(std::memory_order_relaxed) == 0;
    keep(room ? young : place_of(address), address, rule);
  }
  return rule;
}

inline uint64_t rule_for(uint64_t address, uint64_t generation) {
  if (const uint64_t rule = kept_in(place_of(address), address, generation)) [[likely]] {
    return rule;
  }
  return learn_rule(address, generation);
}

// Reads words of the stack for a step. While a walk is being kept, each word read is a witness.
template <bool kKeep>
class StackReader {
 public:
  StackReader(WalkMemo* memo, const StackBounds& bounds) : memo_(memo), bounds_(bounds) {}

  void enter(uint64_t sp) {
    bounds_.enter(sp);
    anchored_ = anchored_ && bounds_.anchored();
  }
  // False if the word must not be read.
  bool read(uint64_t address, uint64_t& out) {
    if (!bounds_.readable(address)) return false;
    out = stack_word(address);
    if constexpr (kKeep) memo_->add_witness(address, out);
    return true;
  }
  // All stacks entered stay as long as the thread.
  bool anchored() const { return anchored_; }

 private:
  WalkMemo* memo_;
  StackBounds bounds_;
  bool anchored_ = true;
};

bool plausible_code(uint64_t address) {
  return address >= kMinCodeAddress && address < kMaxCodeAddress;
}

struct Registers {
  uint64_t pc = 0;
  uint64_t sp = 0;
  uint64_t fp = 0;
  bool interrupted = false;  // pc is the running instruction, not the one after a call.
};

// By the frame pointer: it points to the caller's, and the return address stands above.
template <typename Reader>
bool step_by_frame_pointer(Registers& registers, Reader& reader, bool in_object) {
  const uint64_t fp = registers.fp;
  if (fp % 8 != 0 || fp - registers.sp > kMaxGuessedFrameBytes) return false;
  uint64_t pc = 0;
  uint64_t caller_fp = 0;
  if (!reader.read(fp, caller_fp) || !reader.read(fp + 8, pc) || !plausible_code(pc)) return false;
  LoadedObject object;
  // Compiled code without frame information often has no frame pointer either; then what rbp
  // points to is no return address.
  if (in_object && !find_object(pc - 1, object)) return false;
  registers = {.pc = pc, .sp = fp + 16, .fp = caller_fp, .interrupted = false};
  return true;
}

#if defined(__x86_64__)

// Through the register file that the kernel saved for a signal handler.
template <typename Reader>
bool step_by_signal_frame(Registers& registers, Reader& reader) {
  constexpr uint64_t kSavedFramePointer = 120;
  constexpr uint64_t kSavedStackPointer = 160;
  constexpr uint64_t kSavedPc = 168;
  const uint64_t context = registers.sp;
  if (context % 8 != 0 || !reader.read(context + kSavedFramePointer, registers.fp) ||
      !reader.read(context + kSavedStackPointer, registers.sp) ||
      !reader.read(context + kSavedPc, registers.pc)) {
    return false;
  }
  registers.interrupted = true;
  reader.enter(registers.sp);
  return plausible_code(registers.pc);
}

// One step outwards; false at the end of the stack or of what is understood.
template <typename Reader>
inline bool step(Registers& registers, Reader& reader, uint64_t generation) {
  const uint64_t rule = rule_for(registers.pc - (registers.interrupted ? 0 : 1), generation);
  const uint64_t base = base_of(rule);
  uint64_t cfa = cfa_offset_of(rule);
  if (base == raw(FrameBase::stack_pointer)) [[likely]] {
    cfa += registers.sp;
  } else if (base == raw(FrameBase::frame_pointer)) {
    cfa += registers.fp;
  } else if (base == raw(FrameBase::frame_pointer_deref)) {
    cfa += registers.fp;
    if (cfa % 8 != 0 || !reader.read(cfa, cfa)) return false;
  } else if (base == raw(FrameBase::signal_frame)) {
    return step_by_signal_frame(registers, reader);
  } else if (base == raw(FrameBase::end)) {
    return false;
  } else {
    return step_by_frame_pointer(registers, reader, base != kBaseNoObject);
  }
  if (cfa <= registers.sp || cfa % 8 != 0) return false;
  if (saved_of(rule) != raw(SavedFramePointer::unchanged)) {
    const bool from_cfa = saved_of(rule) == raw(SavedFramePointer::at_cfa);
    const uint64_t place = (from_cfa ? cfa : registers.fp) + saved_offset_of(rule);
    if (!reader.read(place, registers.fp)) return false;
  }
  if (!reader.read(cfa - 8, registers.pc)) return false;
  registers.sp = cfa;
  registers.interrupted = false;
  return plausible_code(registers.pc);
}

#else

template <typename Reader>
inline bool step(Registers& registers, Reader& reader, uint64_t generation) {
  rule_for(registers.pc - 1, generation);  // Announces the object.
  return step_by_frame_pointer(registers, reader, false);
}

#endif

uint64_t written_for(const Registers& registers) {
  return registers.pc + (registers.interrupted ? 1 : 0);
}

// Takes the rest of the stack over from the kept walk.
void take_over(const KeptFrame* from, const KeptFrame* end, uint64_t power, uint64_t* frames,
               uint32_t room, Walk& walk) {
  walk.hash += power * from->tail_hash;
  for (; from != end && walk.count < room; ++from) frames[walk.count++] = from->written;
  walk.truncated = from != end;
}

// `memo` may be null unless kKeep.
template <bool kKeep>
Walk walk_with(WalkMemo* memo, const StackBounds& bounds, Registers registers, uint64_t generation,
               uint64_t* frames, uint32_t room) {
  StackReader<kKeep> reader(memo, bounds);
  Walk walk;
  uint64_t power = 1;
  bool more = plausible_code(registers.pc);
  while (more && walk.count < room) {
    const uint64_t written = written_for(registers);
    if constexpr (kKeep) {
      memo->begin_frame({.written = written,
                         .stack_pointer = registers.interrupted ? 0 : registers.sp,
                         .frame_pointer = registers.fp});
    } else if (memo != nullptr && !registers.interrupted) {
      if (const KeptFrame* frame = memo->met(written, registers.sp, registers.fp)) {
        memo->judge(walk.count, walk.count + static_cast<uint32_t>(memo->end() - frame));
        take_over(frame, memo->end(), power, frames, room, walk);
        return walk;
      }
    }
    frames[walk.count++] = written;
    walk.hash += power * frame_hash(written);
    power *= kHashPower;
    more = step(registers, reader, generation);
  }
  walk.truncated = more;
  if constexpr (kKeep) {
    memo->finish(!more && reader.anchored());
  } else if (memo != nullptr) {
    memo->judge(walk.count, walk.count);
  }
  return walk;
}

}  // namespace

Walk walk_stack(const WalkStart& start, uint64_t* frames, uint32_t room) noexcept {
  const uint32_t generation = g_generation.load(std::memory_order_relaxed);
  const Registers registers{.pc = start.pc, .sp = start.stack_pointer, .fp = start.frame_pointer};
  StackBounds bounds;
  bounds.enter(registers.sp);
  WalkMemo* memo = bounds.anchored() ? WalkMemo::acquire() : nullptr;
  if (memo == nullptr) {
    return walk_with<false>(nullptr, bounds, registers, generation, frames, room);
  }
  memo->check(start.stack_pointer, generation);
  Walk walk;
  if (memo->should_keep()) {
    memo->begin(generation);
    walk = walk_with<true>(memo, bounds, registers, generation, frames, room);
  } else {
    walk = walk_with<false>(memo, bounds, registers, generation, frames, room);
  }
  memo->release();
  return walk;
}

void forget_unwind_rules() noexcept {
  uint32_t next = g_generation.load(std::memory_order_relaxed) + 1;
  if (next > 0xffff) {
    next = 1;
    for (KeptRule& place : g_rules) place.rule.store(0, std::memory_order_relaxed);
    for (KeptRule& place : tables.young_rules) place.rule.store(0, std::memory_order_relaxed);
  }
  g_generation.store(next, std::memory_order_relaxed);
}

}  // namespace plateau::trace
