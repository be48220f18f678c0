// SPDX-License-Identifier: Apache-2.0
#include "census/type_facts.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "census/python_text.h"

namespace plateau {
namespace {

// Bits of tp_flags. The first three are part of the ABI; the others hold from 3.11 and 3.12 on.
constexpr uint64_t kHeapType = uint64_t{1} << 9;
constexpr uint64_t kListSubclass = uint64_t{1} << 25;
constexpr uint64_t kDictSubclass = uint64_t{1} << 29;
constexpr uint64_t kHasGc = uint64_t{1} << 14;
constexpr uint64_t kManagedWeakref = uint64_t{1} << 3;  // 3.12 on.
constexpr uint64_t kManagedDict = uint64_t{1} << 4;     // 3.11 on.

constexpr int kDeepestBase = 32;
constexpr uint64_t kMostBasicBytes = uint64_t{1} << 24;
constexpr uint64_t kMostObjectBytes = uint64_t{1} << 44;

uint64_t word_at(MemoryReader& memory, uint64_t address, int32_t offset) {
  return read_member<uint64_t>(memory, address, offset).value_or(0);
}

// Types that declare items without being PyVarObject: what stands at ob_size is something else.
bool lacks_var_size(std::string_view name) {
  constexpr std::array<std::string_view, 4> kNames = {"generator", "coroutine", "async_generator",
                                                      "frame"};
  return std::ranges::find(kNames, name) != kNames.end();
}

bool plausible_name(std::string_view name) {
  return !name.empty() && std::ranges::none_of(name, [](char c) {
    return static_cast<unsigned char>(c) < ' ' || c == 0x7f;
  });
}

// "module.qualname" of a class made at run time, "name" or "module.name" of one compiled in.
std::optional<std::string> name_of(MemoryReader& memory, const PythonLayout& layout,
                                   uint64_t address, uint64_t flags) {
  auto plain = read_c_string(memory, word_at(memory, address, layout.type_name));
  if (!plain || !plausible_name(*plain)) return std::nullopt;
  if ((flags & kHeapType) == 0) return plain;
  const auto qualname =
      read_python_str(memory, layout, word_at(memory, address, layout.heap_type_qualname));
  if (!qualname || !plausible_name(*qualname)) return plain;
  const auto module_at =
      find_in_dict(memory, layout, word_at(memory, address, layout.type_dict), "__module__");
  const auto module =
      module_at ? read_python_str(memory, layout, *module_at) : std::optional<std::string>();
  if (!module || !plausible_name(*module)) {
    return plain->find('.') != std::string::npos ? plain : qualname;
  }
  return *module == "builtins" ? *qualname : *module + "." + *qualname;
}

bool names_tensor(std::string_view name) {
  return name == "torch.Tensor" || name == "torch._C.TensorBase" || name == "torch._C._TensorBase";
}

// What a type inherits that matters here.
struct Ancestry {
  bool tensor = false;
  bool set = false;
  bool no_var_size = false;
  Holds holds = Holds::nothing;
};

Ancestry ancestry_of(MemoryReader& memory, const PythonLayout& layout, uint64_t address,
                     std::string name, uint64_t flags) {
  Ancestry found;
  for (int depth = 0; depth < kDeepestBase; ++depth) {
    found.tensor = found.tensor || names_tensor(name);
    if (found.holds == Holds::nothing) found.holds = holds_by_name(name);
    if ((flags & kHeapType) == 0) {
      found.set = found.set || name == "set" || name == "frozenset";
      found.no_var_size = found.no_var_size || lacks_var_size(name);
    }
    address = word_at(memory, address, layout.type_base);
    if (address == 0) break;
    flags = word_at(memory, address, layout.type_flags);
    const auto next = name_of(memory, layout, address, flags);
    if (!next) break;
    name = *next;
  }
  return found;
}

uint64_t bytes_before_object(const PythonLayout& layout, uint64_t flags) {
  uint64_t bytes = (flags & kHasGc) != 0 ? static_cast<uint32_t>(layout.gc_head_bytes) : 0;
  const uint64_t managed = layout.minor >= 12   ? kManagedDict | kManagedWeakref
                           : layout.minor == 11 ? kManagedDict
                                                : 0;
  if ((flags & managed) != 0) bytes += 2 * sizeof(uint64_t);
  return bytes;
}

uint64_t dict_extra_bytes(MemoryReader& memory, const PythonLayout& layout,
                          const ObjectStart& object) {
  const auto shape = read_keys_shape(memory, layout, object.word(layout.dict_keys), true);
  if (!shape) return 0;
  // Up to 3.10 two thirds of the slots may be filled; from 3.11 on the keys know.
  const uint64_t places =
      layout.keys_size >= 0 ? shape->slots * 2 / 3 : shape->usable + shape->entries;
  uint64_t bytes = object.word(layout.dict_values) != 0 ? places * sizeof(uint64_t) : 0;
  if (shape->refcount == 1) {
    bytes += static_cast<uint32_t>(layout.keys_indices) + shape->index_bytes +
             shape->slots * 2 / 3 * shape->entry_bytes;
  }
  return bytes;
}

uint64_t set_extra_bytes(const PythonLayout& layout, const ObjectStart& object) {
  const uint64_t small = object.address + static_cast<uint32_t>(layout.set_small_table);
  if (object.word(layout.set_table) == small) return 0;
  const uint64_t mask = object.word(layout.set_mask);
  return mask < kMostObjectBytes ? (mask + 1) * static_cast<uint32_t>(layout.set_entry_bytes) : 0;
}

}  // namespace

std::optional<TypeFacts> read_type_facts(MemoryReader& memory, const PythonLayout& layout,
                                         uint64_t address) {
  const auto basic = read_member<uint64_t>(memory, address, layout.type_basic_bytes);
  const auto item = read_member<uint64_t>(memory, address, layout.type_item_bytes);
  const auto flags = read_member<uint64_t>(memory, address, layout.type_flags);
  if (!basic || !item || !flags || *basic > kMostBasicBytes || *item > kMostBasicBytes) {
    return std::nullopt;
  }
  const auto name = name_of(memory, layout, address, *flags);
  if (!name) return std::nullopt;
  const Ancestry inherited = ancestry_of(memory, layout, address, *name, *flags);
  TypeFacts facts;
  facts.name = *name;
  facts.tensor = inherited.tensor;
  facts.fixed_bytes = *basic + bytes_before_object(layout, *flags);
  facts.item_bytes = *item;
  if ((*flags & kListSubclass) != 0) {
    facts.extra = TypeFacts::Extra::list;
  } else if ((*flags & kDictSubclass) != 0) {
    facts.extra = TypeFacts::Extra::dict;
  } else if (inherited.set) {
    facts.extra = TypeFacts::Extra::set;
  } else if (*item != 0 && !inherited.no_var_size) {
    facts.extra = TypeFacts::Extra::items;
  }
  facts.shape = read_type_shape(memory, layout, address, *flags, inherited.holds);
  return facts;
}

uint64_t object_bytes(MemoryReader& memory, const PythonLayout& layout, const TypeFacts& type,
                      const ObjectStart& object) {
  uint64_t extra = 0;
  switch (type.extra) {
    case TypeFacts::Extra::none:
      break;
    case TypeFacts::Extra::items: {
      const uint64_t size = object.word(layout.var_size);
      const uint64_t count = static_cast<int64_t>(size) < 0 ? 0 - size : size;
      if (count > kMostObjectBytes / type.item_bytes) return 0;
      extra = count * type.item_bytes;
      break;
    }
    case TypeFacts::Extra::list: {
      const uint64_t allocated = object.word(layout.list_allocated);
      if (allocated > kMostObjectBytes) return 0;
      extra = allocated * sizeof(uint64_t);
      break;
    }
    case TypeFacts::Extra::dict:
      extra = dict_extra_bytes(memory, layout, object);
      break;
    case TypeFacts::Extra::set:
      extra = set_extra_bytes(layout, object);
      break;
  }
  return type.fixed_bytes + extra;
}

}  // namespace plateau
