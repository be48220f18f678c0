// SPDX-License-Identifier: Apache-2.0
#include "verdict/repeated_lives.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "verdict/test_runs.h"
#include "verdict/verdict.h"

namespace plateau {
namespace {

using testing::DoubleNear;

// A supervisor of 3 MB and the lives of what it starts, one after the other; `curve` gives MB at an
// age.
Run lives_of(int lives, int length, const std::function<double(int life, double age)>& curve) {
  std::vector<std::function<double(double)>> curves = {[](double) { return 3.0; }};
  for (int life = 0; life < lives; ++life) {
    curves.emplace_back([=](double t) {
      const double age = t - length * life;
      return age > 0 && age <= length ? curve(life, age) : kMissing;
    });
  }
  return run_of_processes(int64_t{lives} * length, curves);
}

Run by_the_minute(Run run) {
  for (Instant& instant : run.instants) {
    instant.time_s = 60.0 * static_cast<double>(instant.step);
    instant.step = -1;
  }
  return run;
}

std::function<double(int, double)> climbing(double rate) {
  return
      [rate, noise = Noise(4)](int, double age) mutable { return 350 + rate * age + 3 * noise(); };
}

// Says at the end of each life that memory ended it.
Run killed(Run run, int length) {
  for (size_t at = static_cast<size_t>(length); at <= run.instants.size();
       at += static_cast<size_t>(length)) {
    run.events.push_back({.instant = at - 1, .kind = EventKind::oom, .text = "Killed"});
  }
  return run;
}

TEST(RepeatedLives, ThatMemoryEndedBeforeTheDeadlineAreALeakTogether) {
  const Verdict verdict = judge(killed(lives_of(4, 100, climbing(8)), 100));
  EXPECT_EQ(verdict.word, Word::leak);
  const Finding* said = found(verdict.warnings, FindingKind::lives_repeat);
  ASSERT_NE(said, nullptr);
  EXPECT_DOUBLE_EQ(said->number("alike")->value, 4);
  EXPECT_DOUBLE_EQ(said->number("killed")->value, 4);
  EXPECT_THAT(said->number("rate")->value, DoubleNear(8, 0.4));
  EXPECT_THAT(said->number("end_mb")->value, DoubleNear(1150, 10));
}

TEST(RepeatedLives, ThatEndAtTheLimitWereEndedByIt) {
  auto run = lives_of(4, 100, climbing(8));
  run.context.limit_mb = Fact{1200, "--limit"};
  EXPECT_EQ(judge(run).word, Word::leak);
  run.context.limit_mb = Fact{16000, "--limit"};
  EXPECT_EQ(judge(run).word, Word::undecided);
}

TEST(RepeatedLives, ThatWereStoppedByHandInTheirFirstPassStayOpen) {
  const Verdict verdict = judge(lives_of(4, 100, climbing(8)));
  EXPECT_EQ(verdict.word, Word::undecided);
  EXPECT_NE(found(verdict.warnings, FindingKind::lives_repeat), nullptr);
}

// As a log has them in which the steps begin anew.
TEST(RepeatedLives, InOneLogAreTakenTogether) {
  const auto one = killed(
      run_of(100, 1, [noise = Noise(8)](double s) mutable { return 350 + 8 * s + 3 * noise(); }),
      100);
  auto last = one;
  EXPECT_EQ(judge(last).word, Word::undecided);
  last.earlier.assign(3, *outline_of(one));
  EXPECT_EQ(judge(last).word, Word::leak);
}

TEST(RepeatedLives, OfAServerThatIsKilledEveryNinetyMinutesAreNotItsLoad) {
  EXPECT_EQ(judge(by_the_minute(lives_of(4, 90, climbing(85)))).word, Word::leak);
  const Verdict once = judge(by_the_minute(lives_of(1, 90, climbing(10))));
  EXPECT_NE(once.word, Word::leak) << "one climb may be the morning's traffic";
}

TEST(RepeatedLives, ThatLevelOffAreNoLeakHoweverMany) {
  const auto warms_up = [noise = Noise(5)](int, double age) mutable {
    return 350 + 650 * std::min(1.0, age / 20) + 3 * noise();
  };
  const Verdict verdict = judge(by_the_minute(lives_of(6, 90, warms_up)));
  EXPECT_NE(verdict.word, Word::leak);
  EXPECT_EQ(found(verdict.warnings, FindingKind::lives_repeat), nullptr);
}

TEST(RepeatedLives, ThatFollowRisingTrafficAreNoLeak) {
  const auto traffic = [noise = Noise(6)](int life, double age) mutable {
    const double load = 600 + 5 * (90 * life + age);
    return 350 + load * (1 - std::exp(-age / 5)) + 5 * noise();
  };
  EXPECT_NE(judge(by_the_minute(lives_of(4, 90, traffic))).word, Word::leak);
}

TEST(RepeatedLives, ThatEndWithinAKnownFirstPassStayOpen) {
  const auto lives = killed(lives_of(4, 100, climbing(8)), 100);
  EXPECT_EQ(judge(with_epoch(lives, 300)).word, Word::undecided);
}

TEST(RepeatedLives, AtUnlikeRatesSayNothingTogether) {
  const auto ever_faster = [noise = Noise(7)](int life, double age) mutable {
    return 350 + (2 << (2 * life)) * age + 3 * noise();
  };
  EXPECT_EQ(found(judge(lives_of(4, 100, ever_faster)).warnings, FindingKind::lives_repeat),
            nullptr);
}

}  // namespace
}  // namespace plateau
