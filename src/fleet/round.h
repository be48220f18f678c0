// SPDX-License-Identifier: Apache-2.0
// One round over a fleet: who is there, what they held, what that means.
//
// Memory is bounded by the shards in flight, two at a time, and by a kilobyte for each series that
// was judged. What fails is asked for again, in halves where less might help and after a pause
// where patience might; what fails for good is counted and told, and the rest of the fleet is
// judged.
#pragma once

#include <functional>
#include <string>

#include "base/result.h"
#include "fleet/findings.h"
#include "fleet/shard_pull.h"

namespace plateau::fleet {

struct RoundOptions {
  Question question;
  double most_false = 0.1;
  size_t transfers = 2;
  size_t most_series = 200;       // Of a shard,
  size_t most_samples = 150'000;  // whichever is less.
  double patience_s = 1;          // The first pause; each further one is twice as long.
  int most_tries = 6;             // Of a shard that cannot be cut any further.
  // Called now and then, from any thread, one at a time: series done, series in all.
  std::function<void(size_t, size_t)> progress = {};
  std::function<bool()> stopped = {};  // Give up early? From any thread.
};

// Makes a way to ask; each thread has its own.
using AskMaker = std::function<Result<Ask>()>;

// Fails if the database cannot be reached, refuses us, or knows no such series. What fails later
// makes the answer partial.
Result<FleetAnswer> judge_fleet(const AskMaker& make_ask, RoundOptions options);

}  // namespace plateau::fleet
