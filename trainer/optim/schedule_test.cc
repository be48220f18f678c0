// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <vector>

#include "trainer/device/adamw.h"
#include "trainer/optim/optimizer.h"

namespace plateau::train {
namespace {

constexpr double kRate = 2e-5;

TEST(Schedule, WarmUpRisesFromZeroInEqualSteps) {
  for (const ScheduleKind kind : {ScheduleKind::linear, ScheduleKind::cosine,
                                  ScheduleKind::constant_with_warmup, ScheduleKind::polynomial}) {
    EXPECT_EQ(schedule_factor(kind, 0, 10, 100, kRate), 0);
    EXPECT_DOUBLE_EQ(schedule_factor(kind, 1, 10, 100, kRate), 0.1);
    EXPECT_DOUBLE_EQ(schedule_factor(kind, 9, 10, 100, kRate), 0.9);
    EXPECT_EQ(schedule_factor(kind, 10, 10, 100, kRate), 1);
  }
}

TEST(Schedule, LinearFallsToZeroAtTheEnd) {
  EXPECT_DOUBLE_EQ(schedule_factor(ScheduleKind::linear, 55, 10, 100, kRate), 0.5);
  EXPECT_DOUBLE_EQ(schedule_factor(ScheduleKind::linear, 99, 10, 100, kRate), 1.0 / 90);
  EXPECT_EQ(schedule_factor(ScheduleKind::linear, 100, 10, 100, kRate), 0);
  EXPECT_EQ(schedule_factor(ScheduleKind::linear, 140, 10, 100, kRate), 0);
}

TEST(Schedule, CosineIsHalfAWave) {
  EXPECT_DOUBLE_EQ(schedule_factor(ScheduleKind::cosine, 55, 10, 100, kRate), 0.5);
  // A third and two thirds of the way: cos(60) = 0.5, cos(120) = -0.5.
  EXPECT_NEAR(schedule_factor(ScheduleKind::cosine, 40, 10, 100, kRate), 0.75, 1e-15);
  EXPECT_NEAR(schedule_factor(ScheduleKind::cosine, 70, 10, 100, kRate), 0.25, 1e-15);
  EXPECT_EQ(schedule_factor(ScheduleKind::cosine, 100, 10, 100, kRate), 0);
  EXPECT_EQ(schedule_factor(ScheduleKind::cosine, 130, 10, 100, kRate), 0);
}

TEST(Schedule, PolynomialFallsToASmallRateAndStaysThere) {
  const auto factor = [](int64_t step, double rate) {
    return schedule_factor(ScheduleKind::polynomial, step, 10, 100, rate);
  };
  EXPECT_NEAR(factor(55, 1e-5), 0.505, 1e-12);  // Half way from 1 to 0.01.
  EXPECT_NEAR(factor(100, 1e-5), 0.01, 1e-12);
  EXPECT_NEAR(factor(170, 1e-5), 0.01, 1e-12);
  EXPECT_EQ(factor(100, 1e-9), 1);
}

TEST(Schedule, ConstantKnowsNoWarmUp) {
  EXPECT_EQ(schedule_factor(ScheduleKind::constant, 0, 10, 100, kRate), 1);
  EXPECT_EQ(schedule_factor(ScheduleKind::constant, 99, 10, 100, kRate), 1);
  EXPECT_EQ(schedule_factor(ScheduleKind::constant_with_warmup, 99, 10, 100, kRate), 1);
}

RC_GTEST_PROP(Schedule, StaysBetweenZeroAndOneForAnyNumbers, ()) {
  const auto kind = static_cast<ScheduleKind>(*rc::gen::inRange(0, 5));
  const int64_t step = *rc::gen::inRange<int64_t>(0, 500);
  const int64_t warmup = *rc::gen::inRange<int64_t>(0, 200);
  const int64_t total = *rc::gen::inRange<int64_t>(0, 400);
  const double factor = schedule_factor(kind, step, warmup, total, kRate);
  RC_ASSERT(factor >= 0 && factor <= 1);
}

// The formula in double, one weight.
struct InDouble {
  double weight = 0, m = 0, v = 0;
  void step(double gradient, const Adam8Step& s) {
    weight *= 1 - s.learning_rate * s.weight_decay;
    m = s.beta1 * m + (1 - s.beta1) * gradient;
    v = s.beta2 * v + (1 - s.beta2) * gradient * gradient;
    const auto t = static_cast<double>(s.step);
    const double m_hat = m / (1 - std::pow(s.beta1, t));
    const double v_hat = v / (1 - std::pow(s.beta2, t));
    weight -= s.learning_rate * m_hat / (std::sqrt(v_hat) + s.epsilon);
  }
};

TEST(AdamW, FollowsTheFormulaOverManySteps) {
  std::vector<float> weight{0.5F}, m{0}, v{0};
  InDouble exact{.weight = 0.5};
  for (int64_t t = 1; t <= 200; ++t) {
    const Adam8Step settings{.learning_rate = 1e-2, .weight_decay = 0.1, .step = t};
    const std::vector<float> gradient{static_cast<float>(std::sin(static_cast<double>(t)))};
    adamw_step(weight, gradient, m, v, settings);
    exact.step(gradient[0], settings);
    ASSERT_NEAR(weight[0], exact.weight, 1e-5) << t;
  }
  EXPECT_NEAR(m[0], exact.m, 1e-6);
  EXPECT_NEAR(v[0], exact.v, 1e-6);
}

TEST(AdamW, FirstStepMovesByTheLearningRateWhateverTheGradient) {
  for (const float gradient : {1e-3F, 1.0F, 1e3F}) {
    std::vector<float> weight{1}, m{0}, v{0};
    adamw_step(weight, std::vector<float>{gradient}, m, v, {.learning_rate = 0.25, .step = 1});
    EXPECT_NEAR(weight[0], 0.75F, 1e-5F) << gradient;
  }
}

TEST(AdamW, GradientThatIsNotFiniteTouchesOnlyItsOwnState) {
  std::vector<float> weights{1, 2, 3}, m{0.1F, 0.1F, 0.1F}, v{0.1F, 0.1F, 0.1F};
  const std::vector<float> gradients{std::nanf(""), 1, HUGE_VALF};
  adamw_step(weights, gradients, m, v, {.learning_rate = 0.1, .weight_decay = 0.5, .step = 3});
  EXPECT_EQ(weights[0], 1);
  EXPECT_LT(weights[1], 2);
  EXPECT_EQ(weights[2], 3);
  EXPECT_EQ(m[0], 0);
  EXPECT_EQ(v[0], 0);
  EXPECT_EQ(m[2], 0);
  EXPECT_EQ(v[2], 0);
  EXPECT_GT(m[1], 0.1F);
}

RC_GTEST_PROP(SumOfSquares, EqualsThePlainSum, (std::vector<int16_t> values)) {
  // Small integers: their squares add up without rounding, in any order.
  std::vector<float> floats(values.begin(), values.end());
  double sum = 0;
  for (const int16_t value : values) sum += static_cast<double>(value) * value;
  RC_ASSERT(sum_of_squares(floats) == sum);
}

}  // namespace
}  // namespace plateau::train
