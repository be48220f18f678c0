// SPDX-License-Identifier: Apache-2.0
// Which containers matter.
//
// In one look: the longest. Against an earlier look: those that became longer by themselves. A list
// of records that each hold a dict of three makes both the list and the dicts' total longer; what
// grew by itself is the list. So from the growth of a place is taken what its new containers
// explain: those that came, times the mean length before.
//     history     1 list,   1,000 → 2,000 items               grew by 1,000 by itself
//     history[*]  1,000 → 2,000 dicts, 3,000 → 6,000 entries  1,000 new dicts of 3: by 0 itself
//
// Which place a container belongs to may change between two looks (a function is called that has
// it as an argument, and is nearer): the same container is told by its address too.
//
// What holds tensors, images or arrays is named before what holds numbers, at the same growth: an
// item of the former owns memory beside the object.
//
// Images that Pillow opened keep what they decode at their first use, so a list of them takes more
// memory from step to step and never becomes longer. Where nothing else is known of it, a container
// of many images is named last, though it did not grow.
#include "census/find_holders.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "census/deep_tensors.h"
#include "census/holder_graph.h"
#include "census/holder_path.h"
#include "census/references.h"
#include "census/tensor_graph.h"

namespace plateau {
namespace {

constexpr uint64_t kLeastIndexedLength = 16;  // Of a container, to be known by its address.
constexpr uint64_t kLeastGrowth = 10;
constexpr uint64_t kLeastLength = 100;     // To be named in a single look.
constexpr uint64_t kLeastNewLength = 256;  // To be named though it was not there before.
constexpr uint64_t kLeastUnseen = 100;
constexpr uint64_t kLeastImages = 50;
constexpr size_t kImagesLookedAt = 4;  // Of a container, to tell what it holds.
constexpr size_t kMostCandidates = 64;
constexpr size_t kMostHolders = 20;
// Where torch notes the storages of batches that came from workers: by weak references, which hold
// nothing, and it drops the dead ones whenever there are twice as many.
constexpr std::string_view kSharedStorages = "torch.multiprocessing.reductions.SharedCache";
// What our own module in the job holds: batches that wait to be looked at.
constexpr std::string_view kOurs = "plateau_auto.";
constexpr uint64_t kMostLookedAt = 20'000;  // Items of a place.
constexpr size_t kMostContainers = 100'000;

struct Candidate {
  uint32_t place = kNowhere;
  uint64_t rank = 0;
  HolderIndex::Size before;
  bool known = false;
  bool standing = false;  // It did not grow, and is named all the same.
  std::vector<uint32_t> nodes;
};

bool is_image(std::string_view type) {
  return type.starts_with("PIL.") && (type.ends_with("Image") || type.ends_with("ImageFile"));
}

double weight_of(const Holder& holder) {
  const std::vector<HeldType>& holds = holder.holds;
  if (holder.deepened() > 0) return 16;
  if (holds.empty()) return 1;
  const std::string_view type = holds.front().type;
  constexpr std::array<std::string_view, 5> kSmall = {"int", "float", "bool", "NoneType", "str"};
  constexpr std::array<std::string_view, 4> kLarge = {"numpy.ndarray", "bytes", "bytearray",
                                                      "memoryview"};
  if (holds.front().tensor || type.starts_with("PIL.")) return 16;
  if (std::ranges::find(kLarge, type) != kLarge.end()) return 16;
  return std::ranges::find(kSmall, type) != kSmall.end() ? 0.25 : 1;
}

class HolderFinder {
 public:
  HolderFinder(const HeapCopy& copy, const HolderIndex* before, const std::function<bool()>& late)
      : copy_(copy),
        before_(before),
        references_(copy.memory, copy.layout),
        graphs_(copy.memory),
        graph_(follow_references(copy.memory, copy.layout, copy.walk, copy.roots, late)) {
    for (const TypeTally& type : copy.walk.types) types_.emplace(type.address, &type.facts);
    for (const uint64_t tensor : copy.tensors) graphs_.look(tensor);
    depths_ = depths_by_place(graph_, copy.walk, copy.tensors, graphs_);
  }

