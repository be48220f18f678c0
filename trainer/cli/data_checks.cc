// SPDX-License-Identifier: Apache-2.0
#include "trainer/cli/data_checks.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <thread>

#include "base/units.h"
#include "trainer/data/data_check.h"

namespace plateau::train {
namespace {

using std::chrono::steady_clock;

constexpr auto kBetweenDraws = std::chrono::milliseconds(200);
constexpr auto kBetweenLines = std::chrono::seconds(10);

// On a terminal one line that is rewritten; elsewhere one every ten seconds.
class CheckProgress {
 public:
  CheckProgress(const Dataset& dataset, Output& out, bool quiet)
      : dataset_(dataset), out_(out), quiet_(quiet), on_terminal_(::isatty(STDERR_FILENO) == 1) {
    next_ = steady_clock::now() + (on_terminal_ ? steady_clock::duration(kBetweenDraws)
                                                : steady_clock::duration(kBetweenLines));
  }
  ~CheckProgress() {
    if (is_shown_ && on_terminal_) out_.remark("\r\x1b[K");
  }
  CheckProgress(const CheckProgress&) = delete;
  CheckProgress& operator=(const CheckProgress&) = delete;

  void show(size_t done) {
    if (quiet_ || steady_clock::now() < next_) return;
    next_ += on_terminal_ ? steady_clock::duration(kBetweenDraws)
                          : steady_clock::duration(kBetweenLines);
    const std::string text = fmt::format("checking {}: {} of {} examples", dataset_.name(),
                                         format_count(static_cast<int64_t>(done)),
                                         format_count(static_cast<int64_t>(dataset_.size())));
    out_.remark(on_terminal_ ? "\r\x1b[K" + text : text + "\n");
    is_shown_ = true;
  }

 private:
  const Dataset& dataset_;
  Output& out_;
  bool quiet_;
  bool on_terminal_;
  bool is_shown_ = false;
  steady_clock::time_point next_;
};

// Another tokenizer counts other tokens; its file's size and time tell it from another.
std::string tokenizer_key(const std::filesystem::path& model) {
  std::error_code code;
  const std::filesystem::path file = model / "tokenizer.json";
  const auto bytes = std::filesystem::file_size(file, code);
  const auto time = std::filesystem::last_write_time(file, code);
  return fmt::format("{} {} {}", file.string(), bytes, time.time_since_epoch().count());
}

std::string left_out(size_t bad, size_t examples) {
  return fmt::format("{} of {} examples are bad", format_count(static_cast<int64_t>(bad)),
                     format_count(static_cast<int64_t>(examples)));
}

Result<std::monostate> check_one(const TrainRequest& request, const Job& job,
                                 const Dataset& dataset, Output& out,
                                 const std::function<bool()>& stop) {
  CheckProgress progress(dataset, out, request.quiet);
  const int64_t cores = std::max(1U, std::thread::hardware_concurrency());
  const DataCheckOptions options{
      .decodes = request.data_check == DataCheckDepth::full,
      .threads = request.threads > 0 ? request.threads : cores,
      .cache = data_check_cache(),
      .tokenizer = tokenizer_key(request.sizing.model_directory),
      .goes_on =
          [&](size_t done) {
            progress.show(done);
            return !stop();
          },
  };
  const DataCheck checked = check_data(dataset, job.tokenizer, job.loader, options);
  if (checked.is_stopped || checked.bad.empty()) return std::monostate{};
  const size_t bad = checked.bad.size();
  const std::string& first = checked.bad.front().message;
  if (!job.loader.skip_bad) {
    const std::string more = bad == 1
                                 ? ""
                                 : fmt::format(" ({} in this file; --skip-bad leaves them out)",
                                               left_out(bad, checked.examples));
    return Error{Error::Kind::bad_input, first + more};
  }
  if (bad == checked.examples) {
    return Error{Error::Kind::bad_input, fmt::format("{}: all {}; the first: {}", dataset.name(),
                                                     left_out(bad, checked.examples), first)};
  }
  return std::monostate{};
}

}  // namespace

Result<std::monostate> check_datasets(const TrainRequest& request, const Job& job, Output& out,
                                      const std::function<bool()>& stop) {
  if (request.data_check == DataCheckDepth::none) return std::monostate{};
  if (auto checked = check_one(request, job, job.dataset, out, stop); !checked) return checked;
  if (!job.eval_dataset) return std::monostate{};
  return check_one(request, job, *job.eval_dataset, out, stop);
}

}  // namespace plateau::train
