// SPDX-License-Identifier: Apache-2.0
#include "report/example_verdicts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace plateau {
namespace {

void add_point(Verdict& verdict, double step, double mb, bool spike = false) {
  verdict.plot.push_back({.step = step, .mb = mb, .spike = spike});
}

ProcessGrowth process(int64_t pid, std::string name, Role role, double first, double last) {
  ProcessGrowth made;
  made.id = pid;
  made.id_is_pid = true;
  made.name = std::move(name);
  made.role = role;
  made.first_mb = first;
  made.last_mb = last;
  made.growth_mb = last - first;
  return made;
}

Explanation explanation(std::string name, std::string words, bool bounded, double weight) {
  Explanation made;
  made.name = std::move(name);
  made.words = std::move(words);
  made.bounded = bounded;
  made.weight = weight;
  return made;
}

}  // namespace

Verdict plateau_example() {
  Verdict verdict;
  verdict.file = "run2.log";
  verdict.word = Word::plateau;
  verdict.confidence = 0.9991;
  verdict.headline = "no leak";
  verdict.component = "memory";
  verdict.first_step = 10;
  verdict.last_step = 240;
  verdict.first_mb = 5434;
  verdict.last_mb = 17032;
  verdict.samples = 24;
  verdict.rate_mb_per_step = 168.2;
  verdict.rate_range = {165.1, 171.0};
  verdict.mb_per_example = 20.9;
  verdict.settled = Verdict::Settled{83, 17400, {17030, 17700}};
  verdict.epoch_steps = 83;
  verdict.phases = {{10, 83, 5434, 17658, 168.2}, {83, 240, 17658, 17032, -2.1}};
  verdict.causes = {
      {"per-example-cache", "per-example cache (decoded data kept)", 0.93,
       "20.9 MB stay in memory per example seen for the first time.",
       "run the same 20 batches twice; the second pass will not grow.",
       "Dropping decoded examples after use would give back about 12.0 GB."},
      {"allocator-warm-up", "allocator warm-up", 0.04, "It would slow down towards its end.",
       "set MALLOC_ARENA_MAX=2 and compare.", ""}};
  verdict.explanations = {
      explanation("epoch-hinge", "cache that fills until step 83", true, 0.97),
      explanation("saturating", "warm-up that slows down", true, 0.025),
      explanation("linear", "leak of the same amount every step", false, 0.005)};
  verdict.explanations[0].plateau_mb = 17400;
  verdict.explanations[0].ends_at_step = 83;
  verdict.explanations[0].speaks_for = {
      "The bend lies within 2 steps of the end of the first pass."};
  verdict.explanations[2].rate_mb_per_step = 50;
  verdict.explanations[2].speaks_against = {"No growth over the last 150 steps."};
  verdict.evidence = {"Growth stopped where the first pass over the data ended: 663 / 8 = step 83.",
                      "Not allocator warm-up: the rate did not fall before step 80.",
                      "Not objects: tensors 6,529, steady."};
  const double mb[] = {5434,  7017,  8721,  10375, 12000, 13757, 15559, 17412,
                       17658, 17693, 17694, 17694, 17437, 17437, 17437, 17378,
                       17378, 17229, 17229, 17051, 17051, 17051, 17032, 17032};
  for (size_t i = 0; i < std::size(mb); ++i) {
    add_point(verdict, 10.0 * static_cast<double>(i + 1), mb[i]);
  }
  return verdict;
}

Verdict undecided_example() {
  Verdict verdict;
  verdict.file = "run1.log";
  verdict.title = "run 2 of 2 (line 31)";
  verdict.word = Word::undecided;
  verdict.confidence = 0.52;
  verdict.headline = "too early to tell";
  verdict.component = "memory";
  verdict.first_step = 10;
  verdict.last_step = 70;
  verdict.first_mb = 5552;
  verdict.last_mb = 15736;
  verdict.samples = 7;
  verdict.rate_mb_per_step = 169.5;
  verdict.rate_range = {165.0, 174.0};
  verdict.current_rate_mb_per_step = 170;
  verdict.current_rate_range = {160, 181};
  verdict.risk = {.oom = 0.46, .at_step = 96, .at_step_range = Interval{93, 99}, .limit_mb = 20000};
  verdict.forecast = Verdict::Forecast{17800, {17500, 18100}, 83};
  verdict.epoch_steps = 83;
  verdict.explanations = {
      explanation("epoch-hinge", "cache that fills until the first pass ends", true, 0.52),
      explanation("linear", "leak of the same amount every step", false, 0.46),
      explanation("saturating", "warm-up that slows down", true, 0.02)};
  verdict.explanations[0].plateau_mb = 17800;
  verdict.explanations[0].ends_at_step = 83;
  verdict.explanations[1].rate_mb_per_step = 170;
  verdict.undecided_because =
      "Steady growth until now; a cache that ends with the first pass and a leak look the same.";
  verdict.decides_at_step = 90;
  verdict.experiment = "train on 80 examples only: a cache stops at step 10, a leak does not.";
  verdict.evidence = {"Growth is the same in every stretch of 10 steps, within 4 %."};
  verdict.warnings = {"Only 7 samples."};
  const double mb[] = {5552, 7159, 8851, 10515, 12227, 13919, 15736};
  for (size_t i = 0; i < std::size(mb); ++i) {
    add_point(verdict, 10.0 * static_cast<double>(i + 1), mb[i]);
  }
  return verdict;
}

