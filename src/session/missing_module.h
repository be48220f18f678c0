// SPDX-License-Identifier: Apache-2.0
// Why our Python module is not in a job that trains.
//
// It comes by PYTHONPATH (auto_module.h). A script may set that anew, a wrapper may clean the
// environment, and Python may be told to look at neither. Such a job runs as before, and nobody
// would know why its steps are not: the reason is read from the process while it lives.
//
// Only a process that has mapped a framework that we listen to is told of: without one there is
// nothing to learn. Looks cost a read of /proc/PID/environ and, where something is amiss, of maps;
// they come ever more rarely.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

namespace plateau {

// A clause; empty if nothing keeps the module in `directory` out. `environment` and `arguments` are
// those of a process, with zero bytes between.
std::string what_keeps_module_out(std::string_view environment, std::string_view arguments,
                                  std::string_view directory);

// Whether what a process has mapped is part of a framework that the module listens to.
bool maps_a_framework(std::string_view maps);

class MissingModule {
 public:
  // A sentence, once, if the module is not in `pid`, the job's main process, where it would learn
  // something; empty otherwise.
  std::string look(pid_t pid, double at_s);

 private:
  bool over_ = false;
  double next_s_ = 2;
  double gap_s_ = 2;
};

}  // namespace plateau
