// SPDX-License-Identifier: Apache-2.0
// The stored cases of testdata/qwen25vl-tiny, made by the Python model class of transformers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "trainer/model/reference_check.h"

namespace plateau::train {
namespace {

const std::filesystem::path kTiny =
    std::filesystem::path(PLATEAU_SOURCE_DIR) / "trainer/testdata/qwen25vl-tiny";

class ReferenceCases : public testing::TestWithParam<const char*> {
 protected:
  static ReferenceReport check(const ModelOptions& options) {
    auto report =
        check_reference(kTiny, kTiny / (std::string(GetParam()) + ".safetensors"), options);
    EXPECT_TRUE(report.ok()) << report.error().message;
    return report.ok() ? report.value() : ReferenceReport{.loss_error = 1};
  }
};

TEST_P(ReferenceCases, AgreeWithThePythonModel) {
  for (const bool checkpointing : {false, true}) {
    ModelOptions options;
    options.gradient_checkpointing = checkpointing;
    const ReferenceReport report = check(options);
    SCOPED_TRACE(reference_json(report));
    EXPECT_EQ(report.position_error, 0);
    EXPECT_LE(report.loss_error, 1e-5);
    EXPECT_LE(report.logit_error, 1e-5);
    EXPECT_LE(report.activation_error, 1e-5);
    EXPECT_LE(report.gradient_error, 1e-4);
    EXPECT_EQ(report.gradients, 57U);
    EXPECT_GE(report.activations, 2U);
    EXPECT_TRUE(report.agrees());
  }
}

TEST_P(ReferenceCases, AgreeWithAnyChunks) {
  for (const int64_t chunk : {1, 3, 7, 64}) {
    ModelOptions options;
    options.attention_chunk = chunk;
    options.loss_chunk = chunk;
    const ReferenceReport report = check(options);
    EXPECT_TRUE(report.agrees()) << chunk << " " << reference_json(report);
  }
}

INSTANTIATE_TEST_SUITE_P(Tiny, ReferenceCases, testing::Values("images", "text", "video"),
                         [](const auto& tested) { return std::string(tested.param); });

TEST(ReferenceCheck, ACaseOfAnotherModelIsAnError) {
  EXPECT_FALSE(check_reference(kTiny, kTiny / "model.safetensors", {}).ok());
  EXPECT_FALSE(check_reference(kTiny, kTiny / "absent.safetensors", {}).ok());
}

TEST(ReferenceCheck, JsonSaysWhetherItAgrees) {
  ReferenceReport report;
  EXPECT_THAT(reference_json(report), testing::HasSubstr("\"agrees\":true"));
  report.gradient_error = 1e-3;
  EXPECT_THAT(reference_json(report), testing::HasSubstr("\"agrees\":false"));
}

}  // namespace
}  // namespace plateau::train
