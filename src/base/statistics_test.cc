// SPDX-License-Identifier: Apache-2.0
#include "base/statistics.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>

namespace plateau {
namespace {

TEST(NormalDistribution, IntervalsHoldWhatTheyPromise) {
  EXPECT_NEAR(normal_cdf(0), 0.5, 1e-15);
  EXPECT_NEAR(normal_cdf(kZ90) - normal_cdf(-kZ90), 0.90, 1e-12);
  EXPECT_NEAR(normal_cdf(kZ99) - normal_cdf(-kZ99), 0.99, 1e-12);
  EXPECT_GT(normal_cdf(-37), 0.0);
}

// P(T <= t) by Simpson's rule over the density, as a check that owes nothing to a table.
double student_cdf(double t, double freedom) {
  const double scale = std::exp(std::lgamma((freedom + 1) / 2) - std::lgamma(freedom / 2)) /
                       std::sqrt(freedom * M_PI);
  const auto density = [&](double x) {
    return scale * std::pow(1 + x * x / freedom, -(freedom + 1) / 2);
  };
  constexpr int kParts = 20000;
  const double width = t / kParts;
  double sum = density(0) + density(t);
  for (int i = 1; i < kParts; ++i) sum += (i % 2 == 1 ? 4 : 2) * density(i * width);
  return 0.5 + sum * width / 3;
}

double student_quantile(double share, double freedom) {
  double low = 0, high = 100;
  for (int i = 0; i < 50; ++i) {
    const double middle = (low + high) / 2;
    (student_cdf(middle, freedom) < share ? low : high) = middle;
  }
  return low;
}

TEST(StudentT, NinetyPerCentIsWithinTwoPerCentOfTheDistribution) {
  for (const size_t freedom : {1, 2, 3, 4, 5, 6, 8, 12, 30, 200}) {
    const double t = student_quantile(0.95, static_cast<double>(freedom));
    EXPECT_NEAR(student_t90(freedom) / t, 1, 0.02) << freedom;
  }
  EXPECT_EQ(student_t90(0), student_t90(1));
}

TEST(StudentT, NinetyNinePerCentIsWithinTwoPerCentOfTheDistribution) {
  for (const double freedom : {1.0, 2.0, 2.2, 3.5, 4.5, 9.0, 12.0, 20.0, 45.0, 500.0}) {
    EXPECT_NEAR(student_t99(freedom) / student_quantile(0.995, freedom), 1, 0.02) << freedom;
  }
  EXPECT_EQ(student_t99(0.2), student_t99(1));
  EXPECT_EQ(student_t99(std::nan("")), student_t99(1));
  EXPECT_EQ(student_t99(1e12), 2.576);
}

TEST(Quantile, InterpolatesBetweenNeighbours) {
  EXPECT_EQ(interpolated_quantile({4, 1, 3, 2}, 0.5), 2.5);
  EXPECT_EQ(interpolated_quantile({4, 1, 3, 2}, 0), 1);
  EXPECT_EQ(interpolated_quantile({4, 1, 3, 2}, 1), 4);
  EXPECT_EQ(interpolated_quantile({7}, 0.3), 7);
}

TEST(UpperMedian, IsTheUpperOfTwoMiddles) {
  std::vector<double> even = {4, 1, 3, 2};
  std::vector<double> odd = {9, 1, 5};
  EXPECT_EQ(upper_median(even), 3);
  EXPECT_EQ(upper_median(odd), 5);
  EXPECT_EQ(upper_median({}), 0);
}

TEST(WeightedQuantile, CountsWeightNotValues) {
  const std::vector<WeightedValue> values = {{30, 1}, {10, 8}, {20, 1}};
  EXPECT_EQ(weighted_quantile(values, 0.5), 10);
  EXPECT_EQ(weighted_quantile(values, 0.9), 20);
  EXPECT_EQ(weighted_quantile(values, 0.95), 30);
  EXPECT_EQ(weighted_quantile({}, 0.5), 0);
}

TEST(Moments, VarianceOfOneValueIsZero) {
  EXPECT_EQ(moments_of(std::vector<double>{5}).variance, 0);
  EXPECT_EQ(moments_of({}).mean, 0);
  const Moments moments = moments_of(std::vector<double>{1, 2, 3, 4});
  EXPECT_DOUBLE_EQ(moments.mean, 2.5);
  EXPECT_DOUBLE_EQ(moments.variance, 5.0 / 3);
}

TEST(LagOne, TellsClingingFromAlternatingAndConstant) {
  EXPECT_GT(lag_one(std::vector<double>{1, 1, 1, -1, -1, -1}, 0), 0.4);
  EXPECT_LT(lag_one(std::vector<double>{1, -1, 1, -1, 1, -1}, 0), -0.8);
  EXPECT_EQ(lag_one(std::vector<double>{3, 3, 3}, 3), 0);
}

struct Fitted {
  Line line;
  std::vector<double> residuals;
};

Fitted fitted(const std::vector<double>& x, const std::vector<double>& y) {
  Fitted out;
  out.line = fit_line(x.size(), [&](size_t i) { return x[i]; }, [&](size_t i) { return y[i]; });
  for (size_t i = 0; i < x.size(); ++i) out.residuals.push_back(out.line.residual(x[i], y[i]));
  return out;
}

// Anscombe's first set: slope 0.5001, standard error 0.1179, residual squares 13.763.
TEST(FitLine, AgreesWithAPublishedExample) {
  const Fitted fit = fitted({10, 8, 13, 9, 11, 14, 6, 4, 12, 7, 5},
                            {8.04, 6.95, 7.58, 8.81, 8.33, 9.96, 7.24, 4.26, 10.84, 4.82, 5.68});

  EXPECT_NEAR(fit.line.slope, 0.50009, 1e-5);
  EXPECT_NEAR(fit.line.squares_left(), 13.76269, 1e-5);
  EXPECT_NEAR(slope_error(fit.line, fit.residuals), 0.11791, 1e-5);
}

TEST(FitLine, PointsAboveEachOtherHaveNoSlope) {
  const Fitted fit = fitted({2, 2, 2}, {1, 5, 9});
  EXPECT_EQ(fit.line.slope, 0);
  EXPECT_EQ(fit.line.squares_left(), 32);
}

TEST(SlopeError, NeighboursThatErrTogetherWidenIt) {
  const Fitted mixed = fitted({0, 1, 2, 3, 4, 5, 6, 7}, {1, 0, 3, 2, 5, 4, 7, 6});
  const Fitted cling = fitted({0, 1, 2, 3, 4, 5, 6, 7}, {1, 2, 2, 2, 3, 4, 6, 8});
  const auto independent = [](const Fitted& fit) {
    return std::sqrt(fit.line.squares_left() / 6 / fit.line.sxx);
  };

  EXPECT_NEAR(slope_error(mixed.line, mixed.residuals), independent(mixed), 1e-12);
  EXPECT_GT(slope_error(cling.line, cling.residuals), 1.2 * independent(cling));
}

std::vector<double> opened(const std::vector<double>& values, size_t window) {
  std::vector<double> out;
  for (size_t i = 0; i < values.size(); ++i) {
    out.push_back(opened_at(values.size(), [&](size_t k) { return values[k]; }, i, window));
  }
  return out;
}

TEST(Opening, ShortSpikeVanishesAndAPlateauStays) {
  EXPECT_EQ(opened({1, 1, 9, 9, 1, 1}, 3), (std::vector<double>{1, 1, 1, 1, 1, 1}));
  EXPECT_EQ(opened({1, 1, 9, 9, 9, 1}, 3), (std::vector<double>{1, 1, 9, 9, 9, 1}));
  EXPECT_EQ(opened({1, 2, 3, 4}, 3), (std::vector<double>{1, 2, 2, 2}));
  EXPECT_EQ(opened({5, 4}, 3), (std::vector<double>{4, 4}));
}

RC_GTEST_PROP(Opening, NeverExceedsTheValueAndIsItsOwnOpening, ()) {
  const auto values = *rc::gen::container<std::vector<double>>(
      rc::gen::map(rc::gen::inRange(0, 50), [](int v) { return static_cast<double>(v); }));
  const auto window = *rc::gen::inRange<size_t>(1, 6);
  const std::vector<double> once = opened(values, window);
  for (size_t i = 0; i < values.size(); ++i) RC_ASSERT(once[i] <= values[i]);
  RC_ASSERT(opened(once, window) == once);
}

}  // namespace
}  // namespace plateau
