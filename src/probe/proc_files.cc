// SPDX-License-Identifier: Apache-2.0
#include "probe/proc_files.h"

#include <algorithm>
#include <array>
#include <limits>

#include "base/proc_fields.h"
#include "base/text.h"

namespace plateau {
namespace {

constexpr int64_t kMaxFigure = std::numeric_limits<int64_t>::max();

int64_t as_figure(std::optional<uint64_t> value) {
  if (!value) return kUnread;
  return static_cast<int64_t>(std::min<uint64_t>(*value, kMaxFigure));
}

int64_t figure_of(std::string_view text) {
  return as_figure(take_number(text));
}

pid_t pid_of(uint64_t value) {
  return value > static_cast<uint64_t>(std::numeric_limits<pid_t>::max())
             ? -1
             : static_cast<pid_t>(value);
}

int64_t saturating_add(int64_t a, int64_t b) {
  if (a == kUnread) return b;
  if (b == kUnread) return a;
  return a > kMaxFigure - b ? kMaxFigure : a + b;
}

// Fields of stat after the name, numbered as in proc(5).
enum StatField : size_t {
  field_ppid = 4,
  field_pgrp = 5,
  field_session = 6,
  field_tty = 7,
  field_utime = 14,
  field_stime = 15,
  field_threads = 20,
  field_start_time = 22,
  field_start_code = 26,
  field_start_stack = 28,
};

}  // namespace

std::optional<ProcStat> parse_stat(std::string_view bytes) {
  ProcStat stat;
  const std::optional<StatLine> line = split_stat(bytes);
  if (!line) return std::nullopt;
  stat.pid = pid_of(line->pid);
  stat.comm = line->name;
  stat.state = line->state;
  std::string_view rest = line->rest;
  std::array<std::optional<uint64_t>, field_start_stack + 1> values;  // None of those below 0.
  size_t field = 4;
  for (; field <= field_start_stack; ++field) {
    if (rest.empty() || rest.front() != ' ') break;
    rest.remove_prefix(1);
    const bool negative = !rest.empty() && rest.front() == '-';
    if (negative) rest.remove_prefix(1);
    const auto value = take_number(rest);
    if (!value) break;
    if (!negative) values[field] = value;
  }
  if (field <= field_start_time) return std::nullopt;
  const auto at = [&values](StatField which) { return values[which].value_or(0); };
  stat.ppid = pid_of(at(field_ppid));
  stat.pgrp = pid_of(at(field_pgrp));
  stat.session = pid_of(at(field_session));
  stat.tty = as_figure(at(field_tty));
  stat.cpu_ticks = at(field_utime) + at(field_stime);
  stat.threads = as_figure(values[field_threads]);
  stat.start_ticks = at(field_start_time);
  stat.start_code = at(field_start_code);
  stat.start_stack = at(field_start_stack);
  return stat;
}

ProcStatus parse_status(std::string_view bytes) {
  ProcStatus status;
  each_field(bytes, [&status](std::string_view key, std::string_view value) {
    if (key.size() < 3) return true;
    // One look at the first letter spares most of the fifty lines all comparisons.
    switch (key.front()) {
      case 'T':
        if (key == "Tgid") status.tgid = pid_of(take_number(value).value_or(0));
        if (key == "Threads") {
          status.threads = figure_of(value);
          return false;  // The last line of interest.
        }
        break;
      case 'P':
        if (key == "PPid") status.ppid = pid_of(take_number(value).value_or(0));
        break;
      case 'U':
        if (key == "Uid") {
          take_number(value);
          status.uid = figure_of(value);
        }
        break;
      case 'V':
        if (key == "VmRSS") status.rss_kb = figure_of(value);
        if (key == "VmSwap") status.swap_kb = figure_of(value);
        break;
      case 'R':
        if (key == "RssAnon") status.anon_kb = figure_of(value);
        if (key == "RssFile") status.file_kb = figure_of(value);
        if (key == "RssShmem") status.shmem_kb = figure_of(value);
        break;
      default:
        break;
    }
    return true;
  });
  return status;
}

SmapsRollup parse_smaps_rollup(std::string_view bytes) {
  SmapsRollup rollup;
  each_field(bytes, [&rollup](std::string_view key, std::string_view value) {
    if (key == "Pss") rollup.pss_kb = figure_of(value);
    if (key == "Pss_Anon") rollup.pss_anon_kb = figure_of(value);
    if (key == "Pss_File") rollup.pss_file_kb = figure_of(value);
    if (key == "Pss_Shmem") rollup.pss_shmem_kb = figure_of(value);
    if (key == "Private_Clean" || key == "Private_Dirty" || key == "Private_Hugetlb") {
      rollup.uss_kb = saturating_add(rollup.uss_kb, figure_of(value));
    }
    return true;
  });
  return rollup;
}

Statm parse_statm(std::string_view bytes) {
  Statm statm;
  statm.size = as_figure(take_number(bytes));
  if (statm.size != kUnread) statm.resident = as_figure(take_number(bytes));
  if (statm.resident != kUnread) statm.shared = as_figure(take_number(bytes));
  return statm;
}

Meminfo parse_meminfo(std::string_view bytes) {
  Meminfo meminfo;
  each_field(bytes, [&meminfo](std::string_view key, std::string_view value) {
    if (key == "MemTotal") meminfo.total_kb = figure_of(value);
    if (key != "MemAvailable") return true;
    meminfo.available_kb = figure_of(value);
    return false;  // The last line of interest.
  });
  return meminfo;
}

std::vector<std::string_view> parse_cmdline(std::string_view bytes) {
  std::vector<std::string_view> arguments;
  // A rewritten title is padded with NULs up to the room that the old arguments had.
  while (!bytes.empty() && bytes.back() == '\0') bytes.remove_suffix(1);
  while (!bytes.empty()) {
    const size_t end = std::min(bytes.find('\0'), bytes.size());
    arguments.push_back(bytes.substr(0, end));
    bytes.remove_prefix(std::min(end + 1, bytes.size()));
  }
  return arguments;
}

int64_t parse_last_pid(std::string_view loadavg) {
  const size_t space = trim(loadavg).rfind(' ');
  if (space == std::string_view::npos) return -1;
  return parse_int(trim(loadavg).substr(space + 1)).value_or(-1);
}

std::vector<CgroupLine> parse_cgroup(std::string_view bytes) {
  std::vector<CgroupLine> lines;
  while (!bytes.empty()) {
    const std::string_view line = take_line(bytes);
    const size_t first = line.find(':');
    if (first == std::string_view::npos) continue;
    const size_t second = line.find(':', first + 1);
    if (second == std::string_view::npos || line.substr(second + 1, 1) != "/") continue;
    lines.push_back({line.substr(first + 1, second - first - 1), line.substr(second + 1)});
  }
  return lines;
}

std::optional<int64_t> keyed_figure(std::string_view bytes, std::string_view key) {
  while (!bytes.empty()) {
    std::string_view line = take_line(bytes);
    if (!line.starts_with(key) || line.substr(key.size(), 1) != " ") continue;
    line.remove_prefix(key.size());
    const auto value = take_number(line);
    if (value) return as_figure(value);
  }
  return std::nullopt;
}

int64_t parse_cgroup_amount_kb(std::string_view bytes) {
  const int64_t amount = figure_of(bytes);
  constexpr int64_t kUnlimited = int64_t{1} << 60;  // An exbibyte: no machine has as much.
  return amount == kUnread || amount >= kUnlimited ? kUnread : amount / 1024;
}

}  // namespace plateau
