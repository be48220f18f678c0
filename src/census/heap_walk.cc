// SPDX-License-Identifier: Apache-2.0
// Walks the lists of CPython's garbage collector.
//
// Every container object carries, before its own bytes, a head with two links; the collector keeps
// one ring per generation (three, and one for frozen objects) in each interpreter. A walk along the
// rings meets every tracked object once. The process must stand still meanwhile.
//
// Standing still is not enough: a thread may be stopped between the two stores that hang an object
// on a ring. Such a ring is told by a link that does not lead back, and the answer is not to repair
// it but to let the process go and stop it again: changes take nanoseconds, so the next stop almost
// surely falls outside of one. During a collection rings are in pieces for long; the collector's
// own flag tells.
//
// Why it ends: let the walk come to a node a second time, from a different predecessor. Its link
// back can name only one of the two, so one of the visits is found torn. Hence no node is visited
// twice, and memory is finite; a cap stands behind that for readers that answer without memory.
//
// Blind spot: objects that are not tracked. Strings, numbers, bytes and arrays never are; tuples
// and dicts of such are taken off or were never put on.
#include "census/heap_walk.h"

#include <array>
#include <cstring>
#include <utility>

#include "census/announce.h"

namespace plateau {
namespace {

constexpr int kGenerations = 3;
constexpr size_t kHeadBytes = 16;  // Of PyGC_Head, at most.
constexpr int kMostInterpreters = 1024;
constexpr uint64_t kMostObjects = uint64_t{1} << 33;
constexpr uint64_t kFlagsOfLink = 3;  // Both links may carry flags in their two lowest bits.
constexpr uint64_t kStepsBetweenClocks = 4096;

enum class Pass : uint8_t { count, measure };

// Tallies by type address; open addressing, because it is asked once per object.
class TallyTable {
 public:
  TallyTable() : slots_(1024, kFree) {}

  // The place of `type` in tallies(), or of a new one.
  std::pair<size_t, bool> place_of(uint64_t type) {
    if (last_ < tallies_.size() && tallies_[last_].address == type) return {last_, false};
    size_t slot = slot_of(type);
    for (; slots_[slot] != kFree; slot = (slot + 1) & (slots_.size() - 1)) {
      if (tallies_[slots_[slot]].address == type) {
        last_ = slots_[slot];
        return {last_, false};
      }
    }
    slots_[slot] = static_cast<uint32_t>(tallies_.size());
    tallies_.push_back({.address = type, .facts = {}});
    readable_.push_back(false);
    if (tallies_.size() * 2 > slots_.size()) grow();
    last_ = tallies_.size() - 1;
    return {last_, true};
  }

  std::vector<TypeTally>& tallies() { return tallies_; }
  void set_readable(size_t place) { readable_[place] = true; }
  [[nodiscard]] bool readable(size_t place) const { return readable_[place]; }

 private:
  static constexpr uint32_t kFree = UINT32_MAX;

  [[nodiscard]] size_t slot_of(uint64_t type) const {
    return static_cast<size_t>((type * 0x9E3779B97F4A7C15U) >> 32) & (slots_.size() - 1);
  }
  void grow() {
    slots_.assign(slots_.size() * 2, kFree);
    for (uint32_t i = 0; i < tallies_.size(); ++i) {
      size_t slot = slot_of(tallies_[i].address);
      while (slots_[slot] != kFree) slot = (slot + 1) & (slots_.size() - 1);
      slots_[slot] = i;
    }
  }

  std::vector<uint32_t> slots_;
  std::vector<TypeTally> tallies_;
  std::vector<bool> readable_;
  size_t last_ = 0;
};

class Walker {
 public:
  Walker(MemoryReader& memory, const PythonPlace& place, const std::function<bool()>& late,
         Announcer* announcer)
      : memory_(memory), layout_(place.layout), place_(place), late_(late), announcer_(announcer) {}

  HeapWalk count() {
    result_.end = walk_interpreters();
    std::vector<uint32_t> moved(table_.tallies().size());
    for (size_t i = 0; i < table_.tallies().size(); ++i) {
      moved[i] = static_cast<uint32_t>(result_.types.size());
      if (table_.readable(i)) result_.types.push_back(std::move(table_.tallies()[i]));
    }
    if (result_.types.size() < moved.size()) {
      for (SeenObject& object : result_.seen) object.type = moved[object.type];
    }
    return std::move(result_);
  }

  void measure(HeapWalk& walk) {
    pass_ = Pass::measure;
    for (const TypeTally& tally : walk.types) {
      const size_t place = table_.place_of(tally.address).first;
      table_.tallies()[place].facts = tally.facts;
      table_.set_readable(place);
    }
    if (walk_interpreters() != WalkEnd::complete || result_.objects != walk.objects) return;
    for (size_t i = 0; i < walk.types.size(); ++i) walk.types[i].bytes = table_.tallies()[i].bytes;
  }

 private:
  WalkEnd walk_interpreters() {
    uint64_t interpreter =
        read_member<uint64_t>(memory_, place_.runtime, layout_.runtime_interpreters_head, true)
            .value_or(0);
    if (interpreter == 0) return WalkEnd::no_interpreter;
    if (layout_.minor <= 8) return walk_collector(at(place_.runtime, layout_.gc));
    for (int i = 0; i < kMostInterpreters && interpreter != 0; ++i) {
      const WalkEnd end = walk_collector(at(interpreter, layout_.gc));
      if (end != WalkEnd::complete) return end;
      const auto next = read_member<uint64_t>(memory_, interpreter, layout_.interpreter_next, true);
      if (!next) return WalkEnd::torn;
      interpreter = *next;
    }
    return interpreter == 0 ? WalkEnd::complete : WalkEnd::torn;
  }

