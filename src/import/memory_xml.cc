// SPDX-License-Identifier: Apache-2.0
// Two reports in XML that processes write about their own heaps again and again:
//
//   malloc_info(), glibc:            <malloc version="1"> <heap nr="0"> … </heap>
//                                    <total type="mmap" count="2" size="4198400"/>
//                                    <system type="current" size="91234304"/> … </malloc>
//   -Xverbosegclog of OpenJ9:        <gc-end … timestamp="2026-04-07T10:00:03.136">
//                                    <mem-info id="14" free="953741824" total="1073741824" …>
//
// Of malloc_info() the figures behind the heaps count, which are those of all of them: what malloc
// has from the system, by brk and by mmap. Of a collector's mem-info the one after a collection
// counts: total less free is what it left; the one before says how full the heap was, which is no
// news. A line of `date` before a report is its time.
//
// Blind spot: what malloc has is more than what the program keeps, by what is free in its heaps.
#include <cmath>
#include <optional>

#include "base/text.h"
#include "import/readers.h"
#include "import/run_builder.h"

namespace plateau {
namespace {

// The value of ` name="value"` in a tag.
std::optional<std::string_view> attribute(std::string_view tag, std::string_view name) {
  for (size_t at = tag.find(name); at != std::string_view::npos; at = tag.find(name, at + 1)) {
    const std::string_view rest = tag.substr(at + name.size());
    if (at == 0 || tag[at - 1] != ' ' || !rest.starts_with("=\"")) continue;
    return rest.substr(2, rest.find('"', 2) - 2);
  }
  return std::nullopt;
}

std::optional<double> megabytes(std::string_view tag, std::string_view name) {
  const auto text = attribute(tag, name);
  const auto bytes = text ? parse_double(*text) : std::nullopt;
  if (!bytes) return std::nullopt;
  return *bytes / 1e6;
}

// Rows of one figure, by their times or numbered.
class Reports {
 public:
  Reports(RunBuilder& builder, std::string_view label)
      : builder_(builder),
        column_(builder.memory_column(builder.process(0, false), Metric::memory, label)) {}

  void at(const Stamp& stamp) { time_s_ = builder_.time_of(stamp); }

  void put(double mb, size_t line) {
    Instant instant;
    instant.time_s = time_s_;
    if (std::isnan(time_s_)) {
      instant.step = count_;
      builder_.note(kNumberedInOrder);
    }
    ++count_;
    builder_.row(instant, line);
    builder_.set_mb(column_, mb);
  }

 private:
  RunBuilder& builder_;
  size_t column_;
  double time_s_ = kMissing;
  int64_t count_ = 0;
};

// What stands between <malloc> and </malloc>, outside of its heaps.
struct MallocReport {
  bool in_heap = false;
  double arenas_mb = 0;
  double mapped_mb = 0;

  void tag(std::string_view tag) {
    if (tag.starts_with("<heap")) in_heap = true;
    if (tag.starts_with("</heap")) in_heap = false;
    if (in_heap) return;
    const std::string_view type = attribute(tag, "type").value_or("");
    const double mb = megabytes(tag, "size").value_or(0);
    if (tag.starts_with("<system") && type == "current") arenas_mb = mb;
    if (tag.starts_with("<total") && type == "mmap") mapped_mb = mb;
  }
};

}  // namespace

Result<Runs> read_malloc_info(LineReader& lines) {
  RunBuilder builder("malloc-info");
  Reports reports(builder, "malloc");
  std::optional<MallocReport> open;
  std::string_view line;
  while (lines.next(line)) {
    line = trim(line);
    if (line.starts_with("<malloc")) open.emplace();
    if (!line.starts_with('<')) {
      if (const auto date = parse_date_line(line)) reports.at(*date);
      continue;
    }
    if (open) open->tag(line);
    if (!open || !line.starts_with("</malloc")) continue;
    reports.put(open->arenas_mb + open->mapped_mb, lines.number());
    open.reset();
  }
  return builder.finish(lines.number());
}

Result<Runs> read_verbose_gc(LineReader& lines) {
  RunBuilder builder("openj9");
  Reports reports(builder, "heap");
  bool collected = false;
  std::string_view line;
  while (lines.next(line)) {
    line = trim(line);
    if (line.starts_with("<gc-start")) collected = false;
    if (line.starts_with("<gc-end")) {
      collected = true;
      const auto stamp = parse_stamp(attribute(line, "timestamp").value_or(""));
      if (stamp) reports.at(*stamp);
    }
    if (!collected || !line.starts_with("<mem-info")) continue;
    collected = false;
    const auto free_mb = megabytes(line, "free");
    const auto total_mb = megabytes(line, "total");
    if (!free_mb || !total_mb) {
      builder.bad(lines.number(), line.substr(0, 80));
      continue;
    }
    reports.put(*total_mb - *free_mb, lines.number());
  }
  return builder.finish(lines.number());
}

}  // namespace plateau
