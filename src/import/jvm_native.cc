// SPDX-License-Identifier: Apache-2.0
// What a JVM says of its own memory, again and again: `jcmd PID VM.native_memory summary`, also
// with .diff, or -XX:+PrintNMTStatistics.
//
//   Total: reserved=6189117KB, committed=3614269KB
//   -                 Java Heap (reserved=4194304KB, committed=2817024KB)
//                               (mmap: reserved=4194304KB, committed=2817024KB)
//   -                     Other (reserved=200000KB +9000KB, committed=200000KB +9000KB)
//
// A "Total:" opens a round. What is committed counts; what is only reserved is address space. Each
// section is a process of its own, so that the report names the one that grows; their sum is the
// total, which counts where sections were left out (grep Total); where only some were, what they
// leave of it is one more. A time comes from a line of
// `date`, or stands before "Total:".
//
// Blind spot: native libraries that call malloc themselves are not in it; RSS is.
#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "base/text.h"
#include "base/units.h"
#include "import/readers.h"
#include "import/run_builder.h"
#include "import/table_words.h"

namespace plateau {
namespace {

constexpr std::string_view kCommitted = "committed=";
constexpr size_t kMostSections = 64;
// Of the total: sections below 1 KB are left out by the JVM itself, and each is rounded.
constexpr double kLeastLeft = 0.01;
constexpr std::string_view kLeft = "not listed";

// "committed=3614269KB": what follows the first one in the text.
std::optional<double> committed_mb(std::string_view text) {
  const size_t at = text.find(kCommitted);
  if (at == std::string_view::npos) return std::nullopt;
  text.remove_prefix(at + kCommitted.size());
  const size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  size_t end = digits;
  while (end < text.size() && is_letter(text[end])) ++end;
  const auto value = parse_double(text.substr(0, digits));
  const auto unit = unit_in_mb(text.substr(digits, end - digits));
  if (!value || !unit) return std::nullopt;
  // The JVM's KB are 1024 bytes, its MB 1024 of these.
  const double binary = *unit < 0.1 ? 1024 / 1e6 : *unit < 10 ? 1.048576 : 1073.741824;
  return *value * binary;
}

class NativeMemoryReader {
 public:
  explicit NativeMemoryReader(RunBuilder& builder) : builder_(builder) {}

  void line(std::string_view text, size_t number) {
    if (const auto date = parse_date_line(text)) {
      time_s_ = builder_.time_of(*date);
      return;
    }
    std::string_view rest = text;
    const auto stamp = take_leading_stamp(rest);
    rest = trim(rest);
    if (rest.starts_with("Total:") && rest.find("reserved=") != std::string_view::npos) {
      if (stamp) time_s_ = builder_.time_of(*stamp);
      total(rest, number);
    } else if (rest.starts_with('-')) {
      section(trim(rest.substr(1)));
    }
  }

  // Of a round without sections the total is what counts; of one with some of them (grep -E
  // "Total|Java Heap") also what they leave of it.
  void finish() {
    if (!total_mb_) return;
    const double left_mb = *total_mb_ - sections_mb_;
    const bool some_left = left_mb > kLeastLeft * *total_mb_ || columns_.contains(kLeft);
    if (!has_sections_) {
      builder_.set_mb(column_of("JVM"), *total_mb_);
    } else if (some_left) {
      builder_.set_mb(column_of(kLeft), std::max(0.0, left_mb));
    }
    total_mb_.reset();
  }

 private:
  void total(std::string_view text, size_t number) {
    finish();
    total_mb_ = committed_mb(text);
    if (!total_mb_) builder_.bad(number, text.substr(0, 80));
    has_sections_ = false;
    sections_mb_ = 0;
    Instant at;
    at.time_s = time_s_;
    if (std::isnan(time_s_)) {
      at.step = static_cast<int64_t>(rounds_);
      builder_.note(kNumberedInOrder);
    }
    ++rounds_;
    builder_.row(at, number);
  }

  void section(std::string_view text) {
    const size_t bracket = text.find("(reserved=");
    const auto mb = committed_mb(text);
    if (rounds_ == 0 || bracket == std::string_view::npos || !mb) return;
    const std::string_view name = trim(text.substr(0, bracket));
    if (name.empty() || (columns_.size() >= kMostSections && !columns_.contains(name))) return;
    has_sections_ = true;
    sections_mb_ += *mb;
    builder_.set_mb(column_of(name), *mb);
  }

  size_t column_of(std::string_view name) {
    if (const auto known = columns_.find(name); known != columns_.end()) return known->second;
    const size_t process = builder_.process(static_cast<int64_t>(columns_.size()), false);
    builder_.describe(process, name.substr(0, 64), -1);
    const size_t column = builder_.memory_column(process, Metric::memory, "committed");
    columns_.emplace(name, column);
    return column;
  }

  RunBuilder& builder_;
  std::map<std::string, size_t, std::less<>> columns_;
  std::optional<double> total_mb_;
  bool has_sections_ = false;
  double sections_mb_ = 0;  // Of this round.
  size_t rounds_ = 0;
  double time_s_ = kMissing;
};

}  // namespace

Result<Runs> read_jvm_native(LineReader& lines) {
  RunBuilder builder("jvm-native", RunBuilder::Join::same_step);
  NativeMemoryReader reader(builder);
  std::string_view line;
  while (lines.next(line)) reader.line(line, lines.number());
  reader.finish();
  return builder.finish(lines.number());
}

}  // namespace plateau
