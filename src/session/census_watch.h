// SPDX-License-Identifier: Apache-2.0
// Two looks into the Python objects of a job that grows: what became longer between them is who
// holds the growth.
//
// When. The first look comes when growth shows: the main process owns 1 % (and 4 MB) more than when
// the work had begun, which is its third step, or ten seconds without steps. The second comes when
// the work has gone on for as long again (two seconds and twelve steps at least, five seconds
// without steps) and the process has grown by as much again. Each look stops it for some
// milliseconds; both together may cost it kOnceS and `share` of the time it has run, and one never
// more than kMostEstimateS by estimate, so in a job with many objects they come later, or not at
// all. By `share` alone 300,000 objects, which torch and transformers have when they are imported,
// would be looked at twice after two and a half minutes; with kOnceS that is when growth shows. A
// look that was given up on a busy machine is tried again with up to twice the time, up to three
// times, once kRetriesS and `share` together cover that. A look that came before the third step, or
// while the program was still being imported, tells nothing of its work: the next one takes its
// place. What comes once per evaluation is not seen over a few steps: where a second look sees
// nothing that has grown, the next one is compared with the first again.
//
// How. A process of its own looks (census/census.h), because following references takes half a
// second of CPU and the watcher has samples to take. It keeps what it saw for the second look. If
// it dies, or may not look, the job goes on and nothing is said of holders.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/fd.h"
#include "probe/snapshot.h"
#include "recording/recording.h"

namespace plateau {

struct LookReply;

class CensusWatch {
 public:
  static constexpr double kMostEstimateS = 0.25;
  static constexpr double kDefaultShare = 0.001;
  static constexpr int kLooks = 2;
  // Beside the share, once: 0.8 % of a job of a minute, and two looks at the 630,000 objects that
  // transformers, peft and a model of Qwen2.5-VL bring, which take 0.16 s each with a core of their
  // own and half as long again beside others.
  static constexpr double kOnceS = 0.5;
  // The same where a look has failed: a try with twice the time, and the look after it. That
  // happens where no core is free, and there the job itself takes several times longer too.
  static constexpr double kRetriesS = 1.5;

  // `share` 0: never looks.
  explicit CensusWatch(double share) : share_(share) {}
  ~CensusWatch();
  CensusWatch(CensusWatch&& other) noexcept;
  CensusWatch& operator=(CensusWatch&&) = delete;

  // After each sample. Never waits.
  void tick(const Snapshot& snapshot, double at_s, int64_t step, RecordingWriter& recording);

  // Of the process that looks; -1 if there is none.
  [[nodiscard]] pid_t pid() const { return pid_; }
  [[nodiscard]] double cpu_s() const;
  // Ends it. What it has not said by now is not waited for.
  void finish();

  // What it cost the job so far, and why there is no more to it.
  struct Cost {
    int looks = 0;
    int early = 0;  // Further ones, that came before the work had begun ...
    int empty = 0;  // ... and that saw nothing that had grown since the first.
    double stopped_s = 0;
    double awaited_s = 0;  // By estimate, of a look that would have cost more than was allowed.
    std::string trouble;
  };
  [[nodiscard]] const Cost& cost() const { return cost_; }

 private:
  // What time it was in which step.
  struct Moment {
    double at_s = 0;
    int64_t step = -1;
  };
  enum class Stage : uint8_t { waits_for_work, waits_for_growth, looking, ended };

  void wait_for_work(double at_s, int64_t step);
  void wait_for_growth(double at_s, int64_t step);
  void ask(double at_s, int64_t step);
  void hear(double at_s, int64_t step, RecordingWriter& recording);
  void looked(const Moment& when, LookReply reply, RecordingWriter& recording);
  // The one look so far came too early.
  void forget_look();
  bool start();
  // What the looks may cost the job in all by now.
  [[nodiscard]] double allowed_s(double at_s) const;

  double share_;
  Stage stage_ = Stage::waits_for_work;
  pid_t pid_ = -1;
  Fd socket_;
  double cpu_s_ = 0;     // Once it has ended.
  pid_t target_ = -1;    // The main process.
  double owned_mb_ = 0;  // Of it, now ...
  double base_mb_ = 0;   // ... and when growth was last measured from.
  double work_began_s_ = 0;
  double next_try_s_ = 0;
  int64_t next_step_ = -1;       // Nor before this step, where steps are known.
  bool anew_ = false;            // The next look is a first one.
  std::vector<Moment> moments_;  // Since it was asked to look.
  int failures_ = 0;
  HolderGrowth found_;  // As far as it is known.
  Cost cost_;
};

}  // namespace plateau