  HolderFindings find() {
    HolderFindings found;
    found.objects_reached = graph_.reached;
    found.index = index();
    if (!graph_.complete) found.trouble = "not all references could be followed in time";
    std::vector<Candidate> candidates = choose();
    gather(candidates);
    for (const Candidate& candidate : candidates) {
      if (auto holder = describe(candidate)) found.holders.push_back(std::move(*holder));
    }
    if (before_ != nullptr) add_deepened(found);
    add_unseen(found);
    std::ranges::stable_sort(found.holders, std::greater(), [&](const Holder& holder) {
      const auto size = before_ ? static_cast<double>(holder.grew() + holder.deepened())
                                : static_cast<double>(holder.length_after);
      const double doubt = holder.is_new || holder.kind == HolderKind::unseen ? 0.05 : 1;
      return size * doubt * weight_of(holder);
    });
    if (found.holders.size() > kMostHolders) found.holders.resize(kMostHolders);
    name_lines(copy_.memory, copy_.layout, copy_.roots, copy_.text, found.holders);
    return found;
  }

 private:
  const TypeShape& shape_of(const GraphNode& node) const {
    return copy_.walk.types[node.type].facts.shape;
  }
  bool is_container(const GraphNode& node) const {
    const TypeShape& shape = shape_of(node);
    return shape.counts() && shape.holds != Holds::tuple;
  }

  HolderIndex index() {
    HolderIndex index;
    index.modules = copy_.roots.modules.size();
    for (const Place& place : graph_.places) {
      if (place.containers == 0 && !place.chain) continue;
      index.places[place.identity] = {place.containers, place.length, place.objects};
      if (place.family == place.identity) continue;
      HolderIndex::Size& family = index.families[place.family];
      family.containers += place.containers;
      family.length += place.length;
      family.objects += place.objects;
    }
    for (const auto& [place, depth] : depths_) index.depths[graph_.places[place].identity] = depth;
    for (const GraphNode& node : graph_.nodes) {
      const std::string& type = copy_.walk.types[node.type].facts.name;
      ++index.objects[type];
      if (node.place == kNowhere) ++index.unseen[type];
      if (!is_container(node)) continue;
      const uint64_t length = references_.length(node.address, shape_of(node));
      if (length >= kLeastIndexedLength) index.lengths[node.address] = length;
    }
    return index;
  }

  std::vector<Candidate> choose() {
    std::vector<Candidate> chosen;
    for (uint32_t i = 0; i < graph_.places.size(); ++i) {
      Candidate candidate{.place = i};
      candidate.rank =
          before_ ? own_growth(graph_.places[i], candidate) : first_rank(graph_.places[i]);
      if (candidate.rank > 0) chosen.push_back(std::move(candidate));
    }
    if (before_ != nullptr) add_images(chosen);
    const size_t kept = std::min(chosen.size(), kMostCandidates);
    std::ranges::partial_sort(chosen, chosen.begin() + static_cast<std::ptrdiff_t>(kept),
                              std::greater(), &Candidate::rank);
    chosen.resize(kept);
    return chosen;
  }

  // Places of images that did not grow: with the least rank that is one.
  void add_images(std::vector<Candidate>& chosen) {
    std::vector<bool> known(graph_.places.size());
    for (const Candidate& candidate : chosen) known[candidate.place] = true;
    for (const GraphNode& node : graph_.nodes) {
      if (node.place == kNowhere || known[node.place] || !is_container(node)) continue;
      if (references_.length(node.address, shape_of(node)) < kLeastImages || !holds_images(node))
        continue;
      known[node.place] = true;
      chosen.push_back({.place = node.place, .rank = 1, .known = true, .standing = true});
    }
  }

  bool holds_images(const GraphNode& node) {
    size_t looked_at = 0, images = 0;
    references_.of(node.address, {.holds = shape_of(node).holds}, [&](const Edge& edge) {
      if (edge.kind == EdgeKind::key || looked_at >= kImagesLookedAt) return;
      const TypeFacts* facts = type_of(edge.target);
      ++looked_at;
      images += facts != nullptr && is_image(facts->name);
    });
    return looked_at > 0 && images == looked_at;
  }

