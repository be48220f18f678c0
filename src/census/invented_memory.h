// SPDX-License-Identifier: Apache-2.0
// For tests: memory that never was, with a Python heap in it that can be damaged at will.
#pragma once

#include <cstring>
#include <vector>

#include "census/heap_walk.h"
#include "census/memory_reader.h"

namespace plateau {

// One block of bytes at kBase; nothing else exists.
class InventedMemory final : public MemoryReader {
 public:
  static constexpr uint64_t kBase = 0x10000;

  explicit InventedMemory(size_t bytes) : bytes_(bytes) {}

  bool read(uint64_t address, void* out, size_t bytes, bool /*near*/) override {
    ++reads;
    if (address < kBase || address - kBase > bytes_.size()) return false;
    if (bytes > bytes_.size() - (address - kBase)) return false;
    std::memcpy(out, bytes_.data() + (address - kBase), bytes);
    return true;
  }

  // Takes room from the front; zeroed.
  uint64_t take(size_t bytes) {
    const uint64_t at = kBase + used_;
    used_ += (bytes + 15) / 16 * 16;
    return at;
  }
  template <typename T>
  void put(uint64_t address, T value) {
    std::memcpy(bytes_.data() + (address - kBase), &value, sizeof value);
  }
  void put_text(uint64_t address, const char* text) {
    std::memcpy(bytes_.data() + (address - kBase), text, std::strlen(text) + 1);
  }
  [[nodiscard]] size_t used() const { return used_; }

  size_t reads = 0;

 private:
  std::vector<unsigned char> bytes_;
  size_t used_ = 0;
};

// An interpreter of the given version with `count` objects of the type "thing" in its youngest
// generation.
class InventedHeap {
 public:
  InventedHeap(int minor, int count) : memory(1 << 20) {
    const PythonLayout& layout = *python_layout(minor);
    place = {.layout = layout, .runtime = memory.take(64 << 10)};
    interpreter = memory.take(16 << 10);
    put(place.runtime, layout.runtime_interpreters_head, interpreter);
    gc = (minor <= 8 ? place.runtime : interpreter) + static_cast<uint32_t>(layout.gc);
    for (int i = 0; i < 3; ++i)
      make_ring(gc + offset(layout.gc_generations) +
                static_cast<uint64_t>(i * layout.gc_generation_bytes));
    make_ring(gc + offset(layout.gc_permanent));
    type = memory.take(1024);
    const uint64_t name = memory.take(16);
    memory.put_text(name, "thing");
    put(type, layout.type_name, name);
    put(type, layout.type_basic_bytes, uint64_t{32});
    put(type, layout.type_flags, uint64_t{1} << 14);
    for (int i = 0; i < count; ++i) add_object();
  }

  // Links of the object with this place in the ring.
  void set_next(size_t i, uint64_t to) { put(nodes[i], place.layout.gc_head_next, to); }
  void set_prev(size_t i, uint64_t to) { put(nodes[i], place.layout.gc_head_prev, to); }
  void set_type(size_t i, uint64_t to) {
    put(nodes[i] + offset(place.layout.gc_head_bytes), place.layout.object_type, to);
  }
  [[nodiscard]] uint64_t young() const { return gc + offset(place.layout.gc_generations); }

  template <typename T>
  void put(uint64_t address, int32_t at, T value) {
    memory.put(address + offset(at), value);
  }
  static uint64_t offset(int32_t at) { return static_cast<uint32_t>(at); }

  InventedMemory memory;
  PythonPlace place;
  uint64_t interpreter = 0;
  uint64_t gc = 0;
  uint64_t type = 0;
  std::vector<uint64_t> nodes;

 private:
  void make_ring(uint64_t head) {
    put(head, place.layout.gc_head_next, head);
    put(head, place.layout.gc_head_prev, head);
  }
  void add_object() {
    const uint64_t node = memory.take(64);
    const uint64_t last = nodes.empty() ? young() : nodes.back();
    put(last, place.layout.gc_head_next, node);
    nodes.push_back(node);
    set_prev(nodes.size() - 1, last | 1);  // Flags in the low bits are no part of the link.
    set_next(nodes.size() - 1, young());
    put(young(), place.layout.gc_head_prev, node);
    set_type(nodes.size() - 1, type);
  }
};

}  // namespace plateau
