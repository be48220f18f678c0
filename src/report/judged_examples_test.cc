// SPDX-License-Identifier: Apache-2.0
#include "report/judged_examples_for_test.h"

#include <gtest/gtest.h>

#include "import/import.h"

namespace plateau {
namespace {

Verdict judged(const std::string& trace, const Context& given, size_t samples = 0) {
  const Result<std::vector<plateau::Run>> runs = import_file(PLATEAU_SOURCE_DIR "/corpus/" + trace);
  if (!runs) {
    ADD_FAILURE() << runs.error().message;
    return {};
  }
  plateau::Run run = runs.value().back();
  if (samples > 0) run = prefix_of(run, samples);
  run.context = given;
  Verdict verdict = judge(run);
  verdict.file = trace;
  return verdict;
}

Context production() {
  Context context;
  context.examples = Fact{663, "--examples"};
  context.batch = Fact{8, "--batch"};
  return context;
}

}  // namespace

Verdict plateau_example() {
  static const Verdict verdict = judged("model-garden/run2.log", production());
  return verdict;
}

Verdict undecided_example() {
  Context context = production();
  context.limit_mb = Fact{20000, "--limit"};
  static const Verdict verdict = judged("model-garden/run1.log", context);
  return verdict;
}

Verdict leak_example() {
  static const Verdict verdict = judged("dev/tree_leak_child-1.csv.gz", {});
  return verdict;
}

Verdict spikes_example() {
  Context context;
  context.limit_mb = Fact{500, "--limit"};
  static const Verdict verdict = judged("dev/spikes_eval-2.csv.gz", context);
  return verdict;
}

Verdict warming_example() {
  Context context;
  context.total_steps = Fact{2000, "--total-steps"};
  context.limit_mb = Fact{1000, "--limit"};
  static const Verdict verdict = judged("own/lazy_threads-1.csv.gz", context);
  return verdict;
}

Verdict empty_example() {
  return judge(plateau::Run{});
}

namespace {

TEST(JudgedExamples, AreWhatTheirNamesSay) {
  EXPECT_EQ(plateau_example().word, Word::plateau);
  EXPECT_EQ(undecided_example().word, Word::undecided);
  EXPECT_EQ(leak_example().word, Word::leak);
  EXPECT_EQ(spikes_example().word, Word::plateau);
  EXPECT_GT(spikes_example().spikes.count, 1U);
  EXPECT_EQ(warming_example().word, Word::warming);
  EXPECT_EQ(empty_example().samples, 0U);
}

}  // namespace
}  // namespace plateau
