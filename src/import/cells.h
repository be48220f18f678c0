// SPDX-License-Identifier: Apache-2.0
// Cuts a line of any log into cells: each number, time or label with the column it belongs to.
//
// The question is which numbers of different lines are "the same number later". A few layouts
// answer it, and all give rows of cells:
//   lines      A number's column is the words beside it, from the word for memory on, and which of
//              the numbers after those words it is: in "RAM: 6.2% (4.0/64.0 GB)" there are ram, the
//              second after ram, and the third. A number without words takes all words before it in
//              its line. So "start: memory 904 MB" and "end: memory 921 MB" are one column, read
//              twice, and "60 MB heap size" is named by what follows it.
//   delimited  Cells between commas, tabs, semicolons or bars (Markdown, boxes): by position.
//   json       Objects, one a line: by the path of their keys.
//   table      Words under a header of words (ps, top, vmstat, docker stats): by position among the
//              words if there are as many, among cells two blanks apart, else by the place under
//              the header's word.
//
//   matrix     Rows that begin with a name under a header that has none for it (dumpsys meminfo,
//   R's
//              gc()): by the name and the place.
//   named rows Cells between separators where one cell says what the row counts and another how
//              much ("10:05,Working Set (MB),512"): by what that cell says.
//   scrape     Metrics as Prometheus is given them, "name{labels} value time": by name.
//   columns    Cells two blanks apart without a header: by position.
//
// Columns are numbered as they are met while `learning`; afterwards unknown ones are left out.
// Blind spot: a column whose words change with every line ("model_17: 5 MB") never comes twice.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "import/numeral.h"
#include "import/timestamp.h"

namespace plateau {

inline constexpr uint32_t kNoColumn = static_cast<uint32_t>(-1);

struct LogCell {
  uint32_t column = kNoColumn;
  bool numeric = false;
  bool has_time = false;
  bool after_arrow = false;  // The later ones of "123K->98K", "351 > 410 > 417 MB".
  Numeral number;
  uint64_t variant = 0;  // A hash of the words before its name that the name leaves out.
  size_t ordinal = 0;    // Numbers between its name and it.
  uint64_t family = 0;   // The same of all columns that are one under a shorter name; 0: none.
  double limit_mb = 0;   // Written behind it: "1.357GiB / 19.53GiB"; 0 if none is.
  Stamp time;
  std::string_view text;        // As written; valid as long as the line.
  std::string_view limit_text;  // The same of the limit, where it stands outside `text`.
};

struct CellRow {
  static constexpr size_t kNoTimeAt = static_cast<size_t>(-1);

  std::vector<LogCell> cells;
  bool has_time = false;  // Of the line: the first in it,
  Stamp time;
  size_t time_at = kNoTimeAt;  // and where it begins, unless it is the time of a cell.
  size_t time_begin = 0;       // With its brackets, if it was found before everything else.
  size_t time_end = 0;
  std::string_view prefix;  // "rank0" of "[rank0]: …", "worker-0" of "worker-0 | …"; may be empty.
  bool starts_block = false;  // The header came again: a new round of readings.

  void clear();
};

// The columns met so far, by what they are called.
class ColumnNames {
 public:
  // The number of the column with this key; learned if it is new and learning is on.
  uint32_t of(uint64_t key, std::string_view name);
  void freeze() { learning_ = false; }
  [[nodiscard]] const std::string& name(uint32_t column) const { return names_[column]; }
  [[nodiscard]] uint64_t key(uint32_t column) const { return keys_[column]; }
  [[nodiscard]] size_t size() const { return names_.size(); }

