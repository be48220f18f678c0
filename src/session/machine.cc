// SPDX-License-Identifier: Apache-2.0
#include "session/machine.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <vector>

#include "base/proc_fields.h"
#include "base/text.h"
#include "base/units.h"
#include "probe/proc_files.h"

namespace plateau {
namespace {

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

// Of a command line, which a process may rewrite at will; a recording keeps no more.
constexpr size_t kMaxCommandBytes = size_t{64} << 10;

bool is_plain(char c) {
  return is_digit(c) || is_letter(c) || std::string_view("_-./=:,+@%").find(c) != std::string::npos;
}

}  // namespace

double own_cpu_s() {
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

std::string host_name() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? std::string(name.data()) : "";
}

int64_t oom_kills_of_machine() {
  return keyed_figure(text_of_file("/proc/vmstat"), "oom_kill").value_or(-1);
}

bool handles_signal(pid_t pid, int number) {
  const std::string status = text_of_file(fmt::format("/proc/{}/status", pid));
  if (number < 1 || number > 64) return false;
  return (bits_field(status, "SigCgt") >> (number - 1) & 1) != 0;
}

std::string command_of(pid_t pid, const std::string& proc) {
  const std::string text = text_of_file(fmt::format("{}/{}/cmdline", proc, pid), kMaxCommandBytes);
  std::vector<std::string> words;
  for (std::string_view rest = text; !rest.empty();) words.emplace_back(take_part(rest, '\0'));
  return shell_words(words);
}

double held_mb(const Snapshot& snapshot) {
  double mb = 0;
  for (const ProcessSample& process : snapshot.processes) {
    add_known(mb, amount_mb(kOwnedPages, process));
    add_known(mb, amount_mb(kSharedPages, process));
  }
  return mb;
}

double charged_mb(const CgroupSample& group) {
  int64_t kb = 0;
  for (const int64_t part : {group.anon_kb, group.shmem_kb}) kb += part == kUnread ? 0 : part;
  return static_cast<double>(kb) * 1024 / 1e6;
}

std::string shell_words(std::span<const std::string> words) {
  std::string line;
  for (const std::string& word : words) {
    if (!line.empty()) line += ' ';
    if (!word.empty() && std::all_of(word.begin(), word.end(), is_plain)) {
      line += word;
      continue;
    }
    line += '\'';
    for (const char c : word) line += c == '\'' ? std::string("'\\''") : std::string(1, c);
    line += '\'';
  }
  return line;
}

}  // namespace plateau
