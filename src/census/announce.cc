// SPDX-License-Identifier: Apache-2.0
#include "census/announce.h"

#include <algorithm>

#include "census/python_text.h"
#include "census/roots.h"
#include "census/tensor_graph.h"

namespace plateau {
namespace {

constexpr uint64_t kDictSubclass = uint64_t{1} << 29;
constexpr uint64_t kWordBytes = sizeof(uint64_t);
constexpr size_t kObjectBytes = 32;       // Of an object whose type is asked for.
constexpr size_t kTextBytes = 320;        // A str with as much text as is read of it.
constexpr size_t kNameBytes = 64;         // A C string, likewise.
constexpr size_t kGeneratorBytes = 1024;  // With a frame of some locals.
constexpr uint64_t kBytesOfFewValues = 32 * kWordBytes;
constexpr uint64_t kMostArrayBytes = uint64_t{256} << 20;
constexpr uint64_t kMostBlocks = uint64_t{1} << 20;
constexpr uint64_t kItemsOfBlock = 64;
constexpr uint64_t kFewItems = 8;

// Of a type with more objects than this their attributes are not looked into: what owns a cache is
// one of few. Measured on a job of torch and transformers, 16 cost 3 ms of its stop, 2000 70 ms.
constexpr uint64_t kMostOwners = 16;
constexpr uint64_t kMostWithValues = 20'000;
// Of a container as long as this some items are announced, so that their types are known.
constexpr uint64_t kLongContainer = 64;
constexpr uint64_t kSamples = 32;
// Of the items of a container one in so many is looked into if it is a tensor.
constexpr uint64_t kSamplesPerGraph = 4;
constexpr size_t kMostFewItems = 1'000'000;
constexpr size_t kMostTensors = 2000;
// A tensor that nothing long holds is looked into if it has a name, or is one of the youngest of
// its type. Parameters are leaves: no graph is behind them.
constexpr uint64_t kMostYoungOfType = 128;
constexpr size_t kMostYoung = 256;
constexpr size_t kMostLoneTensors = 768;

uint64_t at(uint64_t address, int32_t offset) {
  return address + static_cast<uint32_t>(offset);
}

}  // namespace

uint64_t Announcer::word(uint64_t address, int32_t offset) {
  return read_member<uint64_t>(memory_, address, offset).value_or(0);
}

void Announcer::range(uint64_t address, uint64_t bytes) {
  if (bytes <= kMostArrayBytes) memory_.expect(address, bytes);
}

void Announcer::text(uint64_t address) {
  memory_.expect(address, kTextBytes);
}

// Some of the objects that an array points to, evenly spread.
void Announcer::samples(uint64_t first, uint64_t count, uint64_t stride_bytes) {
  const uint64_t step = std::max<uint64_t>(count / kSamples, 1);
  for (uint64_t i = 0; i < count; i += step) {
    const uint64_t item = read_value<uint64_t>(memory_, first + i * stride_bytes).value_or(0);
    if (item == 0) continue;
    memory_.expect(item, kObjectBytes);
    const uint64_t type = word(item, layout_.object_type);
    if (type == 0) continue;
    if (i / step % kSamplesPerGraph == 0 && few_items_.size() < kMostFewItems) {
      few_items_.push_back({item, type});
    }
    if (type == last_item_type_) continue;
    item_types_.insert(type);
    last_item_type_ = type;
  }
}

std::vector<uint64_t> Announcer::tensors(const std::function<bool(uint64_t)>& is_tensor_type) {
  std::vector<uint64_t> found = young_tensors_;
  const auto add = [&](const std::vector<Item>& items, size_t most) {
    for (const Item& item : items) {
      if (found.size() >= most) return;
      if (is_tensor_type(item.type)) found.push_back(item.address);
    }
  };
  std::ranges::reverse(named_);  // Variables of functions that run came last.
  add(named_, kMostLoneTensors);
  add(few_items_, kMostTensors);
  for (const uint64_t tensor : found) expect_tensor(memory_, tensor);
  return found;
}

void Announcer::array(uint64_t address, uint64_t count) {
  if (count > kMostArrayBytes / kWordBytes) return;
  range(address, count * kWordBytes);
  if (count >= kLongContainer) samples(address, count, kWordBytes);
}

void Announcer::table(uint64_t keys, uint64_t values, uint64_t used) {
  memory_.expect(keys, static_cast<uint32_t>(layout_.keys_indices));
  const auto shape = read_keys_shape(memory_, layout_, keys, false);
  if (!shape) return;
  const uint64_t entries = at(keys, layout_.keys_indices) + shape->index_bytes;
  range(entries, shape->entries * shape->entry_bytes);
  if (values != 0) return range(values, (shape->entries + 1) * kWordBytes);
  if (used < kLongContainer) return;
  const int32_t value = shape->unicode ? layout_.unicode_entry_value : layout_.key_entry_value;
  samples(at(entries, value), shape->entries, shape->entry_bytes);
}

void Announcer::set(const ObjectStart& object) {
  const auto entry = static_cast<uint64_t>(layout_.set_entry_bytes);
  const uint64_t first = object.word(layout_.set_table);
  const uint64_t places = object.word(layout_.set_mask) + 1;
  if (places > kMostArrayBytes / entry) return;
  range(first, places * entry);
  if (places >= kLongContainer) samples(at(first, layout_.set_entry_key), places, entry);
}

void Announcer::deque(const ObjectStart& object) {
  uint64_t block = object.word(layout_.deque_left_block);
  const uint64_t items = object.word(layout_.var_size);
  const uint64_t blocks = std::min(items / kItemsOfBlock + 2, kMostBlocks);
  for (uint64_t i = 0; i < blocks && block != 0; ++i) {
    memory_.expect(block, static_cast<uint32_t>(layout_.block_next) + kWordBytes);
    if (items >= kLongContainer) {
      samples(at(block, layout_.block_items) + kItemsOfBlock / 2 * kWordBytes, 1, kWordBytes);
    }
    block = word(block, layout_.block_next);
  }
}

void Announcer::function(const ObjectStart& object) {
  if (object.word(layout_.function_closure) == 0) return;
  expect_code(memory_, layout_, object.word(layout_.function_code));
  text(object.word(layout_.function_qualname));
}

void Announcer::cached_function(uint64_t address) {
  const uint64_t function = word(address, layout_.lru_function);
  dict(word(address, layout_.lru_cache));
  expect_code(memory_, layout_, word(function, layout_.function_code));
  text(word(function, layout_.function_qualname));
}

void Announcer::shared_names(uint64_t keys) {
  table(keys, 0, 0);
  references_.names_of(keys, [&](uint64_t name) { text(name); });
}

void Announcer::values_before(uint64_t address) {
  const uint64_t dict = read_value<uint64_t>(memory_, address - 3 * kWordBytes).value_or(0);
  uint64_t values = (dict & 1) != 0 ? dict + 1 : 0;
  if (layout_.minor == 11) {
    values = read_value<uint64_t>(memory_, address - 4 * kWordBytes).value_or(0);
  }
  if (values != 0) memory_.expect(values, kBytesOfFewValues);
}

// The names, the block of values, and dicts among them that are on no list.
void Announcer::attributes(uint64_t address, const TypeShape& shape, uint64_t nth) {
  if (nth == 1 && shape.shared_keys != 0) shared_names(shape.shared_keys);
  if (shape.attributes == Attributes::before_object && nth <= kMostWithValues) {
    values_before(address);
  }
  if (nth > kMostOwners) return;
  references_.of_attributes_only(address, shape, [&](const Edge& edge) {
    if (edge.kind == EdgeKind::attribute) text(edge.name);
    if (edge.kind == EdgeKind::slot) memory_.expect(edge.name, kNameBytes);
    named(edge.target);
  });
}

bool Announcer::makes_dicts(uint64_t type) {
  const auto [known, fresh] = makes_dicts_.try_emplace(type, false);
  if (!fresh) return known->second;
  memory_.expect(at(type, layout_.type_flags), kWordBytes);
  known->second = (word(type, layout_.type_flags) & kDictSubclass) != 0;
  return known->second;
}

bool Announcer::is_dict(uint64_t address) {
  const uint64_t type = word(address, layout_.object_type);
  return type != 0 && makes_dicts(type);
}

void Announcer::dict(uint64_t address) {
  memory_.expect(address, static_cast<uint32_t>(layout_.dict_values) + kWordBytes);
  table(word(address, layout_.dict_keys), word(address, layout_.dict_values),
        word(address, layout_.dict_used));
}

void Announcer::named(uint64_t address) {
  memory_.expect(address, kObjectBytes);
  const uint64_t type = word(address, layout_.object_type);
  if (type == 0) return;
  if (makes_dicts(type)) return dict(address);
  if (named_.size() < kMostFewItems) named_.push_back({address, type});
}

void Announcer::object(const TypeFacts& type, const ObjectStart& object, uint64_t nth) {
  if (given_up_) return;
  const bool young = nth <= kMostYoungOfType && young_tensors_.size() < kMostYoung;
  if (type.tensor && young && !type.name.ends_with("Parameter")) {
    young_tensors_.push_back(object.address);
  }
  const auto own = [&](uint64_t bytes) { memory_.expect(object.address, bytes); };
  switch (type.shape.holds) {
    case Holds::list:
      array(object.word(layout_.list_items), object.word(layout_.var_size));
      break;
    case Holds::tuple:
      // Small ones lie whole among those that the walk comes by.
      if (object.word(layout_.var_size) <= kFewItems) break;
      array(at(object.address, layout_.tuple_items), object.word(layout_.var_size));
      break;
    case Holds::dict:
      table(object.word(layout_.dict_keys), object.word(layout_.dict_values),
            object.word(layout_.dict_used));
      break;
    case Holds::set:
      set(object);
      break;
    case Holds::deque:
      deque(object);
      break;
    case Holds::function:
      function(object);
      break;
    case Holds::lru_cache:
      own(static_cast<uint32_t>(layout_.lru_function) + kWordBytes);
      cached_function(object.address);
      break;
    case Holds::generator:
      own(kGeneratorBytes);
      break;
    default:
      break;
  }
  if (type.shape.attributes != Attributes::none || !type.shape.slots.empty()) {
    attributes(object.address, type.shape, nth);
  }
}

}  // namespace plateau
