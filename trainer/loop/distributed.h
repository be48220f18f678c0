// SPDX-License-Identifier: Apache-2.0
// Several processes that train one model: they add up gradients and agree on what to do next.
//
// Started as everywhere: RANK, WORLD_SIZE, MASTER_ADDR, MASTER_PORT. Rank 0 listens there until all
// have come; from then on they talk to each other directly (c10d with Gloo, over TCP). Every call
// below is made by all processes in the same order. Gradients are added in fp32, gathered into
// buckets so that many small tensors cost one round; a sum comes out the same, to the bit, in every
// process.
//
// A process that dies or hangs is an error in all others, at the latest after the time-out: nobody
// waits for ever. After an error the group is of no further use.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "trainer/model/learner.h"

namespace plateau::train {

struct PeerOptions {
  int rank = 0;
  int world = 1;
  std::string address = "127.0.0.1";
  int port = 29500;
  std::chrono::milliseconds timeout = std::chrono::minutes(30);
  size_t bucket_bytes = 25'000'000;  // The same in all processes.
};

// From the environment; nothing if WORLD_SIZE is absent or 1. A variable that is missing or no
// number is an error that names it.
Result<std::optional<PeerOptions>> peer_options_from_environment();

class Peers {
 public:
  static Result<std::unique_ptr<Peers>> join(const PeerOptions& options);
  ~Peers();
  Peers(const Peers&) = delete;
  Peers& operator=(const Peers&) = delete;

  [[nodiscard]] int rank() const;
  [[nodiscard]] int world() const;
  // The values of all processes added, in double.
  Result<std::vector<double>> sum(const std::vector<double>& values);
  // The gradients of all processes added, in place. Requires: the same tensors in the same order.
  Result<std::monostate> sum_gradients(const std::vector<NamedTensor>& parameters);
  // Everyone gets the values of rank 0.
  Result<std::monostate> broadcast(const std::vector<NamedTensor>& parameters);

 private:
  struct State;
  explicit Peers(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace plateau::train
