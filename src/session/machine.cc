// SPDX-License-Identifier: Apache-2.0
#include "session/machine.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <iterator>
#include <vector>

#include "base/text.h"

namespace plateau {
namespace {

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

// The rest of the line that begins with `key`; "" if there is none.
std::string_view value_after(std::string_view text, std::string_view key) {
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    if (line.starts_with(key)) return trim(line.substr(key.size()));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
  }
  return {};
}

bool is_plain(char c) {
  return is_digit(c) || is_letter(c) || std::string_view("_-./=:,+@%").find(c) != std::string::npos;
}

}  // namespace

double monotonic_s() {
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

double own_cpu_s() {
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

std::string host_name() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? std::string(name.data()) : "";
}

std::string text_of_file(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

int64_t oom_kills_of_machine() {
  return parse_int(value_after(text_of_file("/proc/vmstat"), "oom_kill ")).value_or(-1);
}

bool handles_signal(pid_t pid, int number) {
  const std::string status = text_of_file(fmt::format("/proc/{}/status", pid));
  const std::string caught(value_after(status, "SigCgt:"));
  if (caught.empty() || number < 1 || number > 64) return false;
  return (std::strtoull(caught.c_str(), nullptr, 16) >> (number - 1) & 1) != 0;
}

std::string command_of(pid_t pid, const std::string& proc) {
  const std::string text = text_of_file(fmt::format("{}/{}/cmdline", proc, pid));
  std::vector<std::string> words;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\0', at), text.size());
    words.push_back(text.substr(at, end - at));
    at = end + 1;
  }
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
