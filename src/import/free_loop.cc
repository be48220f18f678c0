// SPDX-License-Identifier: Apache-2.0
// Loops of `free`, in any of its units: the machine's used memory and swap; its total is the limit.
//
// Plain numbers do not say their unit, so it is taken from the first "Mem:" line. With -h each
// number has a suffix. Otherwise: a total of 8e9 and more is bytes (-b); numbers that are all
// multiples of 4, the page size, are KiB (the default); a total below 1024 is GiB (-g); else MiB.
#include <algorithm>
#include <array>
#include <cmath>

#include "base/text.h"
#include "import/each_line.h"
#include "import/table_words.h"

namespace plateau {
namespace {

constexpr double kKi = 1024.0;

double unit_of(const std::vector<std::string_view>& words) {
  double total = 0;
  bool pages = true;
  for (size_t i = 1; i < words.size(); ++i) {
    const auto value = parse_double(words[i]);
    if (!value || !(*value >= 0 && *value < 1e18)) continue;
    if (i == 1) total = *value;
    pages = pages && std::fmod(*value, 4) == 0;
  }
  if (total >= 8e9) return 1e-6;
  if (pages && total >= 1e5) return kKi / 1e6;
  return total < 1024 ? kKi * kKi * kKi / 1e6 : kKi * kKi / 1e6;
}

class FreeReader {
 public:
  explicit FreeReader(RunBuilder& builder) : builder_(builder) {
    const size_t machine = builder_.process(0, false);
    builder_.describe(machine, "machine", -1);
    used_ = builder_.memory_column(machine, Metric::system_used, "used");
    swap_ = builder_.memory_column(machine, Metric::swap, "Swap used");
  }

  void line(std::string_view text, size_t number) {
    if (const auto date = parse_date_line(text)) {
      at_.time_s = builder_.time_of(*date);
      return;
    }
    if (const auto leading = take_leading_stamp(text)) at_.time_s = builder_.time_of(*leading);
    split_words(text, 16, words_);
    if (words_.size() < 3) return;
    const bool memory = words_[0] == "Mem:";
    if (!memory && words_[0] != "Swap:") return;
    if (memory && unit_ == 0) unit_ = unit_of(words_);
    const auto total = table_amount_mb(words_[1], unit_);
    const auto used = table_amount_mb(words_[2], unit_);
    if (!total || !used) {
      builder_.bad(number, text.substr(0, 80));
      return;
    }
    if (memory) {
      builder_.row(at_, number);
      builder_.fact_at_line(&Context::limit_mb, *total, number);
      builder_.set_mb(used_, *used);
      in_row_ = true;
    } else if (in_row_) {
      builder_.set_mb(swap_, *used);
      in_row_ = false;
    }
  }

 private:
  RunBuilder& builder_;
  size_t used_ = 0;
  size_t swap_ = 0;
  double unit_ = 0;
  bool in_row_ = false;
  Instant at_;
  std::vector<std::string_view> words_;
};

}  // namespace

Result<Runs> read_free(LineReader& lines) {
  return read_each_line<FreeReader>(lines, "free");
}

}  // namespace plateau
