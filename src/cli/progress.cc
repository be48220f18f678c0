// SPDX-License-Identifier: Apache-2.0
#include "cli/progress.h"

#include <fmt/format.h>

#include "base/units.h"
#include "command/screen.h"
#include "report/text.h"

namespace plateau {
namespace {

using std::chrono::steady_clock;

constexpr std::chrono::milliseconds kPatience{1000};
constexpr std::chrono::milliseconds kRefresh{100};
constexpr std::string_view kWipe = "\r\x1b[K";

}  // namespace

Progress::Progress(Output& out, std::string_view file)
    : out_(out),
      file_(shorten(printable(file), 40)),
      enabled_(stderr_is_terminal()),
      next_(steady_clock::now() + kPatience) {}

Progress::~Progress() {
  if (shown_) out_.remark(kWipe);
}

void Progress::update(uint64_t done, uint64_t total) {
  if (!enabled_ || steady_clock::now() < next_) return;
  next_ = steady_clock::now() + kRefresh;
  shown_ = true;
  const std::string much = total > 0 ? fmt::format("{:3} %", done * 100 / total)
                                     : format_mb(static_cast<double>(done) / kBytesPerMb);
  out_.remark(fmt::format("{}reading {}  {}", kWipe, file_, much));
}

}  // namespace plateau
