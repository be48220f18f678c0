// SPDX-License-Identifier: Apache-2.0
#include "census/holder_graph.h"

#include <algorithm>
#include <utility>

#include "census/python_text.h"

namespace plateau {
namespace {

constexpr uint64_t kFewKeys = 16;  // A dict with more is a table, and its keys are data.
constexpr size_t kMostPlaces = size_t{1} << 22;
constexpr size_t kMostNodes = size_t{1} << 27;
constexpr size_t kStepsBetweenClocks = 4096;

uint64_t mix(uint64_t a, uint64_t b) {
  uint64_t mixed = (a ^ (b + 0x9E3779B97F4A7C15U + (a << 6) + (a >> 2))) * 0xff51afd7ed558ccdU;
  return mixed ^ (mixed >> 32);
}

uint64_t label_hash(const Edge& label) {
  return mix(mix(static_cast<uint64_t>(label.kind) + 1, label.name), label.index);
}

bool is_same_label(const Edge& a, const Edge& b) {
  return a.kind == b.kind && a.name == b.name && a.index == b.index;
}

// Nodes by address; open addressing, because it is asked once per reference.
class NodeTable {
 public:
  explicit NodeTable(const std::vector<GraphNode>& nodes) : nodes_(nodes) {
    size_t slots = 1024;
    while (slots < nodes.size() * 2) slots *= 2;
    fill(slots);
  }
  [[nodiscard]] uint32_t find(uint64_t address) const {
    for (size_t slot = slot_of(address);; slot = (slot + 1) & (slots_.size() - 1)) {
      if (slots_[slot] == kNowhere || nodes_[slots_[slot]].address == address) return slots_[slot];
    }
  }
  // The last of the nodes is new.
  void added() {
    if (nodes_.size() * 2 > slots_.size()) {
      fill(slots_.size() * 2);
    } else {
      put(static_cast<uint32_t>(nodes_.size() - 1));
    }
  }

 private:
  [[nodiscard]] size_t slot_of(uint64_t address) const {
    return static_cast<size_t>(((address >> 4) * 0x9E3779B97F4A7C15U) >> 20) & (slots_.size() - 1);
  }
  void put(uint32_t node) {
    size_t slot = slot_of(nodes_[node].address);
    while (slots_[slot] != kNowhere) slot = (slot + 1) & (slots_.size() - 1);
    slots_[slot] = node;
  }
  void fill(size_t slots) {
    slots_.assign(slots, kNowhere);
    for (uint32_t i = 0; i < nodes_.size(); ++i) put(i);
  }

  const std::vector<GraphNode>& nodes_;
  std::vector<uint32_t> slots_;
};

class GraphBuilder {
 public:
  GraphBuilder(MemoryReader& memory, const PythonLayout& layout, const HeapWalk& walk,
               const std::function<bool()>& late)
      : memory_(memory),
        layout_(layout),
        walk_(walk),
        late_(late),
        references_(memory, layout),
        graph_{.nodes = nodes_of(walk)},
        table_(graph_.nodes) {
    for (uint32_t i = 0; i < walk.types.size(); ++i) types_.emplace(walk.types[i].address, i);
  }

  HolderGraph build(const Roots& roots) {
    const size_t main = main_module(roots);
    if (main < roots.modules.size()) start_module(roots, main);
    for (size_t i = 0; i < roots.frames.size(); ++i) start_frame(roots, i);
    for (size_t i = 0; i < roots.modules.size(); ++i) {
      if (i != main) start_module(roots, i);
    }
    for (const uint64_t values : roots.thread_values) {
      const uint32_t place = root_place(PlaceRoot::thread, 0, 0);
      references_.of_namespace(values, visitor(place, 0));
    }
    follow();
    // What is only on a stack of values comes last: such a place may hold what stood there before.
    for (size_t i = 0; i < roots.frames.size(); ++i) {
      const uint32_t place = root_place(PlaceRoot::stack, roots.frames[i].code, i);
      references_.of_stack(roots.frames[i].frame, [&](const Edge& edge) {
        if (table_.find(edge.target) != kNowhere) reach(place, edge.target);
      });
    }
    follow();
    return std::move(graph_);
  }

 private:
  static std::vector<GraphNode> nodes_of(const HeapWalk& walk) {
    std::vector<GraphNode> nodes;
    nodes.reserve(walk.seen.size() + walk.seen.size() / 8);
    for (const SeenObject& object : walk.seen) {
      nodes.push_back({.address = object.address, .type = object.type});
    }
    return nodes;
  }

  size_t main_module(const Roots& roots) {
    size_t i = 0;
    for (; i < roots.modules.size(); ++i) {
      if (read_python_str(memory_, layout_, roots.modules[i].name) == "__main__") break;
    }
    return i;
  }

  void start_module(const Roots& roots, size_t index) {
    const ModuleRoot& module = roots.modules[index];
    const uint32_t node = table_.find(module.dict);
    // The same module may be there under two names.
    if (node != kNowhere &&
        std::exchange(graph_.nodes[node].place,
                      root_place(PlaceRoot::module, module.dict, index)) != kNowhere) {
      return;
    }
    references_.of_namespace(module.dict,
                             visitor(root_place(PlaceRoot::module, module.dict, index), 0));
  }

  void start_frame(const Roots& roots, size_t index) {
    const uint32_t place = root_place(PlaceRoot::frame, roots.frames[index].code, index);
    references_.of_frame(roots.frames[index].frame, visitor(place, 0));
  }