Verdict leak_example() {
  Verdict verdict;
  verdict.file = "tree.csv";
  verdict.word = Word::leak;
  verdict.confidence = 0.993;
  verdict.headline = "growth that nothing bounded explains";
  verdict.component = "owned";
  verdict.first_step = 1;
  verdict.last_step = 400;
  verdict.first_mb = 2100;
  verdict.last_mb = 5300;
  verdict.samples = 400;
  verdict.rate_mb_per_step = 8.02;
  verdict.rate_range = {7.9, 8.1};
  verdict.current_rate_mb_per_step = 8.0;
  verdict.current_rate_range = {7.8, 8.2};
  verdict.total_steps = 2000;
  verdict.forecast_at_total_steps_mb = 18100;
  verdict.risk = {.oom = 0.98, .at_step = 1237, .at_step_range = {}, .limit_mb = 12000};
  verdict.processes = {process(4243, "python", Role::data_worker, 300, 3480),
                       process(4242, "python", Role::main, 1500, 1518),
                       process(4100, "torchrun", Role::wrapper, 300, 302)};
  verdict.processes[0].share = 0.993;
  verdict.processes[1].share = 0.006;
  verdict.processes[2].share = 0.001;
  verdict.process = verdict.processes[0];
  verdict.components = {
      {"owned", "sum of anon + swap over 3 processes", Word::leak, 0.993, 2100, 5300, 8.02, false},
      {"file", "file-backed pages", Word::warming, 0.8, 200, 900, 1.75, true}};
  verdict.causes = {{"worker-keeps-samples", "a data worker keeps what it loads", 0.7,
                     "The parent is level while one worker grows with every batch.",
                     "set num_workers=0; growth moves into the parent.",
                     "Return copies from the dataset, and drop references after collating."},
                    {"native-leak", "native leak in a decoder", 0.2, "Growth is even per batch.",
                     "decode one image a million times.", ""}};
  verdict.explanations = {explanation("linear", "leak of the same amount every step", false, 0.99),
                          explanation("saturating", "warm-up that slows down", true, 0.01)};
  verdict.explanations[0].rate_mb_per_step = 8.02;
  verdict.evidence = {"Growth went on through 5 passes over the data at the same rate."};
  verdict.warnings = {"3 of 1,200 lines looked like data but could not be read: line 17: '-3 MB'."};
  for (int step = 1; step <= 400; step += 3) add_point(verdict, step, 2092 + 8.02 * step);
  for (int step = 50; step <= 400; step += 50) {
    verdict.marks.push_back({.step = static_cast<double>(step), .kind = EventKind::checkpoint});
  }
  return verdict;
}

Verdict spikes_example() {
  Verdict verdict;
  verdict.file = "eval.log";
  verdict.word = Word::plateau;
  verdict.confidence = 0.985;
  verdict.headline = "no leak: spikes over a level floor";
  verdict.component = "memory";
  verdict.clock = Clock::seconds;
  verdict.first_step = 0;
  verdict.last_step = 3600;
  verdict.first_mb = 8000;
  verdict.last_mb = 8010;
  verdict.samples = 361;
  verdict.rate_range = {-0.001, 0.002};
  verdict.settled = Verdict::Settled{0, 8010, {7950, 8070}};
  verdict.spikes = {.count = 6, .height_mb = 2150, .max_mb = 10300, .clock = "evaluation"};
  verdict.sawtooth = Verdict::Sawtooth{120, 300};
  verdict.evidence = {"The floor of each stretch between evaluations is the same within 60 MB."};
  for (int t = 0; t <= 3600; t += 10) {
    const bool spike = t % 600 == 300;
    add_point(verdict, t, spike ? 10150 + t / 24.0 : 8000 + (t % 120) * 0.5, spike);
    if (spike) verdict.marks.push_back({.step = t + 0.0, .kind = EventKind::eval});
  }
  return verdict;
}

Verdict warming_example() {
  Verdict verdict = undecided_example();
  verdict.title = "";
  verdict.word = Word::warming;
  verdict.confidence = 0.94;
  verdict.headline = "growing, and it will end";
  verdict.total_steps = 250;
  verdict.forecast_at_total_steps_mb = 17800;
  verdict.risk = {.oom = 0.03, .at_step = {}, .at_step_range = {}, .limit_mb = 20000};
  verdict.explanations[0].weight = 0.94;
  verdict.explanations[1].weight = 0.04;
  verdict.decides_at_step.reset();
  verdict.undecided_because = "";
  verdict.causes = {plateau_example().causes[0]};
  return verdict;
}

Verdict empty_example() {
  Verdict verdict;
  verdict.file = "empty.log";
  verdict.headline = "nothing to judge";
  verdict.undecided_because = "There are no samples.";
  verdict.missing = "a log with at least four samples.";
  return verdict;
}

namespace {

TEST(ExampleVerdicts, ExplanationsSumToOneAndComeByFallingWeight) {
  for (const Verdict& verdict :
       {plateau_example(), undecided_example(), leak_example(), warming_example()}) {
    double sum = 0;
    for (const Explanation& each : verdict.explanations) sum += each.weight;
    EXPECT_NEAR(sum, 1, 1e-9) << verdict.file;
    EXPECT_TRUE(std::is_sorted(
        verdict.explanations.begin(), verdict.explanations.end(),
        [](const Explanation& a, const Explanation& b) { return a.weight > b.weight; }));
  }
}

}  // namespace
}  // namespace plateau
