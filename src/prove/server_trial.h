// SPDX-License-Identifier: Apache-2.0
// The same experiment on a server, or on any program that is asked from outside: requests in the
// place of batches.
//
// The program is started, and commands of the shell are run against it: a warm-up, then blocks of
// the same request (R) and of new ones (N) in turn. After each request the memory of its process
// tree is read. Growth on the same request is kept per request; growth on new ones only is a
// cache by key.
//
// Blind spot: what the program does after it has answered. A queue that is worked off later moves
// growth from one block into the next.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "prove/trial.h"

namespace plateau {

struct ServerTrialOptions {
  std::vector<std::string> command;  // The server.
  std::string same;                  // "{i}" in it becomes 0,
  std::string other;                 // and in this a number that is new each time; may be empty.
  int64_t requests = 20;             // Of a block.
  double start_timeout_s = 30;       // For the first request that succeeds.
  double request_timeout_s = 60;
  std::function<void(const std::string&)> progress = [](const std::string&) {};
};

// Blocks until it is decided or ten blocks are over, and ends the server. Fails if the server
// cannot be started, never answers, or ends by itself before there are two pairs of blocks.
Result<ProveResult> run_server_trial(const ServerTrialOptions& options);

// `command` with every "{i}" replaced.
std::string request_command(const std::string& command, int64_t i);

}  // namespace plateau
