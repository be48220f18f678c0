// SPDX-License-Identifier: Apache-2.0
#include "census/references.h"

#include <algorithm>
#include <cstring>

namespace plateau {
namespace {

constexpr uint64_t kMostItems = uint64_t{1} << 27;
constexpr int32_t kMostLocals = 4096;
constexpr uint64_t kItemsOfBlock = 64;
constexpr uint64_t kWordBytes = sizeof(uint64_t);
// 3.11: the word before the collector's head is the dict, the one before that the values. 3.12:
// both share the former, and the values are told by an odd address, one below theirs.
constexpr uint64_t kDictBefore = 3 * kWordBytes;
constexpr uint64_t kValuesBefore = 4 * kWordBytes;

uint64_t at(uint64_t address, int32_t offset) {
  return address + static_cast<uint32_t>(offset);
}

// A wild length must not make us ask for room: both ends have to be there.
bool is_there(MemoryReader& memory, uint64_t address, uint64_t bytes) {
  if (address == 0 || bytes > kMostItems * kWordBytes) return false;
  return bytes == 0 ||
         (read_value<uint8_t>(memory, address) && read_value<uint8_t>(memory, address + bytes - 1));
}

uint64_t word_in(const unsigned char* bytes, int32_t offset) {
  uint64_t value = 0;
  std::memcpy(&value, bytes + offset, sizeof value);
  return value;
}

}  // namespace

uint64_t References::word(uint64_t address, int32_t offset) {
  return read_member<uint64_t>(memory_, address, offset).value_or(0);
}

void References::visit_word(uint64_t address, int32_t offset, Part part, const VisitEdge& visit) {
  const uint64_t target = word(address, offset);
  if (target == 0) return;
  visit({.kind = EdgeKind::part, .index = static_cast<uint64_t>(part), .target = target});
}

bool References::read_words(uint64_t address, uint64_t count) {
  if (!is_there(memory_, address, count * kWordBytes)) return false;
  words_.resize(count);
  return memory_.read(address, words_.data(), count * kWordBytes, false);
}

bool References::read_bytes(uint64_t address, uint64_t count) {
  if (!is_there(memory_, address, count)) return false;
  bytes_.resize(count);
  return memory_.read(address, bytes_.data(), count, false);
}

void References::of_items(uint64_t items, uint64_t count, const VisitEdge& visit) {
  if (!read_words(items, count)) return;
  for (uint64_t i = 0; i < count; ++i) {
    if (words_[i] != 0) visit({.kind = EdgeKind::item, .index = i, .target = words_[i]});
  }
}

// Entries of combined keys hold the values; those of shared keys only name them.
void References::of_entries(uint64_t keys, uint64_t values, EdgeKind kind, const VisitEdge& visit) {
  const auto shape = read_keys_shape(memory_, layout_, keys, false);
  if (!shape || shape->entries > kMostItems) return;
  const bool shared = values != 0;
  const int32_t items = std::max(layout_.values_items, 0);
  if (shared && !read_words(at(values, items), shape->entries)) return;
  const uint64_t first = at(keys, layout_.keys_indices) + shape->index_bytes;
  if (!read_bytes(first, shape->entries * shape->entry_bytes)) return;
  const int32_t key_at = shape->unicode ? layout_.unicode_entry_key : layout_.key_entry_key;
  const int32_t value_at = shape->unicode ? layout_.unicode_entry_value : layout_.key_entry_value;
  for (uint64_t i = 0; i < shape->entries; ++i) {
    const unsigned char* entry = bytes_.data() + i * shape->entry_bytes;
    const uint64_t key = word_in(entry, key_at);
    const uint64_t value = shared ? words_[i] : word_in(entry, value_at);
    if (value == 0) continue;
    visit({.kind = kind, .name = key, .index = i, .target = value});
    // Text holds nothing.
    if (key != 0 && !shape->unicode && kind == EdgeKind::entry) {
      visit({.kind = EdgeKind::key, .index = i, .target = key});
    }
  }
}

void References::names_of(uint64_t keys, const std::function<void(uint64_t)>& visit) {
  const auto shape = read_keys_shape(memory_, layout_, keys, false);
  if (!shape || shape->entries > kMostItems) return;
  const uint64_t first = at(keys, layout_.keys_indices) + shape->index_bytes;
  if (!read_bytes(first, shape->entries * shape->entry_bytes)) return;
  const int32_t key_at = shape->unicode ? layout_.unicode_entry_key : layout_.key_entry_key;
  for (uint64_t i = 0; i < shape->entries; ++i) {
    visit(word_in(bytes_.data() + i * shape->entry_bytes, key_at));
  }
}

void References::of_dict(uint64_t dict, EdgeKind kind, const VisitEdge& visit) {
  of_entries(word(dict, layout_.dict_keys), word(dict, layout_.dict_values), kind, visit);
}

void References::of_namespace(uint64_t dict, const VisitEdge& visit) {
  of_dict(dict, EdgeKind::attribute, visit);
}

void References::of_set(uint64_t set, const VisitEdge& visit) {
  const uint64_t places = word(set, layout_.set_mask) + 1;
  const auto entry_bytes = static_cast<uint64_t>(layout_.set_entry_bytes);
  if (places > kMostItems) return;
  if (!read_bytes(word(set, layout_.set_table), places * entry_bytes)) return;
  for (uint64_t i = 0; i < places; ++i) {
    // A deleted entry points to a sentinel, which is no object that anybody knows.
    const uint64_t key = word_in(bytes_.data() + i * entry_bytes, layout_.set_entry_key);
    if (key != 0) visit({.kind = EdgeKind::item, .index = i, .target = key});
  }
}

void References::of_deque(uint64_t deque, const VisitEdge& visit) {
  const uint64_t count = std::min(word(deque, layout_.var_size), kMostItems);
  uint64_t block = word(deque, layout_.deque_left_block);
  uint64_t place = word(deque, layout_.deque_left_index);
  for (uint64_t i = 0; i < count && block != 0;) {
    if (place >= kItemsOfBlock || !read_words(at(block, layout_.block_items), kItemsOfBlock))
      return;
    for (; place < kItemsOfBlock && i < count; ++place, ++i) {
      if (words_[place] != 0) visit({.kind = EdgeKind::item, .index = i, .target = words_[place]});
    }
    place = 0;
    block = word(block, layout_.block_next);
  }
}

void References::of_function(uint64_t function, const VisitEdge& visit) {
  visit_word(function, layout_.function_defaults, Part::defaults, visit);
  visit_word(function, layout_.function_keyword_defaults, Part::defaults, visit);
  const uint64_t closure = word(function, layout_.function_closure);
  const uint64_t code = word(function, layout_.function_code);
  const uint64_t cells = closure == 0 ? 0 : word(closure, layout_.var_size);
  if (cells > kMostLocals || !read_words(at(closure, layout_.tuple_items), cells)) return;
  for (uint64_t i = 0; i < cells; ++i) {
    if (words_[i] == 0) continue;
    visit({.kind = EdgeKind::free_variable, .name = code, .index = i, .target = words_[i]});
  }
}

void References::of_frame(uint64_t frame, const VisitEdge& visit) {
  const uint64_t code = untagged(word(frame, layout_.frame_code));
  auto count = read_member<int32_t>(memory_, code, layout_.code_locals).value_or(0);
  for (const int32_t names : {layout_.code_cell_names, layout_.code_free_names}) {
    if (names == kNoOffset || count < 0 || count > kMostLocals) continue;
    count += static_cast<int32_t>(
        std::min<uint64_t>(word(word(code, names), layout_.var_size), kMostLocals));
  }
  if (count <= 0 || count > kMostLocals) return;
  if (!read_words(at(frame, layout_.frame_locals), static_cast<uint64_t>(count))) return;
  for (size_t i = 0; i < words_.size(); ++i) {
    const uint64_t target = untagged(words_[i]);
    if (target == 0) continue;
    visit({.kind = EdgeKind::local, .name = code, .index = i, .target = target});
  }
}

void References::of_stack(uint64_t frame, const VisitEdge& visit) {
  const uint64_t code = untagged(word(frame, layout_.frame_code));
  const auto locals = read_member<int32_t>(memory_, code, layout_.code_locals).value_or(-1);
  const auto places = read_member<int32_t>(memory_, code, layout_.code_stack_places).value_or(-1);
  if (locals < 0 || locals > kMostLocals || places <= 0 || places > kMostLocals) return;
  const uint64_t first =
      at(frame, layout_.frame_locals) + static_cast<uint64_t>(locals) * kWordBytes;
  if (!read_words(first, static_cast<uint64_t>(places))) return;
  for (size_t i = 0; i < words_.size(); ++i) {
    const uint64_t target = untagged(words_[i]);
    if (target != 0) visit({.kind = EdgeKind::local, .name = code, .target = target});
  }
}

void References::of_generator(uint64_t generator, const VisitEdge& visit) {
  if (layout_.generator_frame_state == kNoOffset) {
    const uint64_t frame = word(generator, layout_.generator_frame);
    if (frame != 0) of_frame(frame, visit);
    return;
  }
  const auto state = read_member<int8_t>(memory_, generator, layout_.generator_frame_state);
  if (state && *state <= 0) of_frame(at(generator, layout_.generator_frame), visit);
}

void References::of_builtin_part(uint64_t address, Holds holds, const VisitEdge& visit) {
  const auto part = [&](int32_t offset, Part what) { visit_word(address, offset, what, visit); };
  switch (holds) {
    case Holds::nothing:
      return;
    case Holds::list:
      return of_items(word(address, layout_.list_items), word(address, layout_.var_size), visit);
    case Holds::tuple:
      return of_items(at(address, layout_.tuple_items), word(address, layout_.var_size), visit);
    case Holds::dict:
      return of_dict(address, EdgeKind::entry, visit);
    case Holds::set:
      return of_set(address, visit);
    case Holds::deque:
      return of_deque(address, visit);
    case Holds::function:
      return of_function(address, visit);
    case Holds::cell:
      return part(layout_.cell_value, Part::value);
    case Holds::method:
      part(layout_.method_self, Part::self);
      return part(layout_.method_function, Part::function);
    case Holds::generator:
      return of_generator(address, visit);
    case Holds::frame:
      return of_frame(layout_.frame_object_frame == kNoOffset
                          ? address
                          : word(address, layout_.frame_object_frame),
                      visit);
    case Holds::exception:
      part(layout_.exception_args, Part::arguments);
      part(layout_.exception_context, Part::context);
      return part(layout_.exception_traceback, Part::traceback);
    case Holds::traceback:
      part(layout_.traceback_next, Part::next);
      return part(layout_.traceback_frame, Part::frame);
    case Holds::lru_cache: {
      const uint64_t function = word(address, layout_.lru_function);
      const uint64_t cache = word(address, layout_.lru_cache);
      if (cache != 0) visit({.kind = EdgeKind::cached, .name = function, .target = cache});
      return part(layout_.lru_function, Part::function);
    }
    case Holds::lru_element:
      return part(layout_.lru_element_result, Part::value);
    case Holds::partial:
      part(layout_.partial_function, Part::function);
      part(layout_.partial_arguments, Part::arguments);
      return part(layout_.partial_keywords, Part::arguments);
  }
}

void References::of_attribute_dict(uint64_t dict, const VisitEdge& visit) {
  visit({.kind = EdgeKind::attribute_dict, .target = dict});
  of_namespace(dict, visit);
}

void References::of_attributes(uint64_t address, const TypeShape& shape, const VisitEdge& visit) {
  const auto value_of = [&](uint64_t where) {
    return read_value<uint64_t>(memory_, where).value_or(0);
  };
  uint64_t dict = 0;
  uint64_t values = 0;
  switch (shape.attributes) {
    case Attributes::none:
      return;
    case Attributes::dict_at_offset:
      dict = word(address, shape.dict_offset);
      break;
    case Attributes::before_object:
      dict = value_of(address - kDictBefore);
      if (layout_.minor == 11) values = value_of(address - kValuesBefore);
      if ((dict & 1) != 0) values = dict + 1;
      if (values != 0) dict = 0;
      break;
    case Attributes::inside_object: {
      dict = value_of(address - kDictBefore);
      const uint64_t inside = address + shape.basic_bytes;
      const auto valid = read_member<uint8_t>(memory_, inside, layout_.values_valid);
      if (dict == 0 && valid.value_or(0) != 0) values = inside;
      break;
    }
  }
  if (dict != 0) {
    of_attribute_dict(dict, visit);
  } else if (values != 0) {
    of_entries(shape.shared_keys, values, EdgeKind::attribute, visit);
  }
}

void References::of(uint64_t address, const TypeShape& shape, const VisitEdge& visit) {
  of_builtin_part(address, shape.holds, visit);
  of_attributes_only(address, shape, visit);
}

void References::of_attributes_only(uint64_t address, const TypeShape& shape,
                                    const VisitEdge& visit) {
  of_attributes(address, shape, visit);
  for (const SlotPlace& slot : shape.slots) {
    const uint64_t target = word(address, slot.offset);
    if (target != 0) visit({.kind = EdgeKind::slot, .name = slot.name, .target = target});
  }
}

uint64_t References::length(uint64_t address, const TypeShape& shape) {
  uint64_t count = 0;
  switch (shape.holds) {
    case Holds::list:
    case Holds::tuple:
    case Holds::deque:
      count = word(address, layout_.var_size);
      break;
    case Holds::dict:
      count = word(address, layout_.dict_used);
      break;
    case Holds::set:
      count = word(address, layout_.set_used);
      break;
    default:
      break;
  }
  return count > kMostItems ? 0 : count;
}

}  // namespace plateau