  WalkEnd walk_collector(uint64_t gc) {
    const auto collecting = read_member<int32_t>(memory_, gc, layout_.gc_collecting, true);
    if (!collecting) return WalkEnd::torn;
    if (*collecting != 0) return WalkEnd::collecting;
    result_.last_collected +=
        read_member<uint64_t>(memory_, gc, layout_.gc_long_lived_total, true).value_or(0);
    for (int generation = 0; generation < kGenerations; ++generation) {
      const int32_t offset = layout_.gc_generations + generation * layout_.gc_generation_bytes;
      const WalkEnd end = walk_ring(at(gc, offset));
      if (end != WalkEnd::complete) return end;
    }
    return walk_ring(at(gc, layout_.gc_permanent));
  }

  WalkEnd walk_ring(uint64_t head) {
    const auto first = read_member<uint64_t>(memory_, head, layout_.gc_head_next, true);
    const auto last = read_member<uint64_t>(memory_, head, layout_.gc_head_prev, true);
    if (!first || !last) return WalkEnd::torn;
    uint64_t from = head;
    uint64_t node = *first & ~kFlagsOfLink;
    while (node != head) {
      if (++steps_ % kStepsBetweenClocks == 0 && late_()) return WalkEnd::late;
      if (steps_ > kMostObjects) return WalkEnd::torn;
      uint64_t next = 0;
      if (!visit(node, from, next)) return WalkEnd::torn;
      from = node;
      node = next;
    }
    return (*last & ~kFlagsOfLink) == from ? WalkEnd::complete : WalkEnd::torn;
  }

  // Counts the object behind the head at `node`. False if its link back is not `from`.
  bool visit(uint64_t node, uint64_t from, uint64_t& next) {
    const auto head_bytes = static_cast<size_t>(layout_.gc_head_bytes);
    std::array<unsigned char, kHeadBytes + ObjectStart::kBytes> bytes;
    ObjectStart object{.address = node + head_bytes, .bytes = ObjectStart::kBytes, .data = {}};
    if (head_bytes > kHeadBytes) return false;
    if (!memory_.read(node, bytes.data(), head_bytes + object.bytes, true)) {
      // A small object may stand at the very end of what is mapped.
      object.bytes = static_cast<size_t>(layout_.object_bytes);
      if (!memory_.read(node, bytes.data(), head_bytes + object.bytes, true)) return false;
    }
    const auto link = [&](int32_t offset) {
      uint64_t value = 0;
      std::memcpy(&value, bytes.data() + offset, sizeof value);
      return value & ~kFlagsOfLink;
    };
    if (link(layout_.gc_head_prev) != from) return false;
    next = link(layout_.gc_head_next);
    std::memcpy(object.data.data(), bytes.data() + head_bytes, ObjectStart::kBytes);
    tally(object);
    return true;
  }

  void tally(const ObjectStart& object) {
    ++result_.objects;
    const uint64_t type = object.word(layout_.object_type);
    const auto [place, fresh] = table_.place_of(type);
    if (fresh && pass_ == Pass::count) {
      if (auto facts = read_type_facts(memory_, layout_, type)) {
        table_.tallies()[place].facts = std::move(*facts);
        table_.set_readable(place);
      }
    }
    if (!table_.readable(place)) {
      ++result_.unreadable;
      return;
    }
    TypeTally& mine = table_.tallies()[place];
    ++mine.objects;
    if (pass_ == Pass::measure) {
      mine.bytes += object_bytes(memory_, layout_, mine.facts, object);
    } else if (announcer_ != nullptr) {
      result_.seen.push_back({object.address, static_cast<uint32_t>(place)});
      announcer_->object(mine.facts, object, mine.objects);
    } else if (mine.facts.extra == TypeFacts::Extra::dict) {
      memory_.expect(object.word(layout_.dict_keys), static_cast<size_t>(layout_.keys_indices));
    }
  }

  static uint64_t at(uint64_t address, int32_t offset) {
    return address + static_cast<uint32_t>(offset);
  }

  MemoryReader& memory_;
  const PythonLayout& layout_;
  const PythonPlace& place_;
  const std::function<bool()>& late_;
  Announcer* announcer_;
  Pass pass_ = Pass::count;
  TallyTable table_;
  HeapWalk result_;
  uint64_t steps_ = 0;
};

}  // namespace

HeapWalk walk_heap(MemoryReader& memory, const PythonPlace& place,
                   const std::function<bool()>& late, Announcer* announcer) {
  return Walker(memory, place, late, announcer).count();
}

uint64_t last_collected_objects(MemoryReader& memory, const PythonPlace& place) {
  const PythonLayout& layout = place.layout;
  const auto left_by = [&](uint64_t holder) {
    return read_member<uint64_t>(memory, holder, layout.gc + layout.gc_long_lived_total)
        .value_or(0);
  };
  if (layout.minor <= 8) return left_by(place.runtime);
  uint64_t objects = 0;
  uint64_t interpreter =
      read_member<uint64_t>(memory, place.runtime, layout.runtime_interpreters_head).value_or(0);
  for (int i = 0; i < kMostInterpreters && interpreter != 0; ++i) {
    objects += left_by(interpreter);
    interpreter = read_member<uint64_t>(memory, interpreter, layout.interpreter_next).value_or(0);
  }
  return objects;
}

void measure_heap(MemoryReader& memory, const PythonPlace& place, HeapWalk& walk) {
  const std::function<bool()> never = [] { return false; };
  Walker(memory, place, never, nullptr).measure(walk);
}

}  // namespace plateau
