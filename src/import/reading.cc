// SPDX-License-Identifier: Apache-2.0
#include "import/reading.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/text.h"
#include "base/units.h"
#include "import/csv_fields.h"
#include "import/envelope.h"
#include "import/line_reader.h"
#include "import/reading_parts.h"
#include "import/run_builder.h"
#include "import/sheet.h"
#include "import/transposed.h"
#include "import/unit_evidence.h"

namespace plateau {
namespace {

constexpr size_t kMostLines = 6000;
constexpr size_t kFirsts = 4;        // Readings by which another reader's are recognised.
constexpr size_t kMostMeasures = 6;  // Other columns kept beside the one that decides.

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty() && lines.size() < kMostLines) {
    const size_t end = std::min(text.find_first_of("\r\n"), text.size());
    lines.push_back(text.substr(0, end));
    // As lines are read later: "\r\n" ends one line, not two.
    const size_t mark = text.substr(end).starts_with("\r\n") ? 2 : 1;
    text.remove_prefix(std::min(text.size(), end + mark));
  }
  return lines;
}

std::string shown(const SheetColumn& column) {
  return column.title.empty() ? "(no name)" : fmt::format("'{}'", trim(column.title));
}

void account_for(const Sheet& sheet, Reading& reading) {
  for (size_t i = 0; i < sheet.columns.size(); ++i) {
    const SheetColumn& column = sheet.columns[i];
    if (column.values.size() < kFewest) continue;
    reading.account.push_back(fmt::format(
        "{} in {}: {}, first {:.6g}, last {:.6g}, weight {:.1f}", shown(column),
        sheet.layout->describe(), counted(column.values.size(), "reading"), column.values.front(),
        column.values.back(), memory_weight(sheet, static_cast<uint32_t>(i))));
  }
}

// All are in kB, written or by name, and in pages.
bool is_in_kernel_kb(const SheetColumn& column) {
  KbEvidence kb;
  for (size_t i = 0; i < column.values.size(); ++i) {
    const double unit = column.unit_mb[i] > 0 ? column.unit_mb[i] : column.name.unit_mb;
    if (unit != kKbInMb) return false;
    kb.see(column.values[i]);
  }
  return kb.is_of_kernel(trim(column.title));
}

// The figures of Go's runtime beside each other. Its "Alloc" is the heap's, not a GPU's.
bool is_of_go(const Sheet& sheet) {
  return std::any_of(sheet.columns.begin(), sheet.columns.end(), [](const SheetColumn& column) {
    return lists("total alloc,heap inuse,heap sys,heap idle,num gc", ",",
                 plain_words(column.title));
  });
}

// "GC Reserved Memory" beside "System Used Memory": what is reserved is a device's pool only where
// something else is a device's.
bool names_a_device(const Sheet& sheet) {
  return std::any_of(sheet.columns.begin(), sheet.columns.end(), [](const SheetColumn& column) {
    return !column.values.empty() && (column.name.gpu || column.name.metric == Metric::gpu);
  });
}

// Other measures of the same thing beside the chosen column: RSS beside PSS, GPU beside host.
void add_measures(const Sheet& sheet, Reading& reading) {
  const SheetColumn& main = sheet.columns[reading.memory.front().column];
  for (uint32_t i = 0; i < sheet.columns.size(); ++i) {
    const SheetColumn& other = sheet.columns[i];
    if (reading.memory.size() >= kMostMeasures) break;
    if (&other == &main || !other.name.metric || other.rows.size() * 10 < main.rows.size() * 9)
      continue;
    if (memory_weight(sheet, i) < kEnough || other.name.free || other.name.peak || other.name.total)
      continue;
    if (other.percents > 0 || other.name.percent) continue;
    // "GPU:0" is a device's number.
    if (*std::max_element(other.values.begin(), other.values.end()) <= 0) continue;
    const Metric metric = *other.name.metric;
    if (metric == Metric::memory || metric == Metric::swap) continue;
    if (metric == Metric::gpu_reserved && !names_a_device(sheet)) continue;
    const bool known = std::any_of(reading.memory.begin(), reading.memory.end(),
                                   [metric](const MemoryColumn& m) { return m.metric == metric; });
    if (!known) reading.memory.push_back(memory_column(sheet, i, {}, nullptr));
  }
}

