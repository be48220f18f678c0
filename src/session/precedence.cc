// SPDX-License-Identifier: Apache-2.0
#include "session/precedence.h"

namespace plateau {
namespace {

// An automatic clock that begins this far below the one that stands is another count. Less is the
// progress bar, which was a line earlier.
constexpr int64_t kOtherCount = 10;

// Loading data and a large model takes minutes. A job that has not stepped by then may have an
// optimizer that torch does not know.
constexpr double kWaitSeconds = 300;

bool is_event(const StepWords& words) {
  return words.kind == StepWords::Kind::begin || words.kind == StepWords::Kind::mark;
}

}  // namespace

EventKind kind_of_event_word(std::string_view name) {
  if (name == "eval" || name == "evaluate" || name == "evaluation") return EventKind::eval;
  if (name == "save" || name == "checkpoint") return EventKind::checkpoint;
  return event_from_name(name).value_or(EventKind::mark);
}

void Precedence::user_said(FactField which) {
  user_facts_[fact_number(which)] = true;
}

void Precedence::module_is_in(double at_s) {
  if (module_since_s_ < 0) module_since_s_ = at_s;
}

bool Precedence::waits_for_module(double at_s) const {
  return module_since_s_ >= 0 && at_s < module_since_s_ + kWaitSeconds;
}

std::optional<StepWords> Precedence::admit(StepWords words, int64_t at,
                                           const std::function<bool(pid_t)>& lives) {
  const auto event = static_cast<size_t>(kind_of_event_word(words.name));
  if (!words.from_auto) {
    user_steps_ = user_steps_ || words.kind == StepWords::Kind::step;
    for (const FactKind& kind : kFacts) {
      if (words.facts.*kind.field) user_said(kind.field);
    }
    if (is_event(words)) user_events_.at(event) = true;
    return words;
  }
  if (words.kind == StepWords::Kind::step) return admit_auto_step(std::move(words), at, lives);
  for (const FactKind& kind : kFacts) {
    if (user_facts_[fact_number(kind.field)]) (words.facts.*kind.field).reset();
  }
  const bool said_by_user = static_cast<EventKind>(event) != EventKind::mark &&
                            (is_event(words) || words.kind == StepWords::Kind::end) &&
                            user_events_.at(event);
  if (said_by_user) return std::nullopt;
  return words;
}

std::optional<StepWords> Precedence::admit_auto_step(StepWords words, int64_t at,
                                                     const std::function<bool(pid_t)>& lives) {
  if (user_steps_) return std::nullopt;
  const auto pid = static_cast<pid_t>(words.pid);
  if (pid != speaker_) {
    if (speaker_ > 0 && lives(speaker_)) return std::nullopt;
    speaker_ = pid;
    base_ = words.step + kOtherCount < at ? at : 0;
  }
  words.step += base_;
  return words;
}

}  // namespace plateau
