// SPDX-License-Identifier: Apache-2.0
#include "census/holder_path.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/text.h"
#include "census/python_text.h"

namespace plateau {
namespace {

constexpr size_t kMostNames = 24;  // Of a path; those in the middle of a longer one are left out.
constexpr size_t kLongestKey = 40;

// Whether somebody who writes a program has named this, as in `state['losses']` and
// `logs['train/loss']`. Any other key may be data: an address, a question, a line of text.
bool reads_like_a_name(std::string_view key) {
  constexpr std::string_view kWithin = "_.-/";
  const auto is_part = [&](char c) {
    return is_letter(c) || is_digit(c) || kWithin.find(c) != kWithin.npos;
  };
  return !key.empty() && key.size() <= kLongestKey &&
         (is_letter(key.front()) || key.front() == '_') && std::ranges::all_of(key, is_part);
}

const char* part_name(uint64_t part) {
  switch (static_cast<Part>(part)) {
    case Part::self:
      return ".__self__";
    case Part::function:
      return ".__func__";
    case Part::defaults:
      return ".__defaults__";
    case Part::arguments:
      return ".args";
    case Part::traceback:
      return ".__traceback__";
    case Part::context:
      return ".__context__";
    case Part::frame:
      return ".tb_frame";
    case Part::next:
      return ".tb_next";
    case Part::value:
      break;
  }
  return "";
}

class PathReader {
 public:
  PathReader(const PathSource& source, Holder& holder) : source_(source), holder_(holder) {}

  void read(uint32_t place) {
    std::vector<uint32_t> way;
    for (uint32_t at = place; at != kNowhere; at = source_.graph.places[at].parent) {
      way.push_back(at);
    }
    std::ranges::reverse(way);
    begin(source_.graph.places[way.front()]);
    for (size_t i = 1; i < way.size(); ++i) {
      if (i >= kMostNames / 2 && i + kMostNames / 2 < way.size()) {
        if (i == kMostNames / 2) holder_.path += "…";
        continue;
      }
      step(source_.graph.places[way[i]]);
    }
    name_owner(source_.graph.places[place]);
  }

 private:
  std::string text(uint64_t address) {
    return read_python_str(source_.memory, source_.layout, address).value_or("?");
  }

  void begin(const Place& root) {
    switch (root.root) {
      case PlaceRoot::module:
        begin_module(source_.roots.modules[root.label.index]);
        break;
      case PlaceRoot::frame:
      case PlaceRoot::stack: {
        const FrameRoot& frame = source_.roots.frames[root.label.index];
        name_function(frame.code, frame.instruction);
        holder_.kind = root.root == PlaceRoot::stack ? HolderKind::temporary : HolderKind::local;
        break;
      }
      case PlaceRoot::thread:
        holder_.kind = HolderKind::thread;
        break;
      case PlaceRoot::none:
        break;
    }
  }

  void begin_module(const ModuleRoot& module) {
    holder_.kind = HolderKind::global;
    holder_.module = text(module.name);
    const auto file = find_in_dict(source_.memory, source_.layout, module.dict, "__file__");
    if (file) holder_.file = read_python_str(source_.memory, source_.layout, *file).value_or("");
  }

  void name_function(uint64_t code, int32_t instruction) {
    CodeText read = read_code(source_.memory, source_.layout, code, instruction);
    holder_.function = read.function.empty() ? "?" : std::move(read.function);
    holder_.file = std::move(read.file);
    holder_.line = read.line;
    holder_.module.clear();
  }

  void step(const Place& place) {
    const Edge& label = place.label;
    switch (label.kind) {
      case EdgeKind::attribute:
        if (is_class(place.parent)) holder_.kind = HolderKind::class_attribute;
        return attribute(text(label.name));
      case EdgeKind::slot:
        return attribute(read_c_string(source_.memory, label.name).value_or("?"));
      case EdgeKind::item:
        holder_.path += "[*]";
        return;
      case EdgeKind::entry:
        return entry(label.name);
      case EdgeKind::key:
        holder_.path += ".keys()";
        return;
      case EdgeKind::local:
        return local(place);
      case EdgeKind::free_variable:
        holder_.kind = HolderKind::closure;
        name_function(label.name, -1);
        holder_.path =
            free_name(source_.memory, source_.layout, label.name, label.index).value_or("?");
        return;
      case EdgeKind::cached:
        return cached(label.name);
      case EdgeKind::part:
        holder_.path += part_name(label.index);
        return;
      case EdgeKind::attribute_dict:
        holder_.path += ".__dict__";
        return;
    }
  }

  void attribute(const std::string& name) {
    if (!holder_.path.empty()) holder_.path += '.';
    holder_.path += name;
  }

  void entry(uint64_t key) {
    const auto name = read_python_str(source_.memory, source_.layout, key);
    holder_.path += name && reads_like_a_name(*name) ? fmt::format("['{}']", *name) : "[*]";
  }

  // Of a frame that runs its line is known; a generator that waits is told by where it begins.
  void local(const Place& place) {
    const bool waits = source_.graph.places[place.parent].root == PlaceRoot::none;
    if (waits) name_function(place.label.name, -1);
    holder_.kind = HolderKind::local;
    holder_.path = local_name(source_.memory, source_.layout, place.label.name, place.label.index)
                       .value_or("?");
  }

  void cached(uint64_t function) {
    const PythonLayout& layout = source_.layout;
    const auto code = read_member<uint64_t>(source_.memory, function, layout.function_code);
    name_function(code.value_or(0), -1);
    const auto name = read_member<uint64_t>(source_.memory, function, layout.function_qualname);
    holder_.kind = HolderKind::lru_cache;
    holder_.function = text(name.value_or(0));
    holder_.path = holder_.function;
  }

  bool is_class(uint32_t place) {
    const TypeFacts* facts = facts_at(place);
    if (facts == nullptr) return false;
    const uint32_t node = source_.graph.places[place].example;
    constexpr uint64_t kTypeSubclass = uint64_t{1} << 31;
    const auto type = read_member<uint64_t>(source_.memory, source_.graph.nodes[node].address,
                                            source_.layout.object_type);
    const auto flags =
        read_member<uint64_t>(source_.memory, type.value_or(0), source_.layout.type_flags);
    return flags ? (*flags & kTypeSubclass) != 0 : facts->name == "type";
  }

  const TypeFacts* facts_at(uint32_t place) {
    if (place == kNowhere) return nullptr;
    const uint32_t node = source_.graph.places[place].example;
    return node == kNowhere ? nullptr : &source_.walk.types[source_.graph.nodes[node].type].facts;
  }

  void name_owner(const Place& place) {
    const bool named = place.label.kind == EdgeKind::attribute ||
                       place.label.kind == EdgeKind::slot ||
                       place.label.kind == EdgeKind::attribute_dict;
    if (!named || holder_.kind == HolderKind::class_attribute) return;
    const TypeFacts* owner = facts_at(place.parent);
    if (owner != nullptr && owner->name != "module") holder_.owner = owner->name;
  }

  const PathSource& source_;
  Holder& holder_;
};

}  // namespace

void describe_place(const PathSource& source, uint32_t place, Holder& holder) {
  PathReader(source, holder).read(place);
}

}  // namespace plateau
