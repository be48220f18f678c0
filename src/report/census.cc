// SPDX-License-Identifier: Apache-2.0
#include "report/census.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/units.h"
#include "report/layout.h"
#include "words/holder_words.h"

namespace plateau {
namespace {

constexpr size_t kCountColumn = 12;
constexpr size_t kSizeColumn = 9;
constexpr size_t kLeastTypeColumn = 16;
constexpr size_t kHoldersShown = 5;

std::string count(uint64_t number) {
  return format_count(static_cast<int64_t>(number));
}

std::string signed_count(int64_t number) {
  return (number > 0 ? "+" : "") + format_count(number);
}

std::string size(uint64_t bytes) {
  if (bytes == 0) return "-";
  return format_mb(static_cast<double>(bytes) / kBytesPerMb);
}

std::string milliseconds(double seconds) {
  const double ms = seconds * 1000;
  return ms < 10 ? fmt::format("{:.1f} ms", ms) : fmt::format("{:.0f} ms", ms);
}

std::string type_text(const View& view, const std::string& type, bool tensor, size_t used) {
  const size_t room = std::max(view.width > used ? view.width - used : 0, kLeastTypeColumn);
  const std::string name = shorten(printable(type), room);
  return tensor ? paint(view, Ink::bold, name) : name;
}

void say_tensors(Layout& layout, uint64_t tensors, std::string_view text) {
  if (tensors == 0) return;
  layout.say("Torch", fmt::format("{}; the Python client lists them by device, dtype and shape "
                                  "(plateau.start(census=True)).",
                                  text));
}

void say_notes(Layout& layout, const Census& census) {
  if (census.unreadable > 0) {
    layout.say("Note", fmt::format("the type of {} could not be read.",
                                   counted(census.unreadable, "object")));
  }
  layout.say("Note",
             "only what the garbage collector tracks is counted: strings, numbers, bytes and "
             "arrays are not tracked. SIZE is what sys.getsizeof reports, without what an "
             "object points to, such as the data of a tensor.");
}

// Who holds them comes first: it names the line to change.
void say_holders(Layout& layout, const HolderFindings& found, bool grown, size_t top) {
  if (!found.trouble.empty()) {
    layout.say("Note", fmt::format("who holds the objects is not known: {}.", found.trouble));
  }
  if (found.holders.empty()) return;
  layout.line(grown ? "What holds more than before:" : "What holds most:");
  for (size_t i = 0; i < std::min(top, found.holders.size()); ++i) {
    layout.say("", holder_words(found.holders[i]));
  }
  layout.line("");
}

template <typename Types>
uint64_t tensors_of(const Types& types) {
  uint64_t tensors = 0;
  for (const TypeCount& type : types) tensors += type.tensor ? type.objects : 0;
  return tensors;
}

std::string head_of(const Census& census, const View& view) {
  return paint(view, Ink::bold, fmt::format("pid {}: CPython 3.{}", census.pid, census.minor));
}

}  // namespace

std::string render_census(const Census& census, const View& view, size_t top) {
  Layout layout(view);
  layout.line(fmt::format("{}, {} of {}; stopped {}", head_of(census, view),
                          counted(census.objects, "object"), counted(census.types.size(), "type"),
                          milliseconds(census.stopped_s)));
  layout.line("");
  say_holders(layout, census.holders, false, kHoldersShown);
  const auto row = [&](std::string_view objects, std::string_view bytes, std::string_view type) {
    layout.line(fmt::format("{} {}  {}", pad_left(objects, kCountColumn),
                            pad_left(bytes, kSizeColumn), type));
  };
  row("OBJECTS", "SIZE", "TYPE");
  const size_t shown = std::min(top, census.types.size());
  uint64_t rest_objects = 0;
  uint64_t rest_bytes = 0;
  for (size_t i = 0; i < census.types.size(); ++i) {
    const TypeCount& type = census.types[i];
    if (i >= shown) {
      rest_objects += type.objects;
      rest_bytes += type.bytes;
      continue;
    }
    row(count(type.objects), size(type.bytes),
        type_text(view, type.type, type.tensor, kCountColumn + kSizeColumn + 3));
  }
  if (shown < census.types.size()) {
    row(count(rest_objects), size(rest_bytes), counted(census.types.size() - shown, "more type"));
  }
  layout.line("");
  const uint64_t tensors = tensors_of(census.types);
  say_tensors(layout, tensors, counted(tensors, "torch tensor"));
  say_notes(layout, census);
  return layout.take();
}

std::string render_census_growth(const CensusPair& pair, const View& view, size_t top) {
  const CensusGrowth growth = compare_census(pair.before, pair.after);
  Layout layout(view);
  layout.line(fmt::format("{}, {} → {} in {}; stopped {} and {}", head_of(pair.after, view),
                          count(growth.objects_before), counted(growth.objects_after, "object"),
                          format_seconds(pair.seconds), milliseconds(pair.before.stopped_s),
                          milliseconds(pair.after.stopped_s)));
  layout.line("");
  say_holders(layout, pair.after.holders, true, kHoldersShown);
  const auto row = [&](std::string_view grown, std::string_view now, std::string_view bytes,
                       std::string_view type) {
    layout.line(fmt::format("{} {} {}  {}", pad_left(grown, kCountColumn),
                            pad_left(now, kCountColumn), pad_left(bytes, kSizeColumn + 1), type));
  };
  size_t grew = 0;
  size_t shrank = 0;
  size_t shown = 0;
  for (const TypeGrowth& type : growth.types) {
    shrank += type.objects_grown() < 0;
    if (type.objects_grown() <= 0) continue;
    if (grew++ == 0) row("GROWN", "OBJECTS", "SIZE", "TYPE");
    if (shown >= top) continue;
    ++shown;
    row(signed_count(type.objects_grown()), count(type.objects_after),
        format_mb_signed(static_cast<double>(type.bytes_grown()) / kBytesPerMb),
        type_text(view, type.type, type.tensor, 2 * kCountColumn + kSizeColumn + 5));
  }
  if (grew > shown)
    layout.line(fmt::format("  and {} that grew less", counted(grew - shown, "type")));
  if (grew == 0) layout.line("  no type has more objects than before");
  layout.line("");
  layout.say("Rest", fmt::format("{} shrank, {} kept their number.", counted(shrank, "type"),
                                 growth.types.size() - grew - shrank));
  const uint64_t before = tensors_of(pair.before.types);
  const uint64_t after = tensors_of(pair.after.types);
  say_tensors(layout, before + after, fmt::format("{} → {} tensors", count(before), count(after)));
  say_notes(layout, pair.after);
  return layout.take();
}

}  // namespace plateau
