// SPDX-License-Identifier: Apache-2.0
#include "census/tensor_graph.h"

#include <algorithm>
#include <array>

namespace plateau {
namespace {

// Where the C++ tensor may be in Python's object, and its AutogradMeta in the C++ tensor.
constexpr std::array<uint64_t, 2> kImplPlaces = {16, 24};
constexpr std::array<uint64_t, 4> kMetaPlaces = {24, 32, 16, 40};
// In AutogradMeta: a pointer, a std::string of 32 bytes, the gradient, then grad_fn.
constexpr uint64_t kName = 8;
constexpr uint64_t kNameLength = 16;
constexpr uint64_t kNameBuffer = 24;
constexpr uint64_t kGradFn = 48;
constexpr size_t kTensorBytes = 32;
constexpr size_t kImplBytes = 48;
constexpr size_t kMetaBytes = 56;

// A node: the number, a flag, a thread's id and a mutex, then the edges (a vector).
struct NodeLayout {
  uint64_t depth = 0;
  uint64_t edges = 0;
  uint64_t edge_bytes = 0;  // An edge begins with a pointer to the next node.
};
constexpr NodeLayout kCountedInPlace = {.depth = 24, .edges = 88, .edge_bytes = 16};
constexpr NodeLayout kShared = {.depth = 32, .edges = 96, .edge_bytes = 24};
constexpr uint64_t kSelf = 8;  // Of a node that is shared.
constexpr size_t kNodeBytes = 120;
constexpr uint64_t kMostEdges = 1 << 20;
constexpr uint64_t kEdgesRead = 16;

bool is_pointer(uint64_t value) {
  return value >= 0x10000 && value >> 47 == 0 && value % 8 == 0;
}

uint64_t word(MemoryReader& memory, uint64_t address) {
  return read_value<uint64_t>(memory, address).value_or(0);
}

bool is_meta(MemoryReader& memory, uint64_t address) {
  return is_pointer(address) && is_pointer(word(memory, address)) &&
         word(memory, address + kName) == address + kNameBuffer &&
         read_value<uint64_t>(memory, address + kNameLength).value_or(1) == 0 &&
         read_value<uint8_t>(memory, address + kNameBuffer).value_or(1) == 0;
}

const NodeLayout& layout_of(MemoryReader& memory, uint64_t node) {
  return word(memory, node + kSelf) == node ? kShared : kCountedInPlace;
}

struct Edges {
  uint64_t first = 0;
  uint64_t count = 0;
};

std::optional<Edges> edges_of(MemoryReader& memory, uint64_t node, const NodeLayout& layout) {
  const uint64_t first = word(memory, node + layout.edges);
  const uint64_t end = word(memory, node + layout.edges + 8);
  if (first == 0 && end == 0) return Edges{};
  const bool whole = is_pointer(first) && end >= first && (end - first) % layout.edge_bytes == 0;
  if (!whole || (end - first) / layout.edge_bytes > kMostEdges) return std::nullopt;
  return Edges{first, (end - first) / layout.edge_bytes};
}

void expect_node(MemoryReader& memory, uint64_t node) {
  memory.expect(node, kNodeBytes);
  const NodeLayout& layout = layout_of(memory, node);
  const auto edges = edges_of(memory, node, layout);
  if (!edges) return;
  const uint64_t count = std::min(edges->count, kEdgesRead);
  memory.expect(edges->first, count * layout.edge_bytes);
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t next = word(memory, edges->first + i * layout.edge_bytes);
    if (is_pointer(next)) memory.expect(next, kNodeBytes);
  }
}

// The number of the node, if the nodes that it leads to bear it out.
std::optional<uint64_t> depth_of(MemoryReader& memory, uint64_t node) {
  if (!is_pointer(word(memory, node))) return std::nullopt;
  const NodeLayout& layout = layout_of(memory, node);
  const auto depth = read_value<uint64_t>(memory, node + layout.depth);
  const auto edges = edges_of(memory, node, layout);
  if (!depth || !edges) return std::nullopt;
  std::optional<uint64_t> deepest;
  for (uint64_t i = 0; i < std::min(edges->count, kEdgesRead); ++i) {
    const uint64_t next = word(memory, edges->first + i * layout.edge_bytes);
    if (next == 0) continue;
    const auto of_next = is_pointer(next) ? read_value<uint64_t>(memory, next + layout.depth)
                                          : std::optional<uint64_t>();
    if (!of_next || *of_next >= *depth) return std::nullopt;
    deepest = std::max(deepest.value_or(0), *of_next);
  }
  if (!deepest) return *depth == 0 ? depth : std::nullopt;
  const bool borne_out = *deepest + 1 == *depth || edges->count > kEdgesRead;
  return borne_out ? depth : std::nullopt;
}

}  // namespace

void expect_tensor(MemoryReader& memory, uint64_t address) {
  memory.expect(address, kTensorBytes);
  for (const uint64_t impl_at : kImplPlaces) {
    const uint64_t impl = word(memory, address + impl_at);
    if (!is_pointer(impl)) continue;
    memory.expect(impl, kImplBytes);
    for (const uint64_t meta_at : kMetaPlaces) {
      const uint64_t meta = word(memory, impl + meta_at);
      if (!is_pointer(meta)) continue;
      memory.expect(meta, kMetaBytes);
      const uint64_t node = is_meta(memory, meta) ? word(memory, meta + kGradFn) : 0;
      if (is_pointer(node)) expect_node(memory, node);
    }
  }
}

std::optional<TensorGraph> TensorGraphs::look(uint64_t address) {
  for (const uint64_t impl_at : kImplPlaces) {
    const uint64_t impl = word(memory_, address + impl_at);
    if (!is_pointer(impl)) continue;
    for (const uint64_t meta_at : kMetaPlaces) {
      const uint64_t meta = word(memory_, impl + meta_at);
      if (!is_meta(memory_, meta)) continue;
      const auto grad_fn = read_value<uint64_t>(memory_, meta + kGradFn);
      if (!grad_fn || (*grad_fn != 0 && !is_pointer(*grad_fn))) return std::nullopt;
      known_ = {impl_at, meta_at};
      if (*grad_fn == 0) return TensorGraph{.has_grad_fn = false, .depth = 0};
      return TensorGraph{.has_grad_fn = true, .depth = depth_of(memory_, *grad_fn)};
    }
  }
  if (!known_) return std::nullopt;
  const uint64_t impl = word(memory_, address + known_->impl);
  const auto meta = is_pointer(impl) ? read_value<uint64_t>(memory_, impl + known_->meta)
                                     : std::optional<uint64_t>();
  if (!meta || *meta != 0) return std::nullopt;
  return TensorGraph{.has_grad_fn = false, .depth = 0};
}

}  // namespace plateau
