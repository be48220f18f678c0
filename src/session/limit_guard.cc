// SPDX-License-Identifier: Apache-2.0
#include "session/limit_guard.h"

namespace plateau {

LimitAction LimitGuard::check(double mb, double now_s, bool can_save, double ahead_mb) {
  if (policy_.limit_mb <= 0) return LimitAction::none;
  const auto go = [&](Stage stage, LimitAction action) {
    stage_ = stage;
    since_s_ = now_s;
    return action;
  };
  const bool patient = now_s - since_s_ < policy_.grace_s;
  switch (stage_) {
    case Stage::watching:
      if (policy_.on_limit == OnLimit::warn) ahead_mb = 0;
      if (mb + ahead_mb < policy_.limit_mb) return LimitAction::none;
      if (policy_.on_limit == OnLimit::warn) return go(Stage::warned, LimitAction::warn);
      if (policy_.on_limit == OnLimit::checkpoint && can_save) {
        return go(Stage::saving, LimitAction::save);
      }
      return go(Stage::terminating, LimitAction::terminate);
    case Stage::warned:
      if (mb < 0.95 * policy_.limit_mb) stage_ = Stage::watching;
      return LimitAction::none;
    case Stage::saving:
      return patient ? LimitAction::none : go(Stage::terminating, LimitAction::terminate);
    case Stage::terminating:
      return patient ? LimitAction::none : go(Stage::killed, LimitAction::kill);
    case Stage::killed:
      return LimitAction::none;
  }
  return LimitAction::none;
}

}  // namespace plateau