  static uint64_t first_rank(const Place& place) {
    const bool counts = place.containers > 0 && place.label.kind != EdgeKind::attribute_dict &&
                        place.root == PlaceRoot::none;
    return counts && place.length >= kLeastLength ? place.length : 0;
  }

  uint64_t own_growth(const Place& place, Candidate& candidate) const {
    if (place.containers == 0 && !place.chain) return 0;
    auto found = before_->places.find(place.identity);
    candidate.known = found != before_->places.end();
    if (!candidate.known) {
      found = before_->families.find(place.identity);
      candidate.known = found != before_->families.end();
    } else {
      candidate.before = found->second;
    }
    if (candidate.known) candidate.before = found->second;
    const HolderIndex::Size& before = candidate.before;
    if (place.containers == 0) {
      return place.objects > before.objects + kLeastGrowth ? place.objects - before.objects : 0;
    }
    if (!candidate.known) return place.length >= kLeastNewLength ? place.length : 0;
    uint64_t explained = before.length;
    if (place.containers > before.containers && before.containers > 0) {
      explained += (place.containers - before.containers) * before.length / before.containers;
    }
    return place.length >= explained + kLeastGrowth ? place.length - explained : 0;
  }

  void gather(std::vector<Candidate>& candidates) {
    std::unordered_map<uint32_t, size_t> by_place;
    for (size_t i = 0; i < candidates.size(); ++i) by_place[candidates[i].place] = i;
    for (uint32_t i = 0; i < graph_.nodes.size(); ++i) {
      if (graph_.nodes[i].place == kNowhere) continue;
      const auto found = by_place.find(graph_.nodes[i].place);
      if (found == by_place.end()) continue;
      Candidate& candidate = candidates[found->second];
      const bool chain = graph_.places[candidate.place].containers == 0;
      if (candidate.nodes.size() < kMostContainers && (chain || is_container(graph_.nodes[i]))) {
        candidate.nodes.push_back(i);
      }
    }
  }

  std::optional<Holder> describe(const Candidate& candidate) {
    const Place& place = graph_.places[candidate.place];
    if (candidate.nodes.empty()) return std::nullopt;
    Holder holder;
    holder.chain = place.containers == 0;
    holder.type = copy_.walk.types[graph_.nodes[candidate.nodes.front()].type].facts.name;
    holder.containers = holder.chain ? place.objects : place.containers;
    holder.length_after = holder.chain ? place.objects : place.length;
    holder.length_before = holder.length_after;
    const bool compared = before_ != nullptr && !candidate.standing;
    if (compared && holder.type == kSharedStorages) return std::nullopt;
    if (compared && !compare(candidate, holder)) return std::nullopt;
    describe_place({copy_.memory, copy_.layout, copy_.walk, copy_.roots, graph_}, candidate.place,
                   holder);
    if (holder.owner.starts_with(kOurs)) return std::nullopt;
    if (!holder.chain) count_types(candidate, holder);
    return holder;
  }

  // By address where all containers were known before, else by what leads there. False: no growth.
  bool compare(const Candidate& candidate, Holder& holder) const {
    const HolderIndex::Size& before = candidate.before;
    holder.length_before = holder.chain ? before.objects : before.length;
    if (!candidate.known) {
      uint64_t length = 0;
      size_t known = 0;
      for (const uint32_t node : candidate.nodes) {
        const auto found = before_->lengths.find(graph_.nodes[node].address);
        if (found == before_->lengths.end()) continue;
        length += found->second;
        ++known;
      }
      holder.is_new = known == 0;
      holder.length_before = length;
      // Items of something that is itself new came with it.
      const bool item = graph_.places[candidate.place].label.kind == EdgeKind::item;
      if (holder.is_new && item) return false;
    }
    return holder.grew() >= static_cast<int64_t>(kLeastGrowth);
  }

