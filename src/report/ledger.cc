// SPDX-License-Identifier: Apache-2.0
#include "report/ledger.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "base/units.h"

namespace plateau {
namespace {

constexpr std::array<std::pair<std::string_view, std::string_view>, 9> kWords = {
    {{"live-heap", "live heap"},
     {"allocator-overhead", "allocator overhead"},
     {"allocator-held", "held by the allocator"},
     {"arenas", "Python arenas"},
     {"arenas-free", "Python arenas, free"},
     {"files", "mapped files"},
     {"files-written", "mapped files, written"},
     {"shared", "shared memory"},
     {"thread-stacks", "thread stacks"}}};

constexpr size_t kAmountColumns = 10;
constexpr size_t kNameColumns = 22;
constexpr size_t kBarColumns = 16;
constexpr size_t kBarFromWidth = 90;  // Narrower, the source needs the room.

struct TableRow {
  std::string words;
  double mb = 0;
  std::string source;
};

std::vector<TableRow> rows_of(const Ledger& ledger) {
  std::vector<TableRow> rows;
  for (const LedgerLine& line : ledger.lines) {
    if (line.mb == 0) continue;
    rows.push_back({std::string(ledger_line_words(line.name)), line.mb, line.source});
  }
  rows.push_back({"rest", ledger.rest_mb, "what no line claims"});
  return rows;
}

std::string bar_of(double mb, double most_mb, bool utf8) {
  if (!(most_mb > 0)) return "";
  const double share = std::min(std::abs(mb) / most_mb, 1.0);
  const auto filled = static_cast<size_t>(std::lround(share * static_cast<double>(kBarColumns)));
  std::string bar;
  for (size_t i = 0; i < filled; ++i) bar += utf8 ? "█" : "#";
  return bar;
}

// The rows with their sources wrapped beside them, then the notes.
std::string table_of(const Ledger& ledger, const View& view, bool is_change) {
  const std::vector<TableRow> rows = rows_of(ledger);
  double most_mb = 0;
  for (const TableRow& row : rows) most_mb = std::max(most_mb, std::abs(row.mb));
  const bool has_bar = view.plot && view.width >= kBarFromWidth;
  std::string out;
  for (const TableRow& row : rows) {
    const std::string amount = is_change ? format_mb_signed(row.mb) : format_mb(row.mb);
    std::string lead = pad_left(amount, kAmountColumns) + "  " + pad_right(row.words, kNameColumns);
    if (has_bar) lead += "  " + pad_right(bar_of(row.mb, most_mb, view.utf8), kBarColumns);
    lead += "  ";
    const size_t margin = display_width(lead);
    const size_t room = std::max<size_t>(view.width, margin + 16) - margin;
    for (const std::string& part : wrap(printable(row.source), room)) {
      out += lead + paint(view, Ink::dim, part) + "\n";
      lead.assign(margin, ' ');
    }
  }
  for (const std::string& note : ledger.notes) {
    std::string lead = "  note: ";
    for (const std::string& part : wrap(printable(note), std::max<size_t>(view.width, 40) - 8)) {
      out += lead + part + "\n";
      lead.assign(8, ' ');
    }
  }
  return view.utf8 ? out : to_ascii(out);
}

void write_members(JsonWriter& json, const Ledger& ledger) {
  const auto line = [](JsonWriter& each, const LedgerLine& of) {
    each.value(json_object("name", of.name, "mb", of.mb, "source", of.source));
  };
  json.members("rss_mb", ledger.rss_mb, "lines", json_list(ledger.lines, line));
  json.members("rest_mb", ledger.rest_mb, "notes", ledger.notes);
}

}  // namespace

std::string_view ledger_line_words(std::string_view name) {
  for (const auto& [stable, words] : kWords) {
    if (stable == name) return words;
  }
  return name;
}

std::string ledger_text(const Ledger& ledger, const View& view) {
  return paint(view, Ink::bold, fmt::format("resident {} =", format_mb(ledger.rss_mb))) + "\n" +
         table_of(ledger, view, false);
}

std::string ledger_growth_text(const LedgerGrowth& growth, const View& view) {
  const auto moment = [](double step, double seconds) {
    return step >= 0 ? fmt::format("step {}", format_count(static_cast<int64_t>(step)))
                     : format_seconds(seconds);
  };
  const bool has_steps = growth.from_step >= 0;
  const std::string title =
      fmt::format("resident {} from {} to {} =", format_mb_signed(growth.change.rss_mb),
                  moment(growth.from_step, growth.from_s),
                  moment(has_steps ? growth.to_step : -1, growth.to_s));
  return paint(view, Ink::bold, title) + "\n" + table_of(growth.change, view, true);
}

void write_ledger_json(JsonWriter& json, const Ledger& ledger) {
  json.begin_object();
  write_members(json, ledger);
  json.end_object();
}

void write_ledger_growth_json(JsonWriter& json, const LedgerGrowth& growth) {
  json.begin_object();
  json.members("from_step", value_if(growth.from_step >= 0, growth.from_step));
  json.members("to_step", value_if(growth.to_step >= 0, growth.to_step));
  json.members("from_s", growth.from_s, "to_s", growth.to_s);
  write_members(json, growth.change);
  json.end_object();
}

}  // namespace plateau