// free, buffers and cache beside each other: what a process could still get is their sum.
void add_caches(const Sheet& sheet, MemoryColumn& memory) {
  if (!memory.falls || plain_words(memory.title).find("avail") != std::string::npos) return;
  for (uint32_t i = 0; i < sheet.columns.size(); ++i) {
    const std::string words = plain_words(sheet.columns[i].title);
    const bool cache = lists("buff cache buffers cached kbbuffers kbcached", " ", words);
    if (cache &&
        sheet.columns[i].rows.size() * 10 >= sheet.columns[memory.column].rows.size() * 9) {
      memory.plus.push_back(i);
    }
  }
}

// The name of all there is: "total", or "Allocated memory: 7,828 MB" that stands still above "Free
// memory" and is what a runtime has taken so far.
bool names_all(const SheetColumn& column) {
  return column.name.total || (column.name.memory && !column.name.free && !column.name.limit &&
                               lists("allocated memory,allocated", ",", plain_words(column.title)));
}

// "total: 201.4 GB, available: 190.8 GB": what is used is the difference.
void add_total(const Sheet& sheet, MemoryColumn& memory) {
  const SheetColumn& free = sheet.columns[memory.column];
  if (!memory.falls || free.values.empty()) return;
  for (const SheetColumn& other : sheet.columns) {
    if (!names_all(other) || other.values.size() < kFewest || other.percents > 0) continue;
    const auto [least, most] = std::minmax_element(other.values.begin(), other.values.end());
    if (*least < *most || (other.with_unit > 0) != (free.with_unit > 0)) continue;
    if (other.unit_mb.front() != other.unit_mb.back()) continue;
    if (!stand_together(free, other) && !alternate(free, other)) continue;
    const double total_mb = other.mb(0, memory.bare_mb);
    bool holds = total_mb > 0;
    for (size_t i = 0; i < free.values.size(); ++i) {
      holds = holds && free.mb(i, memory.bare_mb) <= total_mb;
    }
    if (holds) memory.total_mb = total_mb * memory.kb_mb / kKbInMb;
  }
}

// "Initial memory usage: 19224 kB" before chains without a name: too few to be a column of its own.
void add_alike(const Sheet& sheet, MemoryColumn& memory) {
  const SheetColumn& main = sheet.columns[memory.column];
  if (main.name.memory || main.with_unit == 0) return;
  for (uint32_t i = 0; i < sheet.columns.size(); ++i) {
    const SheetColumn& other = sheet.columns[i];
    const bool few = !other.values.empty() && other.values.size() < kFewest;
    if (few && other.with_unit == other.values.size() && memory_weight(sheet, i) >= kSure) {
      memory.alike.push_back(i);
    }
  }
}

// "Working: 622 MB | Private: 1392 MB | Paged: 1392 MB": one process, measured several ways.
bool is_measure_of_windows(const SheetColumn& column) {
  return lists("private,private bytes,paged,nonpaged,vm,commit,page file,ws,pm,npm,priv", ",",
               plain_words(column.title));
}

// The same to the last digit in many readings.
bool stands_still(const SheetColumn& column) {
  constexpr size_t kMany = 20;
  return column.values.size() >= kMany &&
         std::all_of(column.values.begin(), column.values.end(),
                     [&column](double value) { return value == column.values.front(); });
}

// "worker: 180MiB / 1.9GiB" and "cache: 90MiB / 1.9GiB" in turn: what is measured against the same
// limit is the same measure, of things that have these names.
bool share_a_limit(const SheetColumn& a, const SheetColumn& b) {
  const auto all_have = [&a](const SheetColumn& column) {
    return !column.limits_mb.empty() &&
           std::all_of(column.limits_mb.begin(), column.limits_mb.end(),
                       [&a](double mb) { return mb > 0 && mb == a.limits_mb.front(); });
  };
  return !a.limits_mb.empty() && all_have(a) && all_have(b) && alternate(a, b);
}

