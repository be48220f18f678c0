// SPDX-License-Identifier: Apache-2.0
#include "cli/pid_recording.h"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "cli/find_recording.h"
#include "import/import.h"
#include "session/watcher.h"

namespace plateau {
namespace {

constexpr double kEndS = 3;

bool holds_process(const Run& run, pid_t pid) {
  // The number of a process that is gone may be another's by now; a live run's last row counts.
  return run.ending.kind == Ending::Kind::unknown &&
         std::any_of(run.processes.begin(), run.processes.end(), [pid](const Process& process) {
           return process.id_is_pid && process.id == pid;
         });
}

Result<std::string> private_directory() {
  const char* base = std::getenv("TMPDIR");
  std::string name =
      fmt::format("{}/plateau-serve-XXXXXX", base != nullptr && base[0] == '/' ? base : "/tmp");
  if (mkdtemp(name.data()) == nullptr) {
    return Error{Error::Kind::not_found,
                 fmt::format("cannot make {}: {}; another place can be given with TMPDIR", name,
                             strerror(errno))};
  }
  return name;
}

void remove_directory(const std::string& directory) {
  std::error_code ignored;
  std::filesystem::remove_all(directory, ignored);
}

// What `plateau watch -q -o FILE` does, without its answer.
void record(const WatchOptions& options, int stop_fd, const HelperProcess::Report& report) {
  Result<Watcher> attached = Watcher::attach(options);
  if (!attached) {
    report(attached.error());
    return;
  }
  Watcher& watcher = attached.value();
  Session& session = watcher.session();
  watcher.tick();
  report(std::string("recording"));
  while (!watcher.over()) {
    if (session.seconds_to_tick() <= 0) watcher.tick();
    std::array<pollfd, 2> polled = {{{stop_fd, POLLIN, 0}, {session.socket_fd(), POLLIN, 0}}};
    const double wait_s = std::min(session.seconds_to_tick(), 60.0);
    if (poll(polled.data(), polled.size(), static_cast<int>(std::ceil(wait_s * 1000))) <= 0) {
      continue;
    }
    if (polled[0].revents != 0) break;
    watcher.listen();
  }
  watcher.finish();
}

}  // namespace

std::optional<std::string> recording_of_pid(pid_t pid) {
  for (const std::string& file : open_recordings()) {
    const Result<std::vector<Run>> runs = import_file(file);
    if (runs && !runs.value().empty() && holds_process(runs.value().back(), pid)) return file;
  }
  return std::nullopt;
}

Result<PidRecorder> PidRecorder::start(pid_t pid, const Context& given) {
  const Result<std::string> directory = private_directory();
  if (!directory) return directory.error();
  WatchOptions options;
  options.pid = pid;
  options.given = given;
  options.recording_path = fmt::format("{}/pid-{}.plateau", directory.value(), pid);
  options.probe.exclude = {getpid()};
  Result<HelperProcess> helper =
      HelperProcess::start("plateau", [&options](int stop_fd, const HelperProcess::Report& report) {
        options.probe.exclude.push_back(getpid());
        record(options, stop_fd, report);
      });
  if (!helper) {
    remove_directory(directory.value());
    return helper.error();
  }
  return PidRecorder(std::move(helper.value()), directory.value());
}

PidRecorder::PidRecorder(PidRecorder&& other) noexcept
    : helper_(std::move(other.helper_)), directory_(std::exchange(other.directory_, "")) {}

PidRecorder::~PidRecorder() {
  helper_.stop(kEndS);
  if (!directory_.empty()) remove_directory(directory_);
}

}  // namespace plateau
