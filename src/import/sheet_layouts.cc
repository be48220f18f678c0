// SPDX-License-Identifier: Apache-2.0
// Which layouts the lines of a file could have: a table with separators, tables under headers of
// words, and text. A line that a table explains is not read as text too: its numbers would come
// twice, the second time without their names.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <unordered_set>
#include <utility>

#include "base/text.h"
#include "base/units.h"
#include "import/csv_fields.h"
#include "import/line_stamp.h"
#include "import/matrix_header.h"
#include "import/reading_parts.h"
#include "import/typed_line.h"
#include "import/unit_evidence.h"

namespace plateau {
namespace {

constexpr size_t kMostHeaders = 4;
constexpr size_t kMostNames = 64;  // Of rows, where rows are named.

bool starts_with_digit(std::string_view piece) {
  while (!piece.empty() && (piece.front() == '-' || piece.front() == '+' || piece.front() == '"')) {
    piece.remove_prefix(1);
  }
  return !piece.empty() && is_digit(piece.front());
}

size_t numbers_in(std::string_view line) {
  size_t count = 0;
  for (std::string_view rest = line; !trim(rest).empty();) {
    count += starts_with_digit(next_word(rest)) ? 1 : 0;
  }
  return count;
}

// A line that is drawn: nothing to read in it.
bool is_rule(std::string_view line) {
  return std::none_of(line.begin(), line.end(), [](char c) { return is_letter(c) || is_digit(c); });
}

// The number of fields that most lines have, if at least three fifths of them agree.
struct Width {
  size_t fields = 0;
  size_t lines = 0;
};
Width common_width(const std::vector<std::string_view>& lines, char separator) {
  CsvFields cutter(separator);
  std::map<size_t, size_t> widths;
  size_t filled = 0;
  for (const std::string_view line : lines) {
    if (is_rule(line)) continue;
    ++filled;
    ++widths[cutter.cut(line).size()];
  }
  Width best;
  for (const auto& [fields, count] : widths) {
    if (fields >= 2 && count > best.lines) best = {fields, count};
  }
  return best.lines >= 3 && best.lines * 5 >= filled * 3 ? best : Width{};
}

// The first line of that width, if it names columns rather than filling them.
std::string_view header_of(const std::vector<std::string_view>& lines, char separator,
                           const Width& width) {
  CsvFields cutter(separator);
  for (const std::string_view line : lines) {
    const std::vector<std::string_view>& fields = cutter.cut(line);
    if (fields.size() != width.fields && fields.size() + 1 != width.fields) continue;
    if (is_rule(line)) continue;
    size_t names = 0;
    size_t numbers = 0;
    size_t empty = 0;  // As before the first bar of Markdown, and behind the last.
    for (const std::string_view field : fields) {
      empty += trim(field).empty() ? 1 : 0;
      numbers += starts_with_digit(trim(field)) ? 1 : 0;
      names += std::any_of(field.begin(), field.end(), is_letter) ? 1 : 0;
    }
    return names > 0 && numbers * 3 <= fields.size() && names * 2 >= fields.size() - empty ? line
                                                                                           : "";
  }
  return "";
}

// "0fill", as a column may be called, and not "512MiB".
bool is_name_from_digit(std::string_view piece) {
  const size_t digits = std::min(piece.find_first_not_of("0123456789"), piece.size());
  const std::string_view letters = piece.substr(digits);
  return letters.size() >= 3 && std::all_of(letters.begin(), letters.end(), is_letter) &&
         !unit_in_mb(letters);
}

// Letters of any language: a Greek delta is a word too.
bool has_letter(std::string_view word) {
  return std::any_of(word.begin(), word.end(),
                     [](char c) { return is_letter(c) || static_cast<unsigned char>(c) >= 0x80; });
}

// The line below a header, if it says what the columns are counted in: "# Idx     MB     MB". One
// of them is an amount of memory, and none is a number.
std::string_view units_below(const std::vector<std::string_view>& lines, size_t at) {
  if (at + 1 >= lines.size()) return "";
  const auto pieces = [](std::string_view line) {
    size_t count = 0;
    for (std::string_view rest = line; !next_word(rest).empty();) ++count;
    return count;
  };
  std::string_view rest = lines[at + 1];
  if (pieces(rest) != pieces(lines[at])) return "";
  bool memory = false;
  for (std::string_view word = next_word(rest); !word.empty(); word = next_word(rest)) {
    if (starts_with_digit(word) || word.size() > 9) return "";
    memory |= word.size() > 1 && unit_in_mb(word).has_value();
  }
  return memory ? lines[at + 1] : "";
}

// jstat's columns have names of two letters, but these.
bool heads_jstat(std::string_view line) {
  return line.find(" YGC ") != std::string_view::npos &&
         line.find(" FGC ") != std::string_view::npos;
}

// The abbreviations of Windows: a working set beside what is mapped or private.
bool heads_windows(std::string_view line) {
  return line.find(" WS ") != std::string_view::npos &&
         (line.find(" VM ") != std::string_view::npos ||
          line.find(" Priv ") != std::string_view::npos);
}

// "edge-rtr#show processes memory": what somebody typed behind a prompt.
bool is_typed(std::string_view line) {
  const std::string_view first = next_word(line);
  const size_t sign = first.find_first_of("#$>", 1);
  return sign != std::string_view::npos && sign + 1 < first.size() && is_letter(first[sign + 1]) &&
         (is_letter(first[sign - 1]) || is_digit(first[sign - 1]));
}

// "Control and binding stack usage is for the current thread only."
bool is_a_sentence(std::string_view line) {
  constexpr size_t kFewestWords = 5;
  line = trim(line);
  if (!line.ends_with('.')) return false;
  size_t words = 0;
  for (std::string_view rest = line; !next_word(rest).empty();) ++words;
  const std::string_view last = line.substr(line.rfind(' ') + 1);
  return words >= kFewestWords && last.size() > 3 && last.front() >= 'a' && last.front() <= 'z';
}

bool could_head_a_table(std::string_view line) {
  if (is_typed(line) || is_a_sentence(line) || !named_at_a_prompt(line).empty()) return false;
  // sar writes the time before the names.
  if (const auto stamp = line.empty() ? std::nullopt : stamp_at(line, 0)) {
    line.remove_prefix(stamp->length);
  }
  // Behind brackets stands what a logger wrote, between bars a table with separators.
  if (line.size() > 1000 || trim(line).ends_with(':') || trim(line).starts_with('[') ||
      trim(line).starts_with('|')) {
    return false;
  }
  size_t pieces = 0;
  bool memory = heads_jstat(line) || heads_windows(line);
  for (std::string_view rest = line; !trim(rest).empty();) {
    const std::string_view word = next_word(rest);
    if (starts_with_digit(word) && !is_name_from_digit(word)) return false;
    // A caption over several columns, a heading, a prompt.
    if (word == "$" || word.starts_with("--") ||
        (word.size() > 1 && word != "%" && !has_letter(word))) {
      return false;
    }
    // "Calculation strategy: rss": a name and what it is.
    if (word.ends_with(':') && !trim(rest).empty()) return false;
    pieces += word == "#" ? 0 : 1;
    const SlotName name = weigh_name(word);
    memory |= name.memory || name.free || name.used || name.swap;
  }
  return memory && pieces >= 2;
}

// Between two rules without a gap stands the heading of a chapter; rules over columns have gaps.
bool is_between_rules(const std::vector<std::string_view>& lines, size_t at) {
  const auto whole = [](std::string_view line) {
    line = trim(line);
    return line.size() >= 4 && line.find_first_not_of(line.front()) == std::string_view::npos &&
           is_rule(line);
  };
  return at > 0 && at + 1 < lines.size() && whole(lines[at - 1]) && whole(lines[at + 1]);
}

// The next lines, rules aside, hold numbers.
bool numbers_below(const std::vector<std::string_view>& lines, size_t at) {
  size_t looked = 0;
  for (size_t i = at + 1; i < lines.size() && looked < 2; ++i) {
    if (is_rule(lines[i])) continue;
    ++looked;
    if (numbers_in(lines[i]) >= 1) return true;
  }
  return false;
}

// The cell that says what a row counts, and the one that says how much.
struct NamedRows {
  size_t name = 0;
  size_t value = 0;
  bool found = false;
};

// A table in which no column is named like memory, but rows are: few names, one of them memory's,
// each coming again and again.
NamedRows named_rows_of(const std::vector<std::string_view>& lines, char separator,
                        std::string_view header) {
  CsvFields cutter(separator);
  const std::vector<std::string_view> titles = cutter.cut(header);
  for (const std::string_view title : titles) {
    if (weigh_name(title).memory) return {};
  }
  std::vector<std::set<std::string>> texts(titles.size());
  std::vector<size_t> numbers(titles.size(), 0);
  size_t rows = 0;
  for (const std::string_view line : lines) {
    const std::vector<std::string_view>& fields = cutter.cut(line);
    if (line == header || fields.size() != titles.size()) continue;
    ++rows;
    for (size_t i = 0; i < fields.size(); ++i) {
      const LogCell cell = read_cell(fields[i], {});
      numbers[i] += cell.numeric ? 1 : 0;
      if (!cell.numeric && !cell.has_time && texts[i].size() <= kMostNames) {
        texts[i].emplace(cell.text);
      }
    }
  }
  NamedRows out;
  for (size_t i = 0; i < titles.size(); ++i) {
    if (numbers[i] * 10 >= rows * 9) out.value = i;
    const bool few = texts[i].size() >= 2 && texts[i].size() <= kMostNames &&
                     texts[i].size() * 3 <= rows && numbers[i] * 10 < rows;
    const bool memory = std::any_of(texts[i].begin(), texts[i].end(), [](const std::string& text) {
      return weigh_name(text).memory && weigh_name(text).weight >= kEnough;
    });
    if (!few || !memory) continue;
    out.name = i;
    out.found = true;
  }
  out.found = out.found && rows > 0 && numbers[out.value] * 10 >= rows * 9;
  return out;
}

// Cells two blanks apart, the first of them a name that comes again: as many as most lines have.
size_t common_columns(const std::vector<std::string_view>& lines) {
  std::map<size_t, size_t> widths;
  std::set<std::string_view> names;
  std::vector<LinePiece> pieces;
  size_t filled = 0;
  for (const std::string_view line : lines) {
    cut_pieces(line, 2, pieces);
    filled += pieces.empty() ? 0 : 1;
    // "in use bytes     =    3005456": a name and what it is, no columns.
    const bool equation = pieces.size() == 3 && pieces[1].text.size() == 1;
    const bool row = pieces.size() >= 3 && pieces.size() <= 12 && is_letter(line.front()) &&
                     starts_with_digit(pieces.back().text) && !equation;
    if (!row) continue;
    ++widths[pieces.size()];
    names.insert(pieces.front().text);
  }
  if (widths.size() != 1) return 0;
  const auto [width, count] = *widths.begin();
  return count >= 6 && count * 5 >= filled * 2 && names.size() * 3 <= count ? width : 0;
}

// Lines as "name{labels} value": enough of them with labels, or under "# TYPE".
bool looks_scraped(const std::vector<std::string_view>& lines) {
  const auto told = std::count_if(lines.begin(), lines.end(), [](std::string_view line) {
    return line.starts_with("# TYPE ") || line.starts_with("# HELP ");
  });
  return told >= 2;
}

// Marks the lines of a sheet in which some column can be memory.
void take_lines(const Sheet& sheet, std::vector<bool>& taken) {
  bool memory = false;
  for (uint32_t i = 0; i < sheet.columns.size(); ++i) {
    memory |= sheet.columns[i].values.size() >= 3 && memory_weight(sheet, i) >= kEnough;
  }
  if (!memory) return;
  for (const SheetRow& row : sheet.rows) {
    if (row.filled) taken[row.line] = true;
  }
}

// "freed 1,234 bytes, now 4,096 bytes": a third of all commas stand in lines of words, between a
// digit and a group of three, and nine in ten of the others before a blank, as in a sentence.
bool commas_group_digits(const std::vector<std::string_view>& lines) {
  size_t commas = 0;
  size_t groups = 0;
  size_t in_sentences = 0;
  for (const std::string_view line : lines) {
    const auto letters = std::count_if(line.begin(), line.end(), is_letter);
    const bool words = letters >= 6 && line.find(' ') != std::string_view::npos;
    for (size_t at = line.find(','); at != std::string_view::npos; at = line.find(',', at + 1)) {
      ++commas;
      const size_t end = std::min(line.find_first_not_of("0123456789", at + 1), line.size());
      groups += words && at > 0 && is_digit(line[at - 1]) && end == at + 4 ? 1 : 0;
      in_sentences += words && at + 1 < line.size() && line[at + 1] == ' ' ? 1 : 0;
    }
  }
  return groups > 0 && groups * 3 >= commas && (groups + in_sentences) * 10 >= commas * 9;
}

// "Name:\tjava", "VmRSS:\t123 kB": half of all lines begin with a name and a colon, and no table.
bool names_stand_beside(const std::vector<std::string_view>& lines, char separator) {
  const auto named = std::count_if(lines.begin(), lines.end(), [separator](std::string_view line) {
    const std::string_view first = trim(line.substr(0, line.find(separator)));
    return first.ends_with(':') && first.size() < line.size() && !starts_with_digit(first);
  });
  return static_cast<size_t>(named) * 2 > lines.size();
}

// "|    ram_mb          | 620.1     |": rows of two cells between bars, of which the first is one
// of a few names, some of memory, that come again and again.
bool names_between_bars(const std::vector<std::string_view>& lines) {
  CsvFields cutter('|');
  std::set<std::string, std::less<>> names;
  size_t rows = 0;
  bool memory = false;
  for (const std::string_view line : lines) {
    const std::vector<std::string_view>& fields = cutter.cut(line);
    if (fields.size() != 4 || !trim(fields[0]).empty() || !trim(fields[3]).empty()) continue;
    const std::string_view name = trim(fields[1]);
    if (name.empty() || starts_with_digit(name) || !read_cell(fields[2], {}).numeric) continue;
    ++rows;
    if (names.size() > kMostNames || !names.emplace(name).second) continue;
    const SlotName weighed = weigh_name(name);
    memory |= weighed.memory && weighed.weight >= kEnough;
  }
  return memory && names.size() <= kMostNames && rows >= kFewest * names.size();
}

void add_delimited(const std::vector<std::string_view>& lines, const NumberStyle& style,
                   std::vector<bool>& taken, std::vector<Sheet>& sheets) {
  if (names_between_bars(lines)) {
    sheets.push_back(read_sheet(named_rows_layout('|', 1, 2, style), lines, taken));
    take_lines(sheets.back(), taken);
    return;
  }
  Width best;
  char separator = '\0';
  for (const char candidate : {'\t', ';', '|', ','}) {
    if (candidate == ',' && (style.decimal_comma || commas_group_digits(lines))) continue;
    const Width width = common_width(lines, candidate);
    if (width.fields > 0 && width.lines * width.fields > best.lines * best.fields) {
      best = width;
      separator = candidate;
    }
  }
  if (separator == '\0') return;
  const std::string_view header = header_of(lines, separator, best);
  if (best.fields == 2 && names_stand_beside(lines, separator)) return;
  if (const NamedRows rows = named_rows_of(lines, separator, header); rows.found) {
    sheets.push_back(
        read_sheet(named_rows_layout(separator, rows.name, rows.value, style), lines, taken));
    take_lines(sheets.back(), taken);
    return;
  }
  Sheet sheet = read_sheet(delimited_layout(separator, header, style), lines, taken);
  // "VmRSS:\t123 kB": names beside their values are no table.
  if (header.empty() && best.fields == 2 && sheet.columns[0].texts * 2 > sheet.rows.size()) return;
  sheets.push_back(std::move(sheet));
  take_lines(sheets.back(), taken);
}

// "Applications Memory Usage (in Kilobytes):" some lines above the header: what all is counted in.
// Who counts memory in kilobytes counts KiB, as the kernel does.
std::string unit_above(const std::vector<std::string_view>& lines, size_t at) {
  constexpr size_t kFarthest = 6;
  for (size_t i = at; i > 0 && at - i < kFarthest; --i) {
    const std::string_view line = lines[i - 1];
    const size_t open = line.rfind('(');
    const size_t close = line.rfind(')');
    if (open == std::string_view::npos || close == std::string_view::npos || close < open) continue;
    std::string_view word = trim(line.substr(open + 1, close - open - 1));
    if (word.starts_with("in ")) word.remove_prefix(3);
    const auto mb = unit_in_mb(word);
    if (mb && word.size() > 1) return *mb == kKbInMb ? " KiB" : fmt::format(" {}", word);
  }
  return "";
}

void add_matrix(const std::vector<std::string_view>& lines, const NumberStyle& style,
                std::vector<bool>& taken, std::vector<Sheet>& sheets) {
  for (size_t i = 0; i < lines.size(); ++i) {
    if (taken[i] || !could_head_a_table(lines[i]) || !heads_a_matrix(lines, i)) continue;
    const auto again = std::count(lines.begin(), lines.end(), lines[i]);
    if (again < 3) continue;
    sheets.push_back(
        read_sheet(matrix_layout(lines[i], unit_above(lines, i), style), lines, taken));
    take_lines(sheets.back(), taken);
    return;
  }
}

// Twice: what most rows hold says which lines between them are none.
Sheet read_table(std::unique_ptr<LogLayout> layout, const std::vector<std::string_view>& lines,
                 const std::vector<bool>& taken) {
  CellRow row;
  for (size_t i = 0; i < lines.size(); ++i) {
    if (!taken[i]) layout->cut(lines[i], row);
  }
  layout->settle();
  return read_sheet(std::move(layout), lines, taken);
}

// "[client] heap 179 MB" and "[server] heap 148 MB" in turn: what stands before each line tells
// them apart, and makes series of them.
bool told_by_prefix(const Sheet& sheet, const SheetColumn& column, const std::vector<double>& mb) {
  std::vector<uint64_t> prefixes;
  prefixes.reserve(mb.size());
  for (const uint32_t row : column.rows) prefixes.push_back(sheet.rows[row].prefix);
  const bool all =
      std::none_of(prefixes.begin(), prefixes.end(), [](uint64_t p) { return p == 0; });
  return all && smoothing(mb, prefixes) < kSmoother;
}

// The columns that hold several courses, told apart by the words before them that their names leave
// out: "Process memory: 2.1 GiB" and "Unmanaged memory: 1.5 GiB" in turn are not one.
std::unordered_set<uint64_t> hidden_courses(const Sheet& sheet) {
  constexpr size_t kMostVariants = 8;
  std::unordered_set<uint64_t> keys;
  for (uint32_t c = 0; c < sheet.columns.size(); ++c) {
    const SheetColumn& column = sheet.columns[c];
    if (column.arrows > 0 || memory_weight(sheet, c) < kEnough) continue;
    std::map<uint64_t, size_t> counts;
    for (const uint64_t variant : column.variants) ++counts[variant];
    const bool each_often = std::all_of(counts.begin(), counts.end(), [](const auto& variant) {
      return variant.second >= kFewest;
    });
    if (counts.size() < 2 || counts.size() > kMostVariants || !each_often) continue;
    std::vector<double> mb(column.values.size());
    for (size_t i = 0; i < mb.size(); ++i) mb[i] = column.mb(i, 1);
    if (smoothing(mb, column.variants) >= kSmoother || told_by_prefix(sheet, column, mb)) continue;
    keys.insert(sheet.layout->columns().key(c));
  }
  return keys;
}

}  // namespace

std::vector<Sheet> read_sheets(const std::vector<std::string_view>& lines,
                               const NumberStyle& style) {
  std::vector<Sheet> sheets;
  std::vector<bool> taken(lines.size(), false);
  if (looks_scraped(lines)) {
    sheets.push_back(read_sheet(scrape_layout(), lines, taken));
    take_lines(sheets.back(), taken);
  }
  add_delimited(lines, style, taken, sheets);
  add_matrix(lines, style, taken, sheets);
  std::set<std::string> headers;
  for (size_t i = 0; i < lines.size() && headers.size() < kMostHeaders; ++i) {
    if (taken[i] || !could_head_a_table(lines[i])) continue;
    const std::string_view units = units_below(lines, i);
    if (!numbers_below(lines, units.empty() ? i : i + 1)) continue;
    if (is_between_rules(lines, i)) continue;
    if (!headers.insert(plain_words(lines[i])).second) continue;
    sheets.push_back(read_table(table_layout(lines[i], units, style), lines, taken));
    take_lines(sheets.back(), taken);
  }
  const auto objects = std::count_if(lines.begin(), lines.end(), [](std::string_view line) {
    return line.find("{\"") != std::string_view::npos;
  });
  if (objects >= 3) {
    sheets.push_back(read_sheet(json_layout(style), lines, taken));
    take_lines(sheets.back(), taken);
    sheets.push_back(read_sheet(json_text_layout(style), lines, taken));
    take_lines(sheets.back(), taken);
  }
  if (const size_t width = common_columns(lines); width > 0) {
    sheets.push_back(read_sheet(columns_layout(width, style), lines, taken));
    take_lines(sheets.back(), taken);
  }
  sheets.push_back(read_sheet(line_layout(style), lines, taken));
  if (std::unordered_set<uint64_t> keys = hidden_courses(sheets.back()); !keys.empty()) {
    sheets.back() = read_sheet(line_layout(style, std::move(keys)), lines, taken);
  }
  return sheets;
}

}  // namespace plateau
