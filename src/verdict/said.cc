// SPDX-License-Identifier: Apache-2.0
#include "verdict/said.h"

#include <algorithm>
#include <cmath>

#include "recording/last_words.h"

namespace plateau {
namespace {

constexpr int64_t kStepsThatGoOn = 2;
constexpr double kGoesOnSeconds = 60;
constexpr double kMayWaitSeconds = 1800;
// How session/ words what it saw itself.
constexpr std::string_view kSeenByUs = "the kernel OOM-killed";

bool went_on(const Run& run, const Event& event) {
  if (run.ending.kind == Ending::Kind::exited && run.ending.code == 0) return true;
  const Instant& then = run.instants[event.instant];
  const Instant& last = run.instants.back();
  if (then.step >= 0 && last.step >= 0) return last.step >= then.step + kStepsThatGoOn;
  const double after_s = last.time_s - then.time_s;
  if (std::isnan(after_s)) return run.instants.size() - event.instant > 3;
  return after_s > (is_over(run) ? kMayWaitSeconds : kGoesOnSeconds);
}

// Of a component until the moment: what it was then, and the most it ever was.
struct Held {
  double then_mb = kMissing;
  double peak_mb = kMissing;
};
Held held_until(const CaseFile& file, std::string_view name, double at) {
  Held held;
  for (const Component& component : file.signals->components) {
    if (component.name != name) continue;
    for (const TimedValue& point : component.points) {
      if (point.at > at) break;
      held.then_mb = point.mb;
      held.peak_mb = std::isnan(held.peak_mb) ? point.mb : std::max(held.peak_mb, point.mb);
    }
  }
  return held;
}

// The last value of a gauge up to an instant; NaN if it has none.
double gauge_at(const Run& run, std::string_view name, size_t instant) {
  for (const Gauge& gauge : run.gauges) {
    if (gauge.name != name) continue;
    for (size_t i = std::min(instant + 1, gauge.value.size()); i-- > 0;) {
      if (std::isfinite(gauge.value[i])) return gauge.value[i];
    }
  }
  return kMissing;
}

class Told {
 public:
  Told(const CaseFile& file, const Event& event)
      : file_(file),
        event_(event),
        at_(file.signals->clock_of_instant[event.instant]),
        quote_(quote_of(event.text)) {
    const auto words = find_last_words(quote_);
    kind_ = words ? words->kind : LastWordsKind::host_memory;
    limit_mb_ = gauge_at(*file.run, kAddressLimit, event.instant);
    // The message is the same; only the limit tells.
    if (kind_ == LastWordsKind::host_memory && std::isfinite(limit_mb_)) {
      kind_ = LastWordsKind::address_limit;
    }
  }

  [[nodiscard]] Finding passing() const {
    return {FindingKind::said_and_went_on, {{"said_step", at_, Unit::moment}}, {{"quote", quote_}}};
  }

  [[nodiscard]] Finding last() {
    const bool seen = quote_.starts_with(kSeenByUs);
    if (seen) quote_.front() = 'T';
    finding_ = {seen ? FindingKind::killed_for_memory : FindingKind::last_words,
                {{"said_step", at_, Unit::moment}},
                {{"quote", quote_}}};
    const std::string name(last_words_name(kind_));
    if (!seen) finding_.names.push_back({"message", name, NameKind::message});
    finding_.names.push_back({"remedy", name, NameKind::remedy});
    if (!seen) figures();
    holdings();
    return finding_;
  }

 private:
  void number(std::string_view name, double mb) {
    if (std::isfinite(mb)) finding_.numbers.push_back({name, mb, Unit::mb});
  }

  void figures() {
    const LastWordsFigures figures = figures_of(quote_);
    number("asked_mb", figures.asked_mb.value_or(kMissing));
    number("capacity_mb", figures.capacity_mb.value_or(kMissing));
    number("free_mb", figures.free_mb.value_or(kMissing));
    number("unused_mb", figures.unused_mb.value_or(kMissing));
    if (kind_ == LastWordsKind::shared_memory) {
      number("shm_size_mb", gauge_at(*file_.run, kShmSize, event_.instant));
      number("shm_used_mb", gauge_at(*file_.run, kShmUsed, event_.instant));
    }
    if (kind_ == LastWordsKind::address_limit) number("address_limit_mb", limit_mb_);
  }

  // Of owned memory, or of the GPU's where the complaint is about that and it was read.
  void holdings() {
    const bool device = kind_ == LastWordsKind::gpu_memory || kind_ == LastWordsKind::gpu_library;
    Held held = held_until(file_, device ? "gpu" : "owned", at_);
    const bool of_device = device && std::isfinite(held.then_mb);
    if (device && !of_device) return;
    if (std::isnan(held.then_mb))
      held = held_until(file_, file_.signals->components.front().name, at_);
    number("held_mb", held.then_mb);
    if (held.peak_mb > 1.02 * held.then_mb) number("peak_mb", held.peak_mb);
    const std::optional<Fact>& limit = file_.run->context.limit_mb;
    if (limit && !of_device) number("allowed_mb", limit->value);
  }

  const CaseFile& file_;
  const Event& event_;
  double at_;
  std::string quote_;
  LastWordsKind kind_ = LastWordsKind::host_memory;
  double limit_mb_ = kMissing;
  Finding finding_;
};

}  // namespace

void add_said(const CaseFile& file, Verdict& verdict) {
  const Run& run = *file.run;
  // Words stand before what came of them: of those in the last rows the first is the cause.
  const Event* last = nullptr;
  const Event* passing = nullptr;
  for (const Event& event : run.events) {
    if (event.kind != EventKind::oom || event.instant >= run.instants.size()) continue;
    if (went_on(run, event)) {
      passing = &event;
    } else if (last == nullptr) {
      last = &event;
    }
  }
  if (last != nullptr) {
    verdict.evidence.insert(verdict.evidence.begin(), Told(file, *last).last());
  } else if (passing != nullptr) {
    verdict.evidence.push_back(Told(file, *passing).passing());
  }
}

}  // namespace plateau
