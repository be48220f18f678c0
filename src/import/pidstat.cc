// SPDX-License-Identifier: Apache-2.0
// `pidstat -r`: a table per interval with a time before each line ("13:18:25", "01:18:25 PM", or
// seconds since 1970 with -h), RSS in kB (powers of 1024). "Average:" lines and lines of single
// threads (-t) are left out.
#include <cmath>

#include "base/text.h"
#include "import/each_line.h"
#include "import/table_words.h"

namespace plateau {
namespace {

constexpr double kKib = 1024.0 / 1e6;
constexpr size_t kNowhere = static_cast<size_t>(-1);

class PidstatReader {
 public:
  explicit PidstatReader(RunBuilder& builder) : builder_(builder) {}

  void line(std::string_view text, size_t number) {
    std::string_view rest = trim(text);
    if (rest.empty() || rest.starts_with("Average") || rest.starts_with("Linux ")) return;
    if (rest.starts_with('#')) {
      rest.remove_prefix(1);
      split_words(rest, 64, words_);
      if (!words_.empty() && words_[0] == "Time") words_.erase(words_.begin());
      header();
      return;
    }
    const auto stamp = take_leading_stamp(rest);
    split_words(rest, 64, words_);
    if (header() || rss_ == kNowhere) return;
    if (!stamp) return;  // The summary of other locales has a word where the time stands.
    split_words(rest, count_, words_);
    process(*stamp, text, number);
  }

 private:
  // True if words_ are column names; remembers their places.
  bool header() {
    size_t rss = kNowhere;
    size_t pid = kNowhere;
    size_t command = kNowhere;
    for (size_t i = 0; i < words_.size(); ++i) {
      if (words_[i] == "RSS") rss = i;
      if (words_[i] == "PID" || words_[i] == "TGID") pid = i;
      if (words_[i] == "Command") command = i;
    }
    if (rss == kNowhere) return words_.size() > 1 && pid != kNowhere;
    rss_ = rss;
    pid_ = pid;
    command_ = command;
    count_ = words_.size();
    return true;
  }

  void process(const Stamp& stamp, std::string_view text, size_t number) {
    if (words_.size() <= rss_) return;
    const auto mb = table_amount_mb(words_[rss_], kKib);
    const auto pid = pid_ < words_.size() ? parse_int(words_[pid_]) : 0;
    if (pid_ < words_.size() && words_[pid_] == "-") return;
    if (!mb || !pid || *pid < 0) {
      builder_.bad(number, text.substr(0, 80));
      return;
    }
    Instant at;
    at.time_s = builder_.time_of(stamp);
    builder_.row(at, number);
    const size_t index = builder_.process(*pid, true);
    if (command_ < words_.size()) builder_.describe(index, words_[command_], -1);
    builder_.set_mb(builder_.memory_column(index, Metric::rss, "RSS"), *mb);
  }

  RunBuilder& builder_;
  size_t rss_ = kNowhere;
  size_t pid_ = kNowhere;
  size_t command_ = kNowhere;
  size_t count_ = 64;
  std::vector<std::string_view> words_;
};

}  // namespace

Result<Runs> read_pidstat(LineReader& lines) {
  return read_each_line<PidstatReader>(lines, "pidstat");
}

}  // namespace plateau
