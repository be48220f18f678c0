// SPDX-License-Identifier: Apache-2.0
// A made-up /proc and cgroup root in a temporary directory, for tests of what live processes cannot
// show: other programs' names, other kernels' files.
#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <string>
#include <string_view>

#include "base/testing/scratch_directory.h"

namespace plateau {

class ProcRoot {
 public:
  [[nodiscard]] std::string path() const { return root_.path(); }

  void write(const std::string& name, std::string_view text) const { root_.write(name, text); }

  struct Made {
    pid_t pid = 0;
    pid_t ppid = 0;
    std::string command;  // Words; a blank separates arguments.
    pid_t pgrp = 0;
    pid_t session = 0;
    unsigned long start = 1000;
    unsigned long image = 7;  // Equal images: forked without exec.
    int64_t anon_kb = 1000;
    std::string cgroup = "0::/\n";
    std::string comm = "x";
  };
  void process(const Made& made) const {
    const std::string dir = std::to_string(made.pid) + "/";
    std::string cmdline = made.command + ' ';
    for (char& c : cmdline) c = c == ' ' ? '\0' : c;
    write(dir + "cmdline", cmdline);
    write(dir + "stat", std::to_string(made.pid) + " (" + made.comm + ") S " +
                            std::to_string(made.ppid) + " " + std::to_string(made.pgrp) + " " +
                            std::to_string(made.session) + " 0 -1 0 0 0 0 0 100 50 0 0 20 0 1 0 " +
                            std::to_string(made.start) + " 0 0 0 " + std::to_string(made.image) +
                            " 0 " + std::to_string(made.image) + " 0\n");
    write(dir + "status", "Tgid:\t" + std::to_string(made.pid) + "\nUid:\t0\t" +
                              std::to_string(geteuid()) + "\t0\t0\nVmRSS:\t" +
                              std::to_string(made.anon_kb) + " kB\nRssAnon:\t" +
                              std::to_string(made.anon_kb) +
                              " kB\nRssFile:\t0 kB\nRssShmem:\t0 kB\nVmSwap:\t0 kB\nThreads:\t1\n");
    write(dir + "cgroup", made.cgroup);
    write(dir + "maps", "");
  }

 private:
  ScratchDirectory root_;
};

}  // namespace plateau
