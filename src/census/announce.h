// SPDX-License-Identifier: Apache-2.0
// Announces, while the process stands still, the memory that following references will need when
// it no longer does: arrays of lists, tables of dicts and sets, blocks of deques, values of
// instances, and some of what large containers hold.
//
// Objects themselves need no announcing: the walk over the collector's lists copies what lies
// around them, and small objects lie together.
#pragma once

#include <cstdint>
#include <functional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "census/memory_reader.h"
#include "census/references.h"
#include "census/type_facts.h"

namespace plateau {

class Announcer {
 public:
  Announcer(MemoryReader& memory, const PythonLayout& layout)
      : memory_(memory), layout_(layout), references_(memory, layout) {}

  // What an object on a list of the collector needs beside itself. `nth`: of its type, from 1 on;
  // of very many alike only what is cheap is announced, because what is kept many times over is
  // held, and does not hold.
  void object(const TypeFacts& type, const ObjectStart& object, uint64_t nth);

  // What a variable or an attribute holds. A dict that holds only text and numbers is on no list: a
  // cache of bytes is one.
  void named(uint64_t address);
  void dict(uint64_t address);
  [[nodiscard]] bool is_dict(uint64_t address);
  void text(uint64_t address);

  // When all objects were told: of the items that were announced those of a type that is a tensor's
  // are looked into, those that have a name, and the youngest, whoever holds them. Returns some.
  std::vector<uint64_t> tensors(const std::function<bool(uint64_t)>& is_tensor_type);

  // There is no time left: nothing is announced from here on.
  void give_up() { given_up_ = true; }
  [[nodiscard]] bool gave_up() const { return given_up_; }

  // Types of things that long containers hold.
  [[nodiscard]] const std::unordered_set<uint64_t>& item_types() const { return item_types_; }

 private:
  uint64_t word(uint64_t address, int32_t offset);
  void range(uint64_t address, uint64_t bytes);
  void samples(uint64_t first, uint64_t count, uint64_t stride_bytes);
  void array(uint64_t address, uint64_t count);
  void table(uint64_t keys, uint64_t values, uint64_t used);
  void set(const ObjectStart& object);
  void deque(const ObjectStart& object);
  void function(const ObjectStart& object);
  void cached_function(uint64_t address);
  void attributes(uint64_t address, const TypeShape& shape, uint64_t nth);
  void shared_names(uint64_t keys);
  bool makes_dicts(uint64_t type);
  void values_before(uint64_t address);

  MemoryReader& memory_;
  const PythonLayout& layout_;
  References references_;
  std::unordered_set<uint64_t> item_types_;
  uint64_t last_item_type_ = 0;
  struct Item {
    uint64_t address = 0;
    uint64_t type = 0;
  };
  std::vector<Item> few_items_;                     // A few of each long container.
  std::vector<Item> named_;                         // Of variables and attributes.
  std::vector<uint64_t> young_tensors_;             // A few of each type of tensor.
  std::unordered_map<uint64_t, bool> makes_dicts_;  // By address of the type.
  bool given_up_ = false;
};

}  // namespace plateau
