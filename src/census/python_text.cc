// SPDX-License-Identifier: Apache-2.0
#include "census/python_text.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/utf8.h"

namespace plateau {
namespace {

constexpr uint64_t kMostCharacters = 256;
constexpr uint64_t kMostEntries = 4096;
constexpr uint64_t kUnicodeSubclass = uint64_t{1} << 28;  // Py_TPFLAGS_UNICODE_SUBCLASS.
constexpr int kMostLog2Slots = 40;

uint64_t at(uint64_t address, int32_t offset) {
  return address + static_cast<uint32_t>(offset);
}

uint64_t index_entry_bytes(uint64_t slots) {
  if (slots <= 0xff) return 1;
  if (slots <= 0xffff) return 2;
  return slots <= 0xffffffff ? 4 : 8;
}

}  // namespace

std::optional<std::string> read_c_string(MemoryReader& memory, uint64_t address) {
  // The string may end just before a page that does not exist.
  std::string text;
  std::array<char, 64> part{};
  while (text.size() < kMostCharacters) {
    size_t bytes = part.size() - address % part.size();
    if (!memory.read(address, part.data(), bytes, false)) return std::nullopt;
    const size_t length = ::strnlen(part.data(), bytes);
    text.append(part.data(), length);
    if (length < bytes) return text;
    address += bytes;
  }
  return text;
}

std::optional<std::string> read_python_str(MemoryReader& memory, const PythonLayout& layout,
                                           uint64_t address) {
  const auto type = read_member<uint64_t>(memory, address, layout.object_type);
  const auto flags = read_member<uint64_t>(memory, type.value_or(0), layout.type_flags);
  if (!flags || (*flags & kUnicodeSubclass) == 0) return std::nullopt;
  const auto length = read_member<uint64_t>(memory, address, layout.unicode_length);
  const auto state = read_member<uint32_t>(memory, address, layout.unicode_state);
  if (!length || !state) return std::nullopt;
  const bool compact = (*state >> layout.unicode_compact_bit & 1) != 0;
  const bool ascii = (*state >> layout.unicode_ascii_bit & 1) != 0;
  const uint32_t kind = *state >> layout.unicode_kind_bit & 7;
  if (!compact || (kind != 1 && kind != 2 && kind != 4)) return std::nullopt;
  const size_t characters = std::min(*length, kMostCharacters);
  std::array<unsigned char, kMostCharacters * 4> bytes{};
  const uint64_t data = at(address, ascii ? layout.ascii_data : layout.compact_data);
  if (!memory.read(data, bytes.data(), characters * kind, false)) return std::nullopt;
  std::string text;
  for (size_t i = 0; i < characters; ++i) {
    char32_t glyph = 0;
    std::memcpy(&glyph, bytes.data() + i * kind, kind);  // Little-endian, as all that we support.
    append_utf8(text, glyph);
  }
  return text;
}

std::optional<KeysShape> read_keys_shape(MemoryReader& memory, const PythonLayout& layout,
                                         uint64_t address, bool near) {
  std::array<unsigned char, 64> head{};
  const auto head_bytes = static_cast<size_t>(layout.keys_indices);
  if (head_bytes > head.size() || address == 0) return std::nullopt;
  if (!memory.read(address, head.data(), head_bytes, near)) return std::nullopt;
  const auto word = [&](int32_t offset) {
    uint64_t value = 0;
    std::memcpy(&value, head.data() + offset, sizeof value);
    return value;
  };
  KeysShape shape;
  shape.refcount = static_cast<int64_t>(word(layout.keys_refcount));
  shape.usable = word(layout.keys_usable);
  shape.entries = word(layout.keys_entries);
  if (layout.keys_log2_size >= 0) {
    const int log2_slots = head[static_cast<size_t>(layout.keys_log2_size)];
    const int log2_index = head[static_cast<size_t>(layout.keys_log2_index_bytes)];
    if (log2_slots > kMostLog2Slots || log2_index > kMostLog2Slots + 3) return std::nullopt;
    shape.slots = uint64_t{1} << log2_slots;
    shape.index_bytes = uint64_t{1} << log2_index;
    shape.unicode = head[static_cast<size_t>(layout.keys_kind)] != layout.keys_kind_general;
  } else {
    shape.slots = word(layout.keys_size);
    shape.index_bytes = shape.slots * index_entry_bytes(shape.slots);
  }
  shape.entry_bytes =
      static_cast<uint32_t>(shape.unicode ? layout.unicode_entry_bytes : layout.key_entry_bytes);
  const bool sane = shape.slots <= uint64_t{1} << kMostLog2Slots && shape.usable <= shape.slots &&
                    shape.entries <= shape.slots;
  return sane ? std::optional(shape) : std::nullopt;
}

std::optional<uint64_t> find_in_dict(MemoryReader& memory, const PythonLayout& layout,
                                     uint64_t address, std::string_view key) {
  const auto keys = read_member<uint64_t>(memory, address, layout.dict_keys);
  const auto values = read_member<uint64_t>(memory, address, layout.dict_values);
  if (!keys || !values || *values != 0) return std::nullopt;
  const auto shape = read_keys_shape(memory, layout, *keys, false);
  if (!shape) return std::nullopt;
  uint64_t entry = at(*keys, layout.keys_indices) + shape->index_bytes;
  const uint64_t count = std::min(shape->entries, kMostEntries);
  for (uint64_t i = 0; i < count; ++i, entry += shape->entry_bytes) {
    const auto name = read_member<uint64_t>(
        memory, entry, shape->unicode ? layout.unicode_entry_key : layout.key_entry_key);
    if (!name || *name == 0) continue;
    const auto length = read_member<uint64_t>(memory, *name, layout.unicode_length);
    if (!length || *length != key.size()) continue;
    if (read_python_str(memory, layout, *name) != key) continue;
    const auto value = read_member<uint64_t>(
        memory, entry, shape->unicode ? layout.unicode_entry_value : layout.key_entry_value);
    return value && *value != 0 ? value : std::nullopt;
  }
  return std::nullopt;
}

}  // namespace plateau
