// SPDX-License-Identifier: Apache-2.0
#include "words/holder_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/printable.h"
#include "base/units.h"

namespace plateau {
namespace {

constexpr double kLeastShareNamed = 0.05;  // Of the items, for a second type to be named.
constexpr size_t kMostLinesNamed = 3;
constexpr std::string_view kAdded = "added";

std::string count(uint64_t number) {
  return format_count(static_cast<int64_t>(number));
}

std::string quoted(const std::string& name) {
  return "`" + printable(name) + "`";
}

// The last part of a path.
std::string base_of(const std::string& file) {
  return printable(file.substr(file.rfind('/') + 1));
}

// "train.py:41".
std::string place_of(const Holder& holder) {
  const std::string file = base_of(holder.file);
  if (file.empty()) return "";
  return holder.line > 0 ? fmt::format(" ({}:{})", file, holder.line) : fmt::format(" ({})", file);
}

std::string where(const Holder& holder) {
  switch (holder.kind) {
    case HolderKind::global:
    case HolderKind::class_attribute:
      return fmt::format(" of module {}{}", quoted(holder.module), place_of(holder));
    case HolderKind::local:
      return fmt::format(" in {}{}", quoted(holder.function), place_of(holder));
    case HolderKind::closure:
      return fmt::format(", closed over by {}{}", quoted(holder.function), place_of(holder));
    case HolderKind::temporary:
      return fmt::format(", in use by {}{}", quoted(holder.function), place_of(holder));
    case HolderKind::thread:
      return ", local to a thread";
    case HolderKind::lru_cache:
      return place_of(holder);
    case HolderKind::unseen:
      break;
  }
  return "";
}

std::string noun(const Holder& holder) {
  const std::string type = printable(holder.type);
  if (holder.kind == HolderKind::lru_cache && holder.path == holder.function) {
    return fmt::format("lru_cache of {}", quoted(holder.function));
  }
  if (holder.chain) return fmt::format("{} linked from {}", type, quoted(holder.path));
  const std::string name = holder.path.empty() ? "" : " " + quoted(holder.path);
  if (holder.containers > 1) return fmt::format("{} {}s{}", count(holder.containers), type, name);
  return type + name;
}

// What things of a type are called. "250 bytes" would be a size.
std::string things(const std::string& type) {
  return type == "bytes" ? "bytes objects" : printable(type);
}

std::string per_step(int64_t grew, double steps) {
  const double rate = static_cast<double>(grew) / steps;
  return fmt::format(", {} per step", rate >= 1 ? fmt::format("{:.0f}", std::round(rate))
                                                : fmt::format("{:.2g}", rate));
}

std::string depth_words(const Holder& holder) {
  if (holder.graph_depth <= 0) return "";
  return fmt::format(" and graphs up to {} deep",
                     counted(static_cast<uint64_t>(holder.graph_depth), "operation"));
}

// "train.py:43, 57 and 2 more".
std::string lines_words(const std::vector<SourceLine>& lines) {
  std::string text;
  std::string_view file;
  for (size_t i = 0; i < std::min(lines.size(), kMostLinesNamed); ++i) {
    text += i == 0 ? "" : ", ";
    if (file != lines[i].file) text += base_of(lines[i].file) + ":";
    text += std::to_string(lines[i].line);
    file = lines[i].file;
  }
  if (lines.size() > kMostLinesNamed) {
    text += fmt::format(" and {} more", lines.size() - kMostLinesNamed);
  }
  return text;
}

// What the program's text says of it. `verb`: what its lines do to the holder.
std::string adding_words(const Holder& holder, std::string_view verb) {
  if (holder.added_at.empty()) return "";
  const SourceLine& first = holder.added_at.front();
  const bool one = holder.added_at.size() == 1;
  if (one && first.made_line == first.line && verb == kAdded) {
    return fmt::format(", made and {} at {}", verb, lines_words(holder.added_at));
  }
  std::string text = fmt::format(", {} at {}", verb, lines_words(holder.added_at));
  if (one && first.made_line > 0 && first.made_line != first.line) {
    text += fmt::format(", made at {}:{}", base_of(first.file), first.made_line);
  }
  return text;
}

std::string deepened_words(const Holder& holder, double steps) {
  std::string text =
      fmt::format("{}: its graph went from {} to {}", holder_name(holder),
                  count(static_cast<uint64_t>(holder.graph_depth_before)),
                  counted(static_cast<uint64_t>(holder.graph_depth), "operation") + " deep");
  if (steps > 0) text += per_step(holder.deepened(), steps);
  return text + adding_words(holder, "deepened");
}

}  // namespace

std::string holder_name(const Holder& holder) {
  if (holder.kind == HolderKind::unseen) {
    return fmt::format("{}, held by something that is not seen from Python's containers",
                       printable(holder.type));
  }
  std::string name = noun(holder) + where(holder);
  const bool nested = holder.path.find('.') != std::string::npos;
  if (nested && !holder.owner.empty() && holder.owner != "type") {
    name += fmt::format(", of a {}", printable(holder.owner));
  }
  return name;
}

std::string held_words(const Holder& holder) {
  uint64_t all = 0;
  for (const HeldType& held : holder.holds) all += held.count;
  std::string text;
  size_t named = 0;
  for (const HeldType& held : holder.holds) {
    const double share =
        static_cast<double>(held.count) / static_cast<double>(std::max<uint64_t>(all, 1));
    if (named == 2 || (named == 1 && share < kLeastShareNamed)) break;
    text += fmt::format("{}{} {}", named == 0 ? "" : " and ", count(held.count), things(held.type));
    ++named;
  }
  if (holder.tensors_with_graph > 0) {
    text += holder.tensors_with_graph == holder.tensors_looked_at
                ? ", with grad_fn"
                : fmt::format(", {:.0f} % of them with grad_fn",
                              100.0 * static_cast<double>(holder.tensors_with_graph) /
                                  static_cast<double>(holder.tensors_looked_at));
    text += depth_words(holder);
  }
  return text;
}

std::string holder_words(const Holder& holder, double steps) {
  if (holder.deepened() > 0) return deepened_words(holder, steps);
  std::string text = holder_name(holder) + ": ";
  const bool grew = holder.length_before != holder.length_after;
  if (grew) text += count(holder.length_before) + " → ";
  // The words of what is held begin with its number, which is the length where it is all of one
  // type.
  const std::string held = held_words(holder);
  const std::string length = count(holder.length_after);
  if (held.starts_with(length + " ")) {
    text += held;
  } else {
    text += length + (held.empty() ? "" : " items: " + held);
  }
  const bool images = !holder.holds.empty() && holder.holds.front().type.starts_with("PIL.");
  if (!grew && images) text += ", each of which stays decoded once it was used";
  if (grew && steps > 0 && holder.grew() > 0) text += per_step(holder.grew(), steps);
  text += adding_words(holder, !grew && images ? "assigned" : kAdded);
  return text;
}

bool holds_no_tensors(const Holder& holder) {
  return !holder.path.empty() && !holder.holds.empty() && holder.deepened() == 0 &&
         std::none_of(holder.holds.begin(), holder.holds.end(),
                      [](const HeldType& held) { return held.tensor; });
}

}  // namespace plateau