 private:
  static constexpr size_t kMost = 4096;
  bool learning_ = true;
  std::unordered_map<uint64_t, uint32_t> number_of_;
  std::vector<std::string> names_;
  std::vector<uint64_t> keys_;
};

class LogLayout {
 public:
  virtual ~LogLayout() = default;
  // False if the line is none of this layout's; `row` is then empty.
  virtual bool cut(std::string_view line, CellRow& row) = 0;
  [[nodiscard]] virtual std::string describe() const = 0;
  // Whether lines of this line's shape (line_shape.h) that hold times at the same places are cut
  // alike, so that reread() gives what cut() would. Asked after cut().
  [[nodiscard]] virtual bool repeats(std::string_view line) const = 0;
  // Reads the cell anew from its text, which stands where it stood in a line of the same shape.
  virtual void reread(LogCell& cell) const = 0;
  // From now on only these columns are needed; cells of others may be left out.
  virtual void want(const std::vector<uint32_t>& columns);
  [[nodiscard]] virtual const ColumnNames& columns() const { return columns_; }
  virtual void freeze() { columns_.freeze(); }
  // Every line was cut once: from now on a row that has words where most have numbers, or numbers
  // where they have words, is none.
  virtual void settle() {}

 protected:
  [[nodiscard]] bool is_wanted(uint32_t column) const {
    return wanted_.empty() || (column < wanted_.size() && wanted_[column]);
  }

  ColumnNames columns_;
  std::vector<bool> wanted_;  // Empty: all.
};

// Columns with a key of `distinct` are several: the words before their name that it leaves out
// count. So "Process memory" and "Unmanaged memory" are two, where "start: memory" and "end:
// memory" are one.
std::unique_ptr<LogLayout> line_layout(const NumberStyle& style,
                                       std::unordered_set<uint64_t> distinct = {});
// `header`: the line that names the columns, empty if none does.
std::unique_ptr<LogLayout> delimited_layout(char separator, std::string_view header,
                                            const NumberStyle& style);
// JSON objects, one a line, also behind a prefix: a column for each path.
std::unique_ptr<LogLayout> json_layout(const NumberStyle& style);
// The same, of loggers that write text into a field: the text is what is cut.
std::unique_ptr<LogLayout> json_text_layout(const NumberStyle& style);
// `units`: the line below the header, if it says what the columns are counted in; else empty.
std::unique_ptr<LogLayout> table_layout(std::string_view header, std::string_view units,
                                        const NumberStyle& style);
// matrix_cells.cc. Rows that begin with a name under a header that has none for it.
// `unit` is written behind every name.
std::unique_ptr<LogLayout> matrix_layout(std::string_view header, const std::string& unit,
                                         const NumberStyle& style);
// named_cells.cc. `name` and `value` are the places of those cells.
std::unique_ptr<LogLayout> named_rows_layout(char separator, size_t name, size_t value,
                                             const NumberStyle& style);
std::unique_ptr<LogLayout> scrape_layout();
// Lines of `width` cells.
std::unique_ptr<LogLayout> columns_layout(size_t width, const NumberStyle& style);

// Pieces of a line with at least `gap` blanks (or a tab) between; a time is one piece, whatever is
// in it. `out` is cleared first.
struct LinePiece {
  std::string_view text;
  size_t begin = 0;
  size_t end = 0;
};
void cut_pieces(std::string_view line, size_t gap, std::vector<LinePiece>& out);

// The key of a column that is known by its place.
uint64_t key_of_place(size_t place);
// read_cell() of a cell that was read before, in its column.
void reread_cell(LogCell& cell, const NumberStyle& style);

// Makes `limit`, written behind the cell and a slash, its limit.
void add_limit(LogCell& cell, const Numeral& limit);

// The first time in a line that is no row of a table: it is that of the rows below. False if there
// is none.
bool read_time_above(std::string_view line, CellRow& row);

// "Private  +   Shared  =  RAM used": of a sum in one cell of a table, or of its title, what it
// comes to.
std::string_view behind_equals(std::string_view text);

// Reads one cell of a table: an amount, a time, or text.
LogCell read_cell(std::string_view text, const NumberStyle& style);

// The label that a launcher puts before each line, and the time before or behind it.
// Returns where the rest of the line begins.
size_t read_prefix(std::string_view line, CellRow& row);

// "2026-11-18 09:00:00 +0000": how far a time's zone is from Greenwich is a part of it. The end of
// the zone behind a time that ends at `at`, or `at`.
size_t behind_zone(std::string_view line, size_t at);

// Words that name nothing in a header or a line, and bars drawn around tables, made plain: mail
// quoting, box drawing, emphasis. Uses `storage` only if something changes.
std::string_view plain_line(std::string_view line, std::string& storage);

}  // namespace plateau