// "rank0_rss, rank1_rss": columns that say the same of different things are series.
void add_series_by_title(const Sheet& sheet, const ReadingWishes& wishes, Reading& reading) {
  const uint32_t first = reading.memory.front().column;
  const SheetColumn& main = sheet.columns[first];
  if (reading.series != SeriesBy::nothing || !wishes.series.empty()) return;
  // Without a word for memory, amounts in every cell say it: "1.2 GiB" under names of pods.
  const bool by_unit = !main.name.memory && main.with_unit == main.values.size() &&
                       !main.title.empty() && !main.title.starts_with("column ") &&
                       main.arrows == 0;
  if (!main.name.memory && !by_unit) return;
  std::vector<MemoryColumn> others;
  for (uint32_t i = 0; i < sheet.columns.size(); ++i) {
    const SheetColumn& other = sheet.columns[i];
    if (i == first || other.title == main.title) continue;
    if (by_unit && is_measure_of_windows(other)) return;
    // Nothing says that it is the same of another: it has no name, or "of" is all of it.
    const bool nameless =
        other.title.empty() || lists("of,and,in,at,to,for", ",", plain_words(other.title));
    if (by_unit && nameless) continue;
    if (by_unit ? other.with_unit < other.values.size() : !other.name.memory) continue;
    const bool beside = other.rows.size() * 2 >= main.rows.size() && other.values.size() >= kFewest;
    const bool limited = by_unit && beside && share_a_limit(main, other);
    if (limited) {
      reading.apart = true;
      others.push_back(memory_column(sheet, i, wishes, nullptr));
      continue;
    }
    if (!beside || other.name.weight != main.name.weight || other.name.metric != main.name.metric)
      continue;
    if (other.values == main.values) continue;  // Go's Alloc and HeapAlloc.
    // "system bytes" beside "in use bytes" is another measure of the same thing.
    if (other.name.used != main.name.used || other.name.machine != main.name.machine) continue;
    if (other.name.peak != main.name.peak) continue;  // "top_heap_words" is its own highest.
    if (memory_weight(sheet, i) < kEnough) continue;
    if ((other.with_unit > 0) != (main.with_unit > 0) || other.percents != main.percents) continue;
    const bool together = stand_together(main, other);
    if (!together && !come_in_turn(main, other)) continue;
    // "Immobile space usage" between "Dynamic space usage": a size, and no other course.
    if (!together && stands_still(other) && !stands_still(main)) continue;
    const bool named_so = std::any_of(others.begin(), others.end(), [&](const MemoryColumn& known) {
      return known.title == trim(other.title);
    });
    if (named_so || (!others.empty() && together == reading.apart)) continue;
    reading.apart = !together;
    others.push_back(memory_column(sheet, i, wishes, nullptr));
  }
  if (others.empty()) return;
  reading.series = SeriesBy::title;
  if (reading.apart) {
    reading.remarks.push_back(fmt::format("{} and {} come in turn: read as series", shown(main),
                                          others.size() == 1
                                              ? fmt::format("'{}'", others.front().title)
                                              : fmt::format("{} others like it", others.size())));
  }
  for (MemoryColumn& other : others) reading.memory.push_back(std::move(other));
}

// Whether a line's first figure is about the last one of the line before: then all are readings.
// Before and after, in contrast, jump back.
bool goes_on_from_line_to_line(const SheetColumn& column) {
  double within = 0;
  double between = 0;
  double first = column.values.front();
  for (size_t i = 1; i < column.values.size(); ++i) {
    if (column.rows[i] == column.rows[i - 1]) continue;
    within += std::abs(column.values[i - 1] - first);
    between += std::abs(column.values[i] - column.values[i - 1]);
    first = column.values[i];
  }
  return between <= 0.5 * within || within == 0;
}

