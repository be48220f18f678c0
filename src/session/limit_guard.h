// SPDX-License-Identifier: Apache-2.0
// What to do about a job that passes its memory limit, and when: a small state machine without
// clock or signals of its own.
//
//   warn        says it, and again only after memory had fallen back below 95 % of the limit
//   checkpoint  asks the job to save, `grace_s` later asks it to end, `grace_s` later ends it
//   stop        asks the job to end, `grace_s` later ends it
//
// The last two act before the limit by what the job adds until it has reacted (approach.h).
//
// Once it has asked, it goes through with it even if memory falls: a job that was asked to save and
// end is expected to.
#pragma once

#include <cstdint>

namespace plateau {

enum class OnLimit : uint8_t { warn, checkpoint, stop };

struct LimitPolicy {
  double limit_mb = 0;  // 0: none.
  OnLimit on_limit = OnLimit::warn;
  double grace_s = 30;
};

enum class LimitAction : uint8_t { none, warn, save, terminate, kill };

class LimitGuard {
 public:
  explicit LimitGuard(const LimitPolicy& policy) : policy_(policy) {}

  // What to do now. `can_save`: the job handles the signal that asks it to save; without that,
  // asking would kill it, so it is asked to end at once. `ahead_mb`: what it adds until it reacts.
  LimitAction check(double mb, double now_s, bool can_save, double ahead_mb = 0);

  // The job was, or is being, ended by us.
  [[nodiscard]] bool acted() const { return stage_ > Stage::warned; }

 private:
  enum class Stage : uint8_t { watching, warned, saving, terminating, killed };

  LimitPolicy policy_;
  Stage stage_ = Stage::watching;
  double since_s_ = 0;
};

}  // namespace plateau
