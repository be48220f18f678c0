// SPDX-License-Identifier: Apache-2.0
#include "verdict/least_squares.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "verdict/test_runs.h"

namespace plateau {
namespace {

constexpr size_t kRows = 20;

// A constant, two curves and two steps, with some wander, and data that is made of all of them.
struct Example {
  Example() {
    Noise noise(7);
    const auto add = [&](auto curve) {
      Column column;
      for (size_t i = 0; i < kRows; ++i) column.value[i] = curve(static_cast<double>(i));
      list.columns.push_back(column);
    };
    add([](double) { return 1.0; });
    add([&](double t) { return t / kRows + 0.1 * noise(); });
    add([&](double t) { return t * t / kRows / kRows + 0.1 * noise(); });
    add([](double t) { return t >= 6 ? 1.0 : 0.0; });
    add([](double t) { return t >= 13 ? 1.0 : 0.0; });
    list.shapes.push_back(shape_of(1, {0, 1, 2}, 2));
    list.step_columns = {3, 4};
    for (size_t i = 0; i < kRows; ++i) {
      const auto value = [&](size_t c) { return list.columns[c].value[i]; };
      data[i] = 5 + 3 * value(1) - 2 * value(2) + 4 * value(3) - 7 * value(4) + noise();
    }
  }
  ShapeList list;
  Row data{};
};

// The squares that the best fit of these columns leaves, found by walking downhill from nothing.
double squares_left(const Example& example, std::vector<size_t> columns, double phi) {
  columns.push_back(0);
  std::vector<double> coefficient(columns.size(), 0);
  const auto whitened = [phi](auto value, size_t i) {
    return i == 0 ? std::sqrt(1 - phi * phi) * value(0) : value(i) - phi * value(i - 1);
  };
  const auto residual = [&](size_t i) {
    double sum = example.data[i];
    for (size_t c = 0; c < columns.size(); ++c) {
      sum -= coefficient[c] * example.list.columns[columns[c]].value[i];
    }
    return sum;
  };
  for (int round = 0; round < 20000; ++round) {
    for (size_t c = 0; c < columns.size(); ++c) {
      double along = 0, square = 0;
      for (size_t i = 0; i < kRows; ++i) {
        const auto value = [&](size_t k) { return example.list.columns[columns[c]].value[k]; };
        const double x = whitened(value, i);
        along += x * whitened(residual, i), square += x * x;
      }
      coefficient[c] += along / square;
    }
  }
  double left = 0;
  for (size_t i = 0; i < kRows; ++i) left += std::pow(whitened(residual, i), 2);
  return left;
}

TEST(LeastSquares, AFitWithStepsTakenOutFirstIsTheFitOfAllColumns) {
  const Example example;
  Gram gram(example.list, example.data, kRows);
  for (const double phi : {0.0, 0.7, 0.98}) {
    gram.form(phi);
    for (const std::vector<uint8_t>& steps :
         {std::vector<uint8_t>{}, std::vector<uint8_t>{4}, std::vector<uint8_t>{3, 4}}) {
      Remainder remainder(steps);
      ASSERT_TRUE(remainder.take_from(gram));
      Solution solution;
      ASSERT_TRUE(solution.solve<2>(remainder, {1, 2}));
      std::vector<size_t> columns = {1, 2};
      columns.insert(columns.end(), steps.begin(), steps.end());
      const double left = squares_left(example, columns, phi);
      EXPECT_NEAR(gram.data_data() - solution.explained, left, 1e-6 * left);
    }
  }
}

TEST(LeastSquares, HeightsOfStepsAreThoseTheDataIsMadeOf) {
  Example example;
  for (size_t i = 0; i < kRows; ++i) {
    example.data[i] = 4 * example.list.columns[3].value[i] - 7 * example.list.columns[4].value[i] +
                      2 * example.list.columns[1].value[i];
  }
  Gram gram(example.list, example.data, kRows);
  gram.form(0.4);
  Remainder remainder({3, 4});
  ASSERT_TRUE(remainder.take_from(gram));
  Solution solution;
  ASSERT_TRUE(solution.solve<1>(remainder, {1}));
  const auto coefficient = solution.coefficients<1>();
  EXPECT_NEAR(coefficient[0], 2, 1e-9);
  const auto heights = remainder.heights({1}, coefficient, 1);
  EXPECT_NEAR(heights[0], 4, 1e-9);
  EXPECT_NEAR(heights[1], -7, 1e-9);
}

TEST(LeastSquares, ColumnsThatDependOnAStepAreRefused) {
  Example example;
  example.list.columns[1] = example.list.columns[3];
  Gram gram(example.list, example.data, kRows);
  gram.form(0.7);
  Remainder remainder({3});
  ASSERT_TRUE(remainder.take_from(gram));
  Solution solution;
  EXPECT_FALSE(solution.solve<1>(remainder, {1}));
  Remainder twice({3, 3});
  EXPECT_FALSE(twice.take_from(gram));
}

}  // namespace
}  // namespace plateau
