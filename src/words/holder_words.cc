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

std::string count(uint64_t number) {
  return format_count(static_cast<int64_t>(number));
}

std::string quoted(const std::string& name) {
  return "`" + printable(name) + "`";
}

// "train.py:41": the last part of the path.
std::string place_of(const Holder& holder) {
  const std::string file = printable(holder.file.substr(holder.file.rfind('/') + 1));
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
    text +=
        fmt::format("{}{} {}", named == 0 ? "" : " and ", count(held.count), printable(held.type));
    ++named;
  }
  if (holder.tensors_with_graph > 0) {
    text += holder.tensors_with_graph == holder.tensors_looked_at
                ? ", with grad_fn"
                : fmt::format(", {:.0f} % of them with grad_fn",
                              100.0 * static_cast<double>(holder.tensors_with_graph) /
                                  static_cast<double>(holder.tensors_looked_at));
  }
  return text;
}

std::string holder_words(const Holder& holder, double steps) {
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
  if (grew && steps > 0 && holder.grew() > 0) {
    const double rate = static_cast<double>(holder.grew()) / steps;
    text += fmt::format(", {} per step", rate >= 1 ? fmt::format("{:.0f}", std::round(rate))
                                                   : fmt::format("{:.2g}", rate));
  }
  return text;
}

}  // namespace plateau
