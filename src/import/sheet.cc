// SPDX-License-Identifier: Apache-2.0
#include "import/sheet.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "base/units.h"

namespace plateau {
namespace {

void add_cell(const LogCell& cell, uint32_t row, SheetColumn& column) {
  column.labels.push_back(hash_text(cell.text));
  column.label_rows.push_back(row);
  if (cell.has_time) {
    ++column.times;
    return;
  }
  if (!cell.numeric) {
    if (cell.text.empty()) return;
    constexpr size_t kLongestText = 80;
    const std::string_view text = cell.text.substr(0, kLongestText);
    if (column.texts++ == 0) column.text = text;
    column.one_text = column.one_text && column.text == text;
    return;
  }
  const Numeral& number = cell.number;
  column.rows.push_back(row);
  column.values.push_back(number.value);
  column.unit_mb.push_back(number.unit_mb);
  column.limits_mb.push_back(cell.limit_mb);
  column.variants.push_back(cell.variant);
  column.family = cell.family;
  column.ordinal = cell.ordinal;
  column.percents += number.unit == Numeral::Unit::percent ? 1 : 0;
  column.other_units +=
      number.unit == Numeral::Unit::rate || number.unit == Numeral::Unit::time ? 1 : 0;
  column.with_unit += number.unit == Numeral::Unit::memory ? 1 : 0;
  column.signs += number.has_sign ? 1 : 0;
  column.glued += number.glued ? 1 : 0;
  column.arrows += cell.after_arrow ? 1 : 0;
  column.decimals = std::max(column.decimals, number.decimals);
}

// "Memory (MB) | allocated: 20.4 | reserved: 26.0": where the bracket ends, and what it says is MB.
struct BracketedUnit {
  size_t end = std::string_view::npos;
  double mb = 0;
};

BracketedUnit find_bracketed_unit(std::string_view line) {
  for (size_t at = line.find_first_of("(["); at != std::string_view::npos;
       at = line.find_first_of("([", at + 1)) {
    const size_t end = line.find_first_of(")]", at);
    if (end == std::string_view::npos) break;
    std::string_view word = trim(line.substr(at + 1, end - at - 1));
    if (word.starts_with("in ")) word.remove_prefix(3);
    const auto mb = unit_in_mb(word);
    if (mb && word.size() > 1) return {end, *mb};
  }
  return {};
}

// Remembers the unit that stood in brackets before the cell; two different ones are none.
void add_unit_before(const BracketedUnit& unit, std::string_view line, const LogCell& cell,
                     SheetColumn& column) {
  // A cell without a text of its own, or one that was written anew, stands nowhere in the line.
  const bool within =
      cell.text.data() >= line.data() && cell.text.data() < line.data() + line.size();
  const bool behind = unit.mb > 0 && within && cell.numeric &&
                      cell.number.unit == Numeral::Unit::none &&
                      static_cast<size_t>(cell.text.data() - line.data()) > unit.end;
  const double mb = behind ? unit.mb : 0;
  column.unit_before_mb = column.rows.size() <= 1 || column.unit_before_mb == mb ? mb : 0;
}

// vm_stat counts pages, and says in its first line how large one is.
double find_page_bytes(const std::vector<std::string_view>& lines) {
  constexpr size_t kHead = 8;
  static constexpr std::string_view kSays = "page size of ";
  for (size_t i = 0; i < std::min(kHead, lines.size()); ++i) {
    const size_t at = lines[i].find(kSays);
    if (at == std::string_view::npos) continue;
    std::string_view rest = lines[i].substr(at + kSays.size());
    return static_cast<double>(parse_int(next_word(rest)).value_or(0));
  }
  return 0;
}

// "MEM USAGE / LIMIT": the cell is read as the first.
std::string_view first_title(std::string_view title) {
  title = behind_equals(title);
  const size_t slash = title.find('/');
  if (slash == std::string_view::npos) return title;
  const SlotName rest = weigh_name(title.substr(slash + 1));
  return rest.limit || rest.total ? title.substr(0, slash) : title;
}

// "mem.util.used" in the thousands: "util" is where the figure comes from, and no share.
void forget_percent(SheetColumn& column) {
  constexpr double kNoShare = 1000;
  constexpr double kWeightOfPercent = 5;
  const bool by_word = column.name.percent && column.percents == 0 && !column.values.empty() &&
                       column.title.find('%') == std::string::npos;
  if (!by_word || *std::max_element(column.values.begin(), column.values.end()) < kNoShare) return;
  column.name.percent = false;
  column.name.weight += kWeightOfPercent;
}

}  // namespace

uint64_t hash_text(std::string_view text) {
  uint64_t hash = 0xcbf29ce484222325ull;
  for (const char c : text) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 0x100000001b3ull;
  }
  return hash == 0 ? 1 : hash;
}

Sheet read_sheet(std::unique_ptr<LogLayout> layout, const std::vector<std::string_view>& lines,
                 const std::vector<bool>& taken) {
  Sheet sheet;
  CellRow row;
  for (size_t i = 0; i < lines.size(); ++i) {
    if (taken[i]) continue;
    const bool ours = layout->cut(lines[i], row);
    if (row.starts_block) ++sheet.blocks;
    if (!ours) continue;
    const auto at = static_cast<uint32_t>(sheet.rows.size());
    sheet.rows.push_back({static_cast<uint32_t>(i), static_cast<uint32_t>(sheet.blocks),
                          !row.cells.empty(), row.has_time, row.time,
                          row.prefix.empty() ? 0 : hash_text(trim(row.prefix))});
    sheet.columns.resize(layout->columns().size());
    const BracketedUnit unit = find_bracketed_unit(lines[i]);
    for (const LogCell& cell : row.cells) {
      if (cell.column >= sheet.columns.size()) continue;
      add_cell(cell, at, sheet.columns[cell.column]);
      add_unit_before(unit, lines[i], cell, sheet.columns[cell.column]);
    }
  }
  sheet.page_bytes = find_page_bytes(lines);
  sheet.columns.resize(layout->columns().size());
  for (size_t i = 0; i < sheet.columns.size(); ++i) {
    SheetColumn& column = sheet.columns[i];
    column.title = first_title(layout->columns().name(static_cast<uint32_t>(i)));
    column.name = weigh_name(column.title);
    if (column.name.unit_mb == 0) column.name.unit_mb = column.unit_before_mb;
    forget_percent(column);
  }
  name_by_company(sheet);
  sheet.layout = std::move(layout);
  return sheet;
}

bool come_in_turn(const SheetColumn& a, const SheetColumn& b) {
  return a.family != 0 && a.family == b.family && alternate(a, b);
}

bool alternate(const SheetColumn& a, const SheetColumn& b) {
  const size_t n = std::min(a.rows.size(), b.rows.size());
  if (n == 0 || n * 10 < std::max(a.rows.size(), b.rows.size()) * 9) return false;
  size_t turns = 0;
  for (size_t i = 1; i < n; ++i) {
    const bool a_first = a.rows[i - 1] < b.rows[i - 1];
    turns += a_first ? b.rows[i - 1] < a.rows[i] : a.rows[i - 1] < b.rows[i];
  }
  return turns * 10 >= (n - 1) * 9;
}

bool stand_together(const SheetColumn& a, const SheetColumn& b) {
  size_t common = 0;
  size_t at = 0;
  for (const uint32_t row : a.rows) {
    while (at < b.rows.size() && b.rows[at] < row) ++at;
    common += at < b.rows.size() && b.rows[at] == row ? 1 : 0;
  }
  return common * 10 >= std::min(a.rows.size(), b.rows.size()) * 8;
}

}  // namespace plateau
