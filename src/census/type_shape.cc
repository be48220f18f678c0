// SPDX-License-Identifier: Apache-2.0
#include "census/type_shape.h"

#include <algorithm>
#include <array>
#include <utility>

namespace plateau {
namespace {

// Bits of tp_flags; those from kListSubclass on are part of the ABI.
constexpr uint64_t kInlineValues = uint64_t{1} << 2;  // 3.13 on.
constexpr uint64_t kManagedDict = uint64_t{1} << 4;   // 3.11 on.
constexpr uint64_t kHeapType = uint64_t{1} << 9;
constexpr uint64_t kListSubclass = uint64_t{1} << 25;
constexpr uint64_t kTupleSubclass = uint64_t{1} << 26;
constexpr uint64_t kDictSubclass = uint64_t{1} << 29;
constexpr uint64_t kExceptionSubclass = uint64_t{1} << 30;

// Kinds of members that point to an object: T_OBJECT and T_OBJECT_EX.
constexpr int32_t kObjectMember = 6;
constexpr int32_t kSlotMember = 16;

constexpr int kFirstManagedMinor = 11;
constexpr int kFirstInsideMinor = 13;
constexpr uint64_t kMostSlots = 256;
constexpr int kDeepestBase = 32;
constexpr int64_t kMostOffset = int64_t{1} << 20;

// Reads go near: a class is an object that the walk comes by, so it is copied anyway.
template <typename T>
T value_at(MemoryReader& memory, uint64_t address, int32_t offset) {
  return read_member<T>(memory, address, offset, true).value_or(T{});
}

void add_slots(MemoryReader& memory, const PythonLayout& layout, uint64_t type, TypeShape& shape) {
  const auto count = std::min(value_at<uint64_t>(memory, type, layout.var_size), kMostSlots);
  if (count == 0) return;
  const auto metatype = value_at<uint64_t>(memory, type, layout.object_type);
  const auto basic = value_at<uint64_t>(memory, metatype, layout.type_basic_bytes);
  if (basic == 0 || basic > static_cast<uint64_t>(kMostOffset)) return;
  uint64_t member = type + basic;
  for (uint64_t i = 0; i < count; ++i, member += static_cast<uint32_t>(layout.member_bytes)) {
    const auto kind = value_at<int32_t>(memory, member, layout.member_type);
    const auto offset = value_at<int64_t>(memory, member, layout.member_offset);
    if (kind != kSlotMember && kind != kObjectMember) continue;
    if (offset <= 0 || offset > kMostOffset) continue;
    shape.slots.push_back({.name = value_at<uint64_t>(memory, member, layout.member_name),
                           .offset = static_cast<int32_t>(offset)});
  }
}

void add_slots_of_bases(MemoryReader& memory, const PythonLayout& layout, uint64_t type,
                        TypeShape& shape) {
  for (int depth = 0; depth < kDeepestBase && type != 0; ++depth) {
    const auto flags = value_at<uint64_t>(memory, type, layout.type_flags);
    if ((flags & kHeapType) == 0 || shape.slots.size() > kMostSlots) break;
    add_slots(memory, layout, type, shape);
    type = value_at<uint64_t>(memory, type, layout.type_base);
  }
}

Holds holds_by_flags(uint64_t flags) {
  if ((flags & kListSubclass) != 0) return Holds::list;
  if ((flags & kDictSubclass) != 0) return Holds::dict;
  if ((flags & kTupleSubclass) != 0) return Holds::tuple;
  if ((flags & kExceptionSubclass) != 0) return Holds::exception;
  return Holds::nothing;
}

void find_attributes(MemoryReader& memory, const PythonLayout& layout, uint64_t type,
                     uint64_t flags, TypeShape& shape) {
  if ((flags & kHeapType) != 0) {
    shape.shared_keys = value_at<uint64_t>(memory, type, layout.heap_type_cached_keys);
  }
  if (layout.minor >= kFirstManagedMinor && (flags & kManagedDict) != 0) {
    const bool inside = layout.minor >= kFirstInsideMinor;
    shape.attributes = inside ? Attributes::inside_object : Attributes::before_object;
    if (inside && (flags & kInlineValues) == 0) shape.shared_keys = 0;
    return;
  }
  const auto offset = value_at<int64_t>(memory, type, layout.type_dict_offset);
  if (offset <= 0 || offset > kMostOffset) return;  // Below 0: behind items, as in int subclasses.
  shape.attributes = Attributes::dict_at_offset;
  shape.dict_offset = static_cast<int32_t>(offset);
}

}  // namespace

Holds holds_by_name(std::string_view name) {
  constexpr auto kNames = std::to_array<std::pair<std::string_view, Holds>>({
      {"set", Holds::set},
      {"frozenset", Holds::set},
      {"collections.deque", Holds::deque},
      {"function", Holds::function},
      {"cell", Holds::cell},
      {"method", Holds::method},
      {"generator", Holds::generator},
      {"coroutine", Holds::generator},
      {"async_generator", Holds::generator},
      {"frame", Holds::frame},
      {"traceback", Holds::traceback},
      {"functools._lru_cache_wrapper", Holds::lru_cache},
      {"functools._lru_list_elem", Holds::lru_element},
      {"functools.partial", Holds::partial},
  });
  const auto* found = std::ranges::find(kNames, name, &std::pair<std::string_view, Holds>::first);
  return found == kNames.end() ? Holds::nothing : found->second;
}

TypeShape read_type_shape(MemoryReader& memory, const PythonLayout& layout, uint64_t address,
                          uint64_t flags, Holds by_name) {
  TypeShape shape;
  shape.holds = holds_by_flags(flags);
  if (shape.holds == Holds::nothing) shape.holds = by_name;
  shape.basic_bytes = value_at<uint64_t>(memory, address, layout.type_basic_bytes);
  find_attributes(memory, layout, address, flags, shape);
  add_slots_of_bases(memory, layout, address, shape);
  return shape;
}

}  // namespace plateau
