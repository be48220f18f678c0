// SPDX-License-Identifier: Apache-2.0
#include "trainer/plan/plan.h"

#include <gmock/gmock.h>

#include "trainer/plan/plan_text.h"

namespace plateau::train {
namespace {

using ::testing::HasSubstr;

PlanRequest published(const char* name) {
  PlanRequest request;
  request.config = preset_config(name).value();
  request.model.storage = BaseStorage::nf4;
  request.largest = {.tokens = 2048, .labelled = 256, .patches = 5184, .picture_bytes = 6'000'000};
  return request;
}

int64_t line(const Plan& plan, const std::string& name) {
  for (const PlanLine& each : plan.lines) {
    if (each.name == name) return each.bytes;
  }
  ADD_FAILURE() << "no line " << name;
  return 0;
}

double gb(int64_t bytes) {
  return static_cast<double>(bytes) / 1e9;
}

TEST(Plan, AnEvaluationSetCountsWhereItTakesMoreThanAStep) {
  PlanRequest request = published("qwen2.5-vl-3b");
  const int64_t without = make_plan(request).peak_bytes;
  request.evaluation = {.tokens = 64, .labelled = 8, .patches = 64, .picture_bytes = 1000};
  EXPECT_EQ(make_plan(request).peak_bytes, without);  // A step of training takes more.
  request.evaluation = {
      .tokens = 16384, .labelled = 256, .patches = 60000, .picture_bytes = 60'000'000};
  EXPECT_GT(make_plan(request).peak_bytes, without + 60000 * 588 * 4);
  EXPECT_EQ(make_plan(request).resident_bytes, [&] {
    request.evaluation = {};
    return make_plan(request).resident_bytes;
  }());
}

TEST(Plan, CountsTheParametersOfThePublishedModels) {
  EXPECT_EQ(make_plan(published("qwen2.5-vl-3b")).parameters, 3'754'622'976);
  EXPECT_EQ(make_plan(published("qwen2.5-vl-7b")).parameters, 8'292'166'656);
}

TEST(Plan, CountsTheAdaptersOfThePublishedModels) {
  EXPECT_EQ(make_plan(published("qwen2.5-vl-3b")).trainable, 41'084'928);
  EXPECT_EQ(make_plan(published("qwen2.5-vl-7b")).trainable, 51'521'536);
}

TEST(Plan, NestedNf4TakesFourAndAnEighthBits) {
  PlanRequest request = published("qwen2.5-vl-3b");
  EXPECT_NEAR(gb(line(make_plan(request), "base")), 2.46, 0.02);
  request.model.double_quant = false;
  EXPECT_NEAR(gb(line(make_plan(request), "base")), 2.62, 0.02);
  request.model.storage = BaseStorage::bf16;
  EXPECT_NEAR(gb(line(make_plan(request), "base")), 7.51, 0.02);
}

TEST(Plan, LinesAddUpToThePeak) {
  const Plan plan = make_plan(published("qwen2.5-vl-7b"));
  int64_t sum = 0;
  int64_t resident = 0;
  for (const PlanLine& each : plan.lines) {
    sum += each.bytes;
    resident += each.is_transient ? 0 : each.bytes;
  }
  EXPECT_EQ(sum, plan.peak_bytes);
  EXPECT_EQ(resident, plan.resident_bytes);
  EXPECT_LT(plan.peak_bytes, plan.minimum_ram);
  EXPECT_LT(plan.minimum_ram, plan.recommended_ram);
}

TEST(Plan, CheckpointingLeavesOneLayerAndTheInputsOfAll) {
  PlanRequest request = published("qwen2.5-vl-3b");
  const Plan with = make_plan(request);
  request.model.gradient_checkpointing = false;
  const Plan without = make_plan(request);
  EXPECT_EQ(line(with, "activations"), with.activations_with_checkpointing);
  EXPECT_EQ(line(without, "activations"), without.activations_without_checkpointing);
  EXPECT_GT(line(without, "activations"), 8 * line(with, "activations"));
}

TEST(Plan, FrozenVisionTowerKeepsNothing) {
  PlanRequest request = published("qwen2.5-vl-3b");
  request.model.gradient_checkpointing = false;
  const int64_t trained = line(make_plan(request), "activations");
  request.model.lora.vision = false;
  EXPECT_LT(line(make_plan(request), "activations"), trained * 2 / 3);
}

TEST(Plan, LogitsDoNotGrowWithTheSequence) {
  PlanRequest request = published("qwen2.5-vl-3b");
  const int64_t before = line(make_plan(request), "logits");
  request.largest.tokens *= 4;
  EXPECT_EQ(line(make_plan(request), "logits"), before);
}

TEST(Plan, WholeWeightsTakeTenBytesEachBeforeAnyActivation) {
  PlanRequest request = published("qwen2.5-vl-3b");
  request.model.storage = BaseStorage::fp32;
  request.model.trained = Trained::everything;
  const Plan plan = make_plan(request);
  EXPECT_EQ(plan.trainable, plan.parameters);
  EXPECT_EQ(line(plan, "base"), 0);
  EXPECT_EQ(line(plan, "trained"), 4 * plan.parameters);
  EXPECT_EQ(line(plan, "gradients"), 4 * plan.parameters);
  EXPECT_NEAR(gb(line(plan, "optimizer")), 2.03 * gb(plan.parameters), 0.02 * gb(plan.parameters));
  request.model.lora.vision = false;
  const Plan language = make_plan(request);
  EXPECT_EQ(line(language, "base") + line(language, "trained"), line(plan, "trained"));
  EXPECT_GT(line(language, "base"), 0);
}

TEST(Plan, DoraAddsALengthForEachRowAndKeepsProducts) {
  PlanRequest request = published("qwen2.5-vl-3b");
  request.model.gradient_checkpointing = false;
  const Plan plain = make_plan(request);
  request.model.lora.dora = true;
  const Plan dora = make_plan(request);
  int64_t rows = 0;
  for (const LinearShape& layer : adapter_layers(request.config, request.model.lora)) {
    rows += layer.outputs;
  }
  EXPECT_EQ(line(dora, "adapters") - line(plain, "adapters"), 4 * rows);
  EXPECT_GT(line(dora, "activations"), line(plain, "activations") * 5 / 4);
}

TEST(Plan, PackedRowsCountAllTheirExamplesAndAttendWithinOne) {
  PlanRequest request = published("qwen2.5-vl-3b");
  const ExampleShape example = request.largest;
  request.batch_size = 3;
  const Plan three = make_plan(request);
  request.batch_size = 1;
  request.packed = {.tokens = 3 * example.tokens,
                    .labelled = 3 * example.labelled,
                    .patches = 3 * example.patches,
                    .picture_bytes = example.picture_bytes};
  const Plan packed = make_plan(request);
  EXPECT_EQ(packed.peak_bytes, three.peak_bytes);
  request.examples = 1000;
  EXPECT_EQ(make_plan(request).peak_bytes, three.peak_bytes + 1000 * (16 + 16));
}

TEST(Plan, PackedEvaluationCountsARowOfIt) {
  PlanRequest request = published("qwen2.5-vl-3b");
  request.evaluation = {.tokens = 64, .labelled = 8, .patches = 64, .picture_bytes = 1000};
  const int64_t alone = line(make_plan(request), "evaluation");
  request.packed_evaluation = {
      .tokens = 64000, .labelled = 8000, .patches = 64000, .picture_bytes = 1000};
  EXPECT_GT(line(make_plan(request), "evaluation"), alone + int64_t{64000} * 588 * 4);
}

TEST(PlanText, SaysHowManyStepsAnEpochOfPackedRowsHas) {
  PlanRequest request = published("qwen2.5-vl-3b");
  EXPECT_EQ(packing_text(request, 8, 1), "");
  request.packed.tokens = 2000;
  request.packed_rows = 33;
  request.examples = 2400;
  request.batch_size = 2;
  EXPECT_EQ(packing_text(request, 8, 1),
            "Packed: 2,400 examples in 33 rows of up to 2,000 tokens, 3 steps an epoch.\n");
  EXPECT_THAT(packing_text(request, 8, 2), HasSubstr("2 steps an epoch"));
}

// A step of training has given its activations back before gradients are added.
TEST(Plan, SeveralProcessesTakeAFewMegabytesEachBesideAStep) {
  PlanRequest request = published("qwen2.5-vl-3b");
  const int64_t alone = make_plan(request).peak_bytes;
  request.peer_bucket_bytes = 25'000'000;
  const int64_t together = make_plan(request).peak_bytes - alone;
  EXPECT_GE(together, 1'000'000);
  EXPECT_LT(together, 4'000'000);
  request.peer_bucket_bytes = int64_t{1} << 50;  // All gradients at once.
  request.largest = {.tokens = 1, .labelled = 1};
  EXPECT_GT(line(make_plan(request), "peers"), 4'000'000);
}

// 36 layers of 2 x 256 keys and values in fp32 are 73,728 bytes a token.
TEST(Plan, GeneratedAnswersHoldKeysAndValuesOfAllLayers) {
  PlanRequest request = published("qwen2.5-vl-3b");
  request.evaluation = request.largest;
  EXPECT_EQ(line(make_plan(request), "evaluation"), 0);
  request.new_tokens = 100'000;
  const int64_t less = line(make_plan(request), "evaluation");
  request.new_tokens = 200'000;
  const int64_t more = line(make_plan(request), "evaluation");
  EXPECT_GT(less, 0);
  EXPECT_EQ(more - less, int64_t{100'000} * (36 + 1) * 2 * 256 * 4);
}

TEST(Fit, OffersWhatCostsLeastFirstAndStopsWhenItFits) {
  PlanRequest request = published("qwen2.5-vl-3b");
  request.model.gradient_checkpointing = false;
  request.batch_size = 2;
  const std::vector<PlanChange> changes = changes_to_fit(request, 4, int64_t{5'000'000'000});
  ASSERT_FALSE(changes.empty());
  EXPECT_EQ(changes[0].option, "--use-gradient-checkpointing true");
  EXPECT_LE(changes.back().peak_bytes, 5'000'000'000);
  for (size_t i = 0; i + 1 < changes.size(); ++i) EXPECT_GT(changes[i].peak_bytes, 5'000'000'000);
  for (size_t i = 0; i + 1 < changes.size(); ++i) {
    EXPECT_LT(changes[i + 1].peak_bytes, changes[i].peak_bytes);
  }
}

TEST(Fit, OffersToLeavePackingOut) {
  PlanRequest request = published("qwen2.5-vl-3b");
  request.packed = {
      .tokens = 32768, .labelled = 4096, .patches = 82944, .picture_bytes = 6'000'000};
  const std::vector<PlanChange> changes = changes_to_fit(request, 4, int64_t{5'000'000'000});
  ASSERT_FALSE(changes.empty());
  EXPECT_EQ(changes[0].option, "without --packing");
}

TEST(Fit, KeepsTheGlobalBatch) {
  PlanRequest request = published("qwen2.5-vl-7b");
  request.batch_size = 4;
  const std::vector<PlanChange> changes = changes_to_fit(request, 2, int64_t{9'000'000'000});
  ASSERT_FALSE(changes.empty());
  EXPECT_EQ(changes[0].option, "--batch-size 1 --gradient-accumulation-steps 8");
}

TEST(Fit, SaysWhenNothingIsEnough) {
  const PlanRequest request = published("qwen2.5-vl-7b");
  const int64_t limit = 1'000'000'000;
  const std::string text = fit_text(make_plan(request), changes_to_fit(request, 8, limit), limit);
  EXPECT_THAT(text, HasSubstr("Does not fit 1.00 GB"));
  EXPECT_THAT(text, HasSubstr("is not enough"));
}

TEST(PlanText, ShowsPlannedBesideMeasured) {
  const Plan plan = make_plan(published("qwen2.5-vl-3b"));
  const Measurements measured = {{"base", 2'500'000'000}, {"peak", 4'200'000'000}};
  const std::string table = plan_table(plan, &measured, 100);
  EXPECT_THAT(table, HasSubstr("measured"));
  EXPECT_THAT(table, HasSubstr("2.50 GB"));
  EXPECT_THAT(table, HasSubstr("4.20 GB"));
}

TEST(PlanText, WhatNoLineAccountsForIsShown) {
  const Plan plan = make_plan(published("qwen2.5-vl-3b"));
  Measurements measured;
  for (const PlanLine& each : plan.lines) measured[each.name] = 100'000'000;
  measured["peak"] = static_cast<int64_t>(plan.lines.size()) * 100'000'000 + 7'000'000;
  const Measurements with = with_rest(plan, measured);
  EXPECT_EQ(with.at("rest"), 7'000'000);
  EXPECT_THAT(plan_table(plan, &with, 100), HasSubstr("7.00 MB  of the peak"));
  EXPECT_FALSE(with_rest(plan, {{"base", 1}}).contains("rest"));
}

TEST(PlanText, FormulasGoOnBelowThemselves) {
  const Plan plan = make_plan(published("qwen2.5-vl-3b"));
  std::string table = plan_table(plan, nullptr, 60);
  std::string words;
  for (const char letter : table) {
    if (letter == '\n' || letter == ' ') {
      if (!words.empty() && words.back() != ' ') words += ' ';
    } else {
      words += letter;
    }
  }
  for (const PlanLine& each : plan.lines) EXPECT_THAT(words, HasSubstr(each.formula));
}

TEST(PlanText, NoLineIsWiderThanTheTerminal) {
  const std::string table = plan_table(make_plan(published("qwen2.5-vl-7b")), nullptr, 80);
  size_t begin = 0;
  while (begin < table.size()) {
    const size_t end = table.find('\n', begin);
    EXPECT_LE(end - begin, 80u);
    begin = end + 1;
  }
}

}  // namespace
}  // namespace plateau::train