  const TypeFacts* type_of(uint64_t object) {
    const auto type = read_member<uint64_t>(copy_.memory, object, copy_.layout.object_type);
    const auto found = types_.find(type.value_or(0));
    return found == types_.end() ? nullptr : found->second;
  }

  void count_types(const Candidate& candidate, Holder& holder) {
    std::unordered_map<const TypeFacts*, uint64_t> counts;
    const uint64_t stride = holder.length_after / kMostLookedAt + 1;
    uint64_t met = 0;
    for (const uint32_t node : candidate.nodes) {
      TypeShape only;
      only.holds = shape_of(graph_.nodes[node]).holds;
      references_.of(graph_.nodes[node].address, only, [&](const Edge& edge) {
        if (edge.kind == EdgeKind::key || met++ % stride != 0) return;
        items_.push_back(edge.target);
      });
    }
    for (uint64_t item : items_) {
      const TypeFacts* facts = type_of(item);
      if (facts != nullptr && facts->shape.holds == Holds::lru_element) {
        item =
            read_member<uint64_t>(copy_.memory, item, copy_.layout.lru_element_result).value_or(0);
        facts = type_of(item);
      }
      if (facts == nullptr) continue;
      ++counts[facts];
      ++holder.looked_at;
      if (!facts->tensor) continue;
      const std::optional<TensorGraph> graph = graphs_.look(item);
      if (!graph) continue;
      ++holder.tensors_looked_at;
      holder.tensors_with_graph += graph->has_grad_fn;
      const auto depth = static_cast<int64_t>(graph->depth.value_or(UINT64_MAX));
      holder.graph_depth = std::max(holder.graph_depth, depth);
    }
    items_.clear();
    std::unordered_map<std::string, HeldType> by_name;
    for (const auto& [facts, count] : counts) {
      HeldType& held = by_name[facts->name];
      held.type = facts->name;
      held.tensor = facts->tensor;
      held.count += count * holder.length_after / holder.looked_at;
    }
    for (auto& [name, held] : by_name) holder.holds.push_back(std::move(held));
    std::ranges::sort(holder.holds, [](const HeldType& a, const HeldType& b) {
      return a.count != b.count ? a.count > b.count : a.type < b.type;
    });
  }

  void add_deepened(HolderFindings& found) {
    each_deepened(graph_, copy_.walk, depths_, *before_, [&](uint32_t place, Holder holder) {
      describe_place({copy_.memory, copy_.layout, copy_.walk, copy_.roots, graph_}, place, holder);
      found.holders.push_back(std::move(holder));
    });
  }

  static uint64_t of_type(const HolderIndex& index, const std::string& type) {
    const auto found = index.objects.find(type);
    return found == index.objects.end() ? 0 : found->second;
  }

  void add_unseen(HolderFindings& found) const {
    for (const auto& [type, count] : found.index.unseen) {
      const auto earlier = before_ ? before_->unseen.find(type) : found.index.unseen.end();
      const bool known = before_ != nullptr && earlier != before_->unseen.end();
      const uint64_t before = known ? earlier->second : 0;
      if (before_ == nullptr || count < before + kLeastUnseen || count < before + before / 10) {
        continue;
      }
      // As many as were made, or one of the looks saw less than the other.
      if (of_type(found.index, type) < of_type(*before_, type) + (count - before)) continue;
      Holder holder;
      holder.type = type;
      holder.containers = 0;
      holder.length_before = before;
      holder.length_after = count;
      found.holders.push_back(std::move(holder));
    }
  }

  const HeapCopy& copy_;
  const HolderIndex* before_;
  References references_;
  TensorGraphs graphs_;
  HolderGraph graph_;
  std::unordered_map<uint32_t, uint64_t> depths_;  // Of graphs, by place.
  std::unordered_map<uint64_t, const TypeFacts*> types_;
  std::vector<uint64_t> items_;
};

}  // namespace

HolderFindings find_holders(const HeapCopy& copy, const HolderIndex* before,
                            const std::function<bool()>& late) {
  return HolderFinder(copy, before, late).find();
}

}  // namespace plateau