void settle_pairs(const SheetColumn& column, Reading& reading) {
  if (column.arrows == 0) return;
  const size_t firsts = column.values.size() - column.arrows;
  if (column.arrows > 2 * firsts || goes_on_from_line_to_line(column)) return;
  // "memory [459mb]->[384mb]/[1007mb]": who writes the capacity too has collected.
  const auto limits = static_cast<size_t>(std::count_if(
      column.limits_mb.begin(), column.limits_mb.end(), [](double mb) { return mb > 0; }));
  const bool named = column.name.memory && !column.title.empty();
  reading.pair = named && limits * 2 < column.arrows ? PairTakes::first : PairTakes::last;
  reading.remarks.emplace_back(reading.pair == PairTakes::last
                                   ? "of each pair 'a -> b' the second was taken: what was left"
                                   : "of each pair 'a -> b' the first was taken");
}

void say_what_was_there(const std::vector<Sheet>& sheets, Reading& reading) {
  for (const Sheet& sheet : sheets) {
    for (const SheetColumn& column : sheet.columns) {
      if (column.values.size() < kFewest || column.title.empty()) continue;
      if (!column.name.memory && column.with_unit * 2 < column.values.size()) continue;
      reading.found.push_back(
          fmt::format("{} have {}", counted(column.values.size(), "line"), shown(column)));
      if (reading.found.size() >= 3) return;
    }
  }
}

// What users must know of the column that was chosen.
void remark_on(const SheetColumn& column, Reading& reading) {
  if (reading.memory.front().falls) {
    reading.remarks.push_back(fmt::format(
        "{} is memory that is free: what {} is shown as used", shown(column),
        reading.memory.front().total_mb > 0 ? "the total beside it leaves" : "it fell by"));
  }
  if (column.name.peak) {
    reading.remarks.push_back(fmt::format("{} is a running peak: it cannot fall", shown(column)));
  }
  if (!reading.sure) {
    reading.remarks.push_back(
        fmt::format("{} was taken for the memory without being sure; `plateau convert --explain` "
                    "shows the rest",
                    shown(column)));
  }
}

// A clock or a series that was asked for and is none would otherwise go unnoticed.
void note_missing(const ReadingWishes& wishes, Reading& reading) {
  const auto asked = [](const std::string& wish) {
    return !wish.empty() && !equal_ignoring_case(wish, "none");
  };
  const bool clock = reading.step_column != kNoColumn || reading.time_column != kNoColumn;
  if (asked(wishes.clock) && !clock) reading.missing = wishes.clock;
  if (asked(wishes.series) && reading.series != SeriesBy::column) reading.missing = wishes.series;
}

// What other readers of the same lines are compared by.
void describe_course(const SheetColumn& column, Reading& reading) {
  reading.told_apart = column.family != 0;
  reading.expected = column.values.size();
  reading.moves = std::any_of(column.values.begin(), column.values.end(),
                              [&column](double value) { return value != column.values.front(); });
  for (size_t i = 0; i < std::min(kFirsts, column.values.size()); ++i) {
    const MemoryColumn& memory = reading.memory.front();
    const double kb = column.unit_mb[i] == kKbInMb ? memory.kb_mb / kKbInMb : 1;
    reading.firsts_mb.push_back(column.mb(i, memory.bare_mb) * kb);
  }
}

// The fractions of a collector's seconds are no decimals of the program's.
NumberStyle style_of(const std::vector<std::string_view>& lines,
                     const std::optional<Envelope>& envelope) {
  NumberStyleEvidence numbers;
  for (const std::string_view line : lines) {
    const auto opened = envelope ? envelope->open(line) : std::nullopt;
    numbers.see(opened ? opened->rest : line);
  }
  return numbers.style();
}

// The head as lines are read later: without what terminals take for colours.
std::string_view without_colours(std::string_view head, std::string& storage) {
  if (head.find('\x1b') == std::string_view::npos) return head;
  storage = head;
  storage.resize(strip_ansi(storage.data(), storage.size()));
  return storage;
}

}  // namespace