  uint32_t root_place(PlaceRoot root, uint64_t key, size_t index) {
    const uint64_t identity = mix(static_cast<uint64_t>(root), key);
    return add_place(
        {.root = root, .label = {.index = index}, .identity = identity, .family = identity});
  }

  uint32_t add_place(const Place& place) {
    const auto [found, fresh] =
        by_identity_.try_emplace(place.identity, static_cast<uint32_t>(graph_.places.size()));
    if (fresh) graph_.places.push_back(place);
    return found->second;
  }

  // What makes two references from one place the same to a reader.
  static Edge label_of(const Edge& edge, uint64_t length) {
    switch (edge.kind) {
      case EdgeKind::item:
      case EdgeKind::key:
        return {.kind = edge.kind};
      case EdgeKind::entry:
        if (length > kFewKeys) return {.kind = EdgeKind::item};
        return {.kind = edge.kind, .name = edge.name};
      case EdgeKind::attribute:
        return {.kind = edge.kind, .name = edge.name};
      default:
        return {.kind = edge.kind, .name = edge.name, .index = edge.index};
    }
  }

  static bool is_name(const Edge& label) {
    return label.kind == EdgeKind::attribute || label.kind == EdgeKind::slot;
  }

  uint32_t child_place(uint32_t parent, const Edge& label) {
    Place& from = graph_.places[parent];
    if (label.kind == EdgeKind::part && label.index == static_cast<uint64_t>(Part::value)) {
      return parent;
    }
    if (is_name(label) && from.root == PlaceRoot::none) {
      if (is_same_label(label, from.label)) {
        from.chain = true;
        return parent;
      }
      const Place& before = graph_.places[from.parent];
      if (from.label.kind == EdgeKind::item && before.root == PlaceRoot::none &&
          is_same_label(label, before.label)) {
        return from.parent;
      }
    }
    if (graph_.places.size() >= kMostPlaces) {
      graph_.complete = false;
      return parent;
    }
    const uint64_t identity = mix(from.identity, label_hash(label));
    const bool keyed = label.kind == EdgeKind::entry;
    const uint64_t family =
        keyed ? mix(from.identity, label_hash({.kind = EdgeKind::item})) : identity;
    return add_place({.parent = parent, .label = label, .identity = identity, .family = family});
  }

  VisitEdge visitor(uint32_t place, uint64_t length) {
    return [this, place, length](const Edge& edge) {
      const uint32_t node = node_of(edge.target);
      if (node == kNowhere || graph_.nodes[node].place != kNowhere) return;
      const uint32_t to = child_place(place, label_of(edge, length));
      arrive(node, to, edge.kind != EdgeKind::attribute_dict);
    };
  }

  void reach(uint32_t place, uint64_t target) {
    const uint32_t node = node_of(target);
    if (node != kNowhere && graph_.nodes[node].place == kNowhere) arrive(node, place, true);
  }

  void arrive(uint32_t index, uint32_t place_index, bool to_be_followed) {
    GraphNode& node = graph_.nodes[index];
    Place& place = graph_.places[place_index];
    node.place = place_index;
    ++graph_.reached;
    ++place.objects;
    if (place.example == kNowhere) place.example = index;
    const TypeShape& shape = walk_.types[node.type].facts.shape;
    if (shape.counts() && shape.holds != Holds::tuple) {
      ++place.containers;
      place.length += references_.length(node.address, shape);
    }
    if (to_be_followed && !shape.holds_nothing()) queue_.push_back(index);
  }

  // Of an object on the collector's lists, or of a container that is on none.
  uint32_t node_of(uint64_t address) {
    const uint32_t known = table_.find(address);
    if (known != kNowhere) return known;
    const auto type = read_member<uint64_t>(memory_, address, layout_.object_type);
    const auto found = types_.find(type.value_or(0));
    if (found == types_.end() || graph_.nodes.size() >= kMostNodes) return kNowhere;
    const TypeShape& shape = walk_.types[found->second].facts.shape;
    if (!shape.counts() && shape.holds != Holds::lru_element) return kNowhere;
    graph_.nodes.push_back({.address = address, .type = found->second});
    table_.added();
    return static_cast<uint32_t>(graph_.nodes.size() - 1);
  }

  void follow() {
    for (; next_ < queue_.size(); ++next_) {
      if (next_ % kStepsBetweenClocks == 0 && late_()) {
        graph_.complete = false;
        return;
      }
      const GraphNode node = graph_.nodes[queue_[next_]];
      const TypeShape& shape = walk_.types[node.type].facts.shape;
      references_.of(node.address, shape,
                     visitor(node.place, references_.length(node.address, shape)));
    }
  }

  MemoryReader& memory_;
  const PythonLayout& layout_;
  const HeapWalk& walk_;
  const std::function<bool()>& late_;
  References references_;
  HolderGraph graph_;
  NodeTable table_;
  std::unordered_map<uint64_t, uint32_t> types_;        // By address.
  std::unordered_map<uint64_t, uint32_t> by_identity_;  // Places.
  std::vector<uint32_t> queue_;
  size_t next_ = 0;
};

}  // namespace

HolderGraph follow_references(MemoryReader& memory, const PythonLayout& layout,
                              const HeapWalk& walk, const Roots& roots,
                              const std::function<bool()>& late) {
  return GraphBuilder(memory, layout, walk, late).build(roots);
}

}  // namespace plateau
