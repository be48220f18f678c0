// SPDX-License-Identifier: Apache-2.0
#include "census/program_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <string_view>

#include "base/fd.h"
#include "base/files.h"
#include "base/proc_fields.h"

namespace plateau {
namespace {

constexpr off_t kMostBytes = off_t{1} << 20;
constexpr double kSlackS = 1;  // Clocks of file systems are coarse.
constexpr int kStartField = 22;

double clock_s(clockid_t clock) {
  timespec now = {};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

// When it began, by the clock that files are stamped with; nullopt if it is gone.
std::optional<double> began_at_s(pid_t pid) {
  const std::string stat = text_of_file("/proc/" + std::to_string(pid) + "/stat");
  const auto line = split_stat(stat);
  if (!line) return std::nullopt;
  std::string_view rest = line->rest;
  for (int field = 4; field < kStartField; ++field) {
    rest.remove_prefix(std::min(rest.find(' ', 1), rest.size()));
  }
  const auto ticks = take_number(rest);
  if (!ticks) return std::nullopt;
  const double after_boot_s =
      static_cast<double>(*ticks) / static_cast<double>(sysconf(_SC_CLK_TCK));
  return clock_s(CLOCK_REALTIME) - (clock_s(CLOCK_BOOTTIME) - after_boot_s);
}

}  // namespace

std::optional<std::string> program_text(pid_t pid, const std::string& file) {
  if (file.empty() || file.front() == '<') return std::nullopt;
  const std::string process = "/proc/" + std::to_string(pid);
  const std::string path = process + (file.front() == '/' ? "/root" : "/cwd/") + file;
  const Fd opened(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  struct stat facts = {};
  if (!opened || fstat(opened.get(), &facts) != 0) return std::nullopt;
  if (!S_ISREG(facts.st_mode) || facts.st_size > kMostBytes) return std::nullopt;
  const auto began_s = began_at_s(pid);
  if (!began_s || static_cast<double>(facts.st_mtim.tv_sec) > *began_s + kSlackS) {
    return std::nullopt;
  }
  return text_of_file("/proc/self/fd/" + std::to_string(opened.get()), kMostBytes);
}

}  // namespace plateau
