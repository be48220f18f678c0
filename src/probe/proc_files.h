// SPDX-License-Identifier: Apache-2.0
// Parsers of what the kernel shows in /proc: bytes in, plain figures out; no file is opened here.
//
// The bytes are foreign: a process names itself as it likes, and a captured file may be cut off.
// Every parser takes any bytes without failing harder than "nothing found". Amounts are kB of 1024
// bytes; kUnread where the text does not say. Views returned point into the argument.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "probe/snapshot.h"

namespace plateau {

// /proc/PID/stat.
struct ProcStat {
  pid_t pid = 0;
  std::string_view comm;  // At most 15 bytes; may hold spaces, parentheses and line ends.
  char state = '?';
  pid_t ppid = 0;
  pid_t pgrp = 0;
  pid_t session = 0;
  int64_t tty = 0;  // Device of the controlling terminal; 0: none.
  uint64_t cpu_ticks = 0;
  int64_t threads = kUnread;
  uint64_t start_ticks = 0;
  // Where its program and stack start. Drawn anew at every exec and inherited by fork, so equal
  // values mean the same program image. 0 where the reader may not know.
  uint64_t start_code = 0;
  uint64_t start_stack = 0;
};
std::optional<ProcStat> parse_stat(std::string_view bytes);

// /proc/PID/status.
struct ProcStatus {
  pid_t tgid = 0;
  pid_t ppid = 0;
  int64_t uid = kUnread;  // Effective.
  int64_t rss_kb = kUnread;
  int64_t anon_kb = kUnread;
  int64_t file_kb = kUnread;
  int64_t shmem_kb = kUnread;
  int64_t swap_kb = kUnread;
  int64_t threads = kUnread;
};
ProcStatus parse_status(std::string_view bytes);

// /proc/PID/smaps_rollup. The three-way split of Pss exists since Linux 5.3.
struct SmapsRollup {
  int64_t pss_kb = kUnread;
  int64_t pss_anon_kb = kUnread;
  int64_t pss_file_kb = kUnread;
  int64_t pss_shmem_kb = kUnread;
  int64_t uss_kb = kUnread;  // Private_Clean + Private_Dirty + Private_Hugetlb.
};
SmapsRollup parse_smaps_rollup(std::string_view bytes);

// /proc/PID/statm, in pages.
struct Statm {
  int64_t size = kUnread;
  int64_t resident = kUnread;
  int64_t shared = kUnread;  // File-backed and shmem.
};
Statm parse_statm(std::string_view bytes);

// /proc/meminfo.
struct Meminfo {
  int64_t total_kb = kUnread;
  int64_t available_kb = kUnread;
};
Meminfo parse_meminfo(std::string_view bytes);

// /proc/PID/cmdline: the arguments. A process that rewrote its title shows up as one argument.
std::vector<std::string_view> parse_cmdline(std::string_view bytes);

// The pid that the kernel gave out last, from /proc/loadavg; -1 if the text does not say.
int64_t parse_last_pid(std::string_view loadavg);

// /proc/PID/cgroup: one hierarchy a line, "4:memory:/job" or, version 2, "0::/job".
struct CgroupLine {
  std::string_view controllers;  // "memory", "cpu,cpuacct", "name=systemd", or empty: version 2.
  std::string_view path;
};
std::vector<CgroupLine> parse_cgroup(std::string_view bytes);

// One figure of a file of "key value" lines: memory.stat, memory.events, memory.oom_control.
std::optional<int64_t> keyed_figure(std::string_view bytes, std::string_view key);

// A cgroup's limit or usage in bytes, as kB; kUnread for "max" and for version 1's "unlimited",
// which is a number near 2^63.
int64_t parse_cgroup_amount_kb(std::string_view bytes);

}  // namespace plateau
