// SPDX-License-Identifier: Apache-2.0
// The .dat files of memory_profiler's mprof. MEM lines are the profiled process (or, with -C, the
// sum over its children), CHLD lines one child each; both count MiB and carry seconds since 1970.
// FUNC lines are marks; CMDLINE names the process. A second CMDLINE starts a new run.
#include <fmt/format.h>

#include <cmath>

#include "base/text.h"
#include "import/each_line.h"

namespace plateau {
namespace {

constexpr double kMib = 1.048576;

class MprofReader {
 public:
  explicit MprofReader(RunBuilder& builder) : builder_(builder) { builder.set_epoch_time(true); }

  void line(std::string_view text, size_t number) {
    number_ = number;
    const std::string_view whole = text;
    const std::string_view kind = next_word(text);
    bool good = true;
    if (kind == "MEM") {
      good = memory(text, 0);
    } else if (kind == "CHLD") {
      const auto index = parse_int(next_word(text));
      // The profiled process is 0, its children count from 1.
      good = index && *index >= 0 && *index < 1'000'000 && memory(text, *index + 1);
    } else if (kind == "CMDLINE") {
      builder_.new_run();
      sample_time_ = kMissing;
      builder_.describe(builder_.process(0, false), trim(text), -1);
    } else if (kind == "FUNC") {
      builder_.event(EventKind::mark, fmt::format("function {}", next_word(text)));
    }
    if (!good) builder_.bad(number, whole.substr(0, 80));
  }

 private:
  bool memory(std::string_view text, int64_t process) {
    const auto mib = parse_double(next_word(text));
    const auto time = parse_double(next_word(text));
    if (!mib || !time || !std::isfinite(*time)) return false;
    // A child is measured a moment after its parent and belongs to the same sample.
    const bool same_sample = process > 0 && *time >= sample_time_ && *time <= sample_time_ + 60;
    if (!same_sample) {
      builder_.row({.step = -1, .time_s = *time, .epoch = kMissing}, number_);
      sample_time_ = *time;
    }
    const size_t index = builder_.process(process, false);
    if (process > 0) builder_.describe(index, fmt::format("child {}", process - 1), 0);
    builder_.set_mb(builder_.memory_column(index, Metric::rss, process > 0 ? "CHLD" : "MEM"),
                    *mib * kMib);
    return true;
  }

  RunBuilder& builder_;
  size_t number_ = 0;
  double sample_time_ = kMissing;
};

}  // namespace

Result<Runs> read_mprof(LineReader& lines) {
  return read_each_line<MprofReader>(lines, "mprof");
}

}  // namespace plateau