MemoryColumn memory_column(const Sheet& sheet, uint32_t at, const ReadingWishes& wishes,
                           Reading* remark_to) {
  const SheetColumn& column = sheet.columns[at];
  MemoryColumn out;
  out.column = at;
  out.title = trim(column.title);
  out.metric = column.name.metric.value_or(Metric::memory);
  if (is_table_of_free(sheet, column)) out.metric = Metric::system_used;
  if (out.metric == Metric::gpu && !column.name.gpu &&
      (is_of_go(sheet) || counts_a_heap(sheet, column))) {
    out.metric = Metric::memory;
  }
  out.falls = column.name.free && !column.name.used;
  const bool percent =
      column.percents * 2 > column.values.size() || (column.name.percent && column.with_unit == 0);
  UnitFound unit = percent ? UnitFound{kPercentMb, "percent", "", false} : find_unit(sheet, column);
  if (wishes.unit_mb > 0) unit = {wishes.unit_mb, "as told", "", true};
  out.bare_mb = unit.mb > 0 ? unit.mb : 1;
  if (wishes.unit_mb == 0 && is_in_kernel_kb(column)) out.kb_mb = kKernelKbInMb;
  if (remark_to == nullptr) return out;
  if (out.kb_mb == kKernelKbInMb) remark_to->remarks.push_back(kernel_kb_note(out.title));
  remark_to->sure = unit.sure;
  if (percent && wishes.unit_mb == 0) {
    remark_to->remarks.push_back(fmt::format(
        "{} is in percent of a total that the log does not name: sizes are shown as if it were "
        "16 GB; --unit says what one percent is",
        shown(column)));
  } else if (!unit.why.empty()) {
    remark_to->remarks.push_back(fmt::format("{} names no unit: read as {} ({}){}", shown(column),
                                             unit.name, unit.why,
                                             unit.sure ? "" : "; --unit says otherwise"));
  }
  return out;
}

Reading learn_reading(std::string_view head, const ReadingWishes& wishes) {
  std::string colourless;
  head = without_colours(head, colourless);
  if (looks_transposed(without_bom(head))) {
    Reading reading;
    reading.has_memory = reading.transposed = true;
    reading.expected = 1;
    return reading;
  }
  const std::vector<std::string_view> raw = lines_of(without_bom(head));
  std::vector<std::string> storage(raw.size());
  std::vector<std::string_view> lines(raw.size());
  for (size_t i = 0; i < raw.size(); ++i) lines[i] = plain_line(raw[i], storage[i]);

  Reading reading;
  const std::optional<Envelope> envelope = Envelope::of(lines);
  const NumberStyle style = style_of(lines, envelope);
  reading.own_numerals = style.decimal_comma || style.space_groups;
  std::vector<Sheet> sheets = read_sheets(lines, style);
  if (envelope) add_sheets_in(*envelope, lines, style, sheets);
  std::optional<ChosenColumn> chosen = choose_memory(sheets, wishes, lines.size());
  for (const Sheet& sheet : sheets) {
    if (sheet.opened == (chosen && sheets[chosen->sheet].opened)) account_for(sheet, reading);
  }
  if (!chosen) {
    say_what_was_there(sheets, reading);
    return reading;
  }
  if (wishes.memory.empty()) settle_nameless(sheets, *chosen);
  Sheet& sheet = sheets[chosen->sheet];
  const SheetColumn& column = sheet.columns[chosen->column];
  reading.has_memory = true;
  reading.weight = chosen->weight;
  reading.memory.push_back(memory_column(sheet, chosen->column, wishes, &reading));
  // Whoever names the memory wants that and no other, and needs not be told of doubts.
  const bool told = !wishes.memory.empty();
  reading.sure = reading.sure && (told || (chosen->weight >= kSure && column.name.memory));
  add_caches(sheet, reading.memory.front());
  add_total(sheet, reading.memory.front());
  settle_pairs(column, reading);
  choose_series(sheet, chosen->column, wishes, reading);
  choose_clock(sheet, chosen->column, wishes, reading);
  note_missing(wishes, reading);
  if (reading.pair == PairTakes::all) add_alike(sheet, reading.memory.front());
  add_series_by_title(sheet, wishes, reading);
  if (reading.series != SeriesBy::title && !told) add_measures(sheet, reading);
  if (!told) choose_others(sheet, reading);
  remark_on(column, reading);
  describe_course(column, reading);
  reading.layout = std::move(sheet.layout);
  reading.layout->freeze();
  return reading;
}

}  // namespace plateau
