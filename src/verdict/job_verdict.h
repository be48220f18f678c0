// SPDX-License-Identifier: Apache-2.0
// What a verdict says of a job of many ranks: docs/ranks.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "verdict/word.h"

namespace plateau {

// Which part of which job this is (docs/ranks.md); -1 and "" where it is not known.
struct Launched {
  std::string job;
  std::string node;
  int64_t rank = -1;
  int64_t world = -1;
  int64_t attempt = -1;
};

// One rank of a job of many, judged by itself.
struct RankVerdict {
  int64_t rank = 0;
  std::string node;
  Word word = Word::undecided;
  double confidence = 0;
  double first_mb = 0;
  double last_mb = 0;
  double rate_mb_per_step = 0;
  size_t lives = 1;                  // It was started so many times.
  std::optional<double> ended_step;  // If it ended well before the others did.
  bool odd = false;                  // It leaks, and not all do.
  bool saves = false;  // It grows at checkpoints, which it alone writes: told apart from a leak.
};

// One node of it: what its ranks hold together, against what it may hold.
struct NodeVerdict {
  std::string name;
  size_t ranks = 0;
  Word word = Word::undecided;
  double confidence = 0;
  double first_mb = 0;
  double last_mb = 0;
  Risk risk;  // With its limit, if that is known.
};

struct JobVerdict {
  // How far a leak reaches.
  enum class Reach : uint8_t { none, one_rank, one_node, some, all };
  std::string id;
  size_t world = 0;              // As many ranks as it has; 0: not known.
  std::vector<int64_t> missing;  // Ranks of which nothing was recorded, the first 64.
  size_t missing_count = 0;
  Reach reach = Reach::none;
  std::vector<RankVerdict> ranks;  // By rank.
  std::vector<NodeVerdict> nodes;  // By name; the one that fills first decides the risk.
};
std::string_view reach_name(JobVerdict::Reach reach);  // "none", "one rank", ...

}  // namespace plateau
