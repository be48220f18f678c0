// SPDX-License-Identifier: Apache-2.0
// Loops of ps (aux, -ef style or -o with a header) and of `top -b`: a header with RSS or RES, then
// one line per process. Amounts are KiB unless they carry a suffix.
//
// A new instant begins at a line that is a date, at a repeated header, at a new time before a line,
// or when a process comes a second time.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <vector>

#include "base/text.h"
#include "import/each_line.h"
#include "import/table_words.h"

namespace plateau {
namespace {

constexpr double kKib = 1024.0 / 1e6;
constexpr size_t kNowhere = static_cast<size_t>(-1);

struct PsColumns {
  size_t rss = kNowhere;
  size_t pid = kNowhere;
  size_t parent = kNowhere;
  size_t command = kNowhere;
  size_t threads = kNowhere;
  size_t count = 0;

  // True if the words are a header with a resident column.
  bool read(const std::vector<std::string_view>& words) {
    *this = {};
    for (size_t i = 0; i < words.size(); ++i) {
      const std::string_view word = words[i];
      if (word == "RSS" || word == "RES" || word == "RSZ") rss = i;
      if (word == "PID") pid = i;
      if (word == "PPID") parent = i;
      if (word == "COMMAND" || word == "CMD" || word == "COMM") command = i;
      if (word == "NLWP" || word == "THCNT") threads = i;
    }
    count = words.size();
    return rss != kNowhere;
  }
};

class PsReader {
 public:
  explicit PsReader(RunBuilder& builder) : builder_(builder) {}

  void line(std::string_view text, size_t number) {
    number_ = number;
    if (trim(text).empty()) return;
    if (const auto date = date_of(text)) {
      begin(*date);
      return;
    }
    std::string_view rest = text;
    const auto stamp = take_leading_stamp(rest);
    split_words(rest, 64, words_);
    PsColumns header;
    if (header.read(words_)) {
      columns_ = header;
      if (stamp)
        begin(*stamp);
      else if (!dated_)
        fresh_ = true;
      return;
    }
    if (columns_.rss == kNowhere) return;
    if (stamp && (!last_stamp_ || last_stamp_->seconds != stamp->seconds)) begin(*stamp);
    process(rest);
  }

 private:
  // `top` heads each block with "top - 13:18:25 up …".
  static std::optional<Stamp> date_of(std::string_view text) {
    if (text.starts_with("top - ")) return parse_stamp(text.substr(6));
    return parse_date_line(text);
  }

  void begin(const Stamp& stamp) {
    last_stamp_ = stamp;
    at_.time_s = builder_.time_of(stamp);
    fresh_ = true;
    dated_ = true;
  }

  void process(std::string_view rest) {
    split_words(rest, columns_.count, words_);
    if (words_.size() <= columns_.rss) return;
    const auto mb = table_amount_mb(words_[columns_.rss], kKib);
    const auto pid = columns_.pid < words_.size() ? parse_int(words_[columns_.pid]) : 0;
    if (!mb || !pid || *pid < 0) {
      // Other output between the tables is common; only a line with a pid counts as damaged.
      if (columns_.pid != kNowhere && pid) builder_.bad(number_, rest.substr(0, 80));
      return;
    }
    const bool is_pid = columns_.pid != kNowhere;
    const size_t index = builder_.process(*pid, is_pid);
    if (index == RunBuilder::kNone) return;
    if (seen_.size() <= index) seen_.resize(index + 1, 0);
    if (fresh_ || seen_[index] == block_) {
      builder_.row(at_, number_);
      ++block_;
      fresh_ = false;
    }
    seen_[index] = block_;
    describe(index);
    builder_.set_mb(builder_.memory_column(index, Metric::rss, "RSS"), *mb);
    if (columns_.threads < words_.size()) {
      const auto threads = parse_double(words_[columns_.threads]);
      if (threads) builder_.set_gauge(builder_.gauge_column(index, "threads"), *threads);
    }
  }

  void describe(size_t index) {
    const std::string_view name =
        columns_.command < words_.size() ? words_[columns_.command] : std::string_view{};
    int64_t parent = -1;
    if (columns_.parent < words_.size()) {
      parent = parse_int(words_[columns_.parent]).value_or(-1);
    }
    builder_.describe(index, name, parent);
  }

  RunBuilder& builder_;
  PsColumns columns_;
  std::optional<Stamp> last_stamp_;
  Instant at_;
  bool fresh_ = true;   // The next process opens a row.
  bool dated_ = false;  // Dates separate the blocks, so headers need not.
  size_t block_ = 1;
  std::vector<size_t> seen_;  // The block in which a process was last seen.
  std::vector<std::string_view> words_;
  size_t number_ = 0;
};

}  // namespace

Result<Runs> read_ps(LineReader& lines) {
  return read_each_line<PsReader>(lines, "ps", RunBuilder::Join::same_time);
}

}  // namespace plateau
