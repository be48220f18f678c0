// SPDX-License-Identifier: Apache-2.0
#include "base/statistics.h"

#include <array>

namespace plateau {
namespace {

// Beyond this the correlation of a few residuals cannot be told from a random walk.
constexpr double kMostCorrelated = 0.95;

}  // namespace

double student_t90(size_t freedom) {
  constexpr std::array<double, 6> kFew = {6.314, 6.314, 2.920, 2.353, 2.132, 2.015};
  if (freedom < kFew.size()) return kFew[freedom];
  return 1.645 + 1.6 / static_cast<double>(freedom);
}

double student_t99(double freedom) {
  struct Row {
    double freedom;
    double t;
  };
  // Linear in 1 / freedom between these.
  constexpr std::array<Row, 15> kTable = {{{1, 63.657},
                                           {1.5, 17.820},
                                           {2, 9.925},
                                           {2.5, 7.164},
                                           {3, 5.841},
                                           {4, 4.604},
                                           {5, 4.032},
                                           {6, 3.707},
                                           {7, 3.499},
                                           {8, 3.355},
                                           {10, 3.169},
                                           {15, 2.947},
                                           {30, 2.750},
                                           {60, 2.660},
                                           {1e9, 2.576}}};
  if (!(freedom > 1)) return kTable.front().t;
  for (size_t i = 1; i < kTable.size(); ++i) {
    if (freedom > kTable[i].freedom) continue;
    const double along =
        (1 / freedom - 1 / kTable[i].freedom) / (1 / kTable[i - 1].freedom - 1 / kTable[i].freedom);
    return kTable[i].t + along * (kTable[i - 1].t - kTable[i].t);
  }
  return kTable.back().t;
}

double interpolated_quantile(std::vector<double> values, double share) {
  std::sort(values.begin(), values.end());
  const double place = share * static_cast<double>(values.size() - 1);
  const auto below = static_cast<size_t>(place);
  const size_t above = std::min(below + 1, values.size() - 1);
  return values[below] + (place - static_cast<double>(below)) * (values[above] - values[below]);
}

double upper_median(std::span<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

void sort_by_value(std::vector<WeightedValue>& values) {
  std::sort(values.begin(), values.end(),
            [](const WeightedValue& a, const WeightedValue& b) { return a.value < b.value; });
}

double sorted_quantile(std::span<const WeightedValue> values, double share) {
  double total = 0;
  for (const WeightedValue& v : values) total += v.weight;
  double sum = 0;
  for (const WeightedValue& v : values) {
    sum += v.weight;
    if (sum >= share * total) return v.value;
  }
  return values.empty() ? 0 : values.back().value;
}

double weighted_quantile(std::vector<WeightedValue> values, double share) {
  sort_by_value(values);
  return sorted_quantile(values, share);
}

Moments moments_of(std::span<const double> values) {
  Moments moments;
  const auto n = static_cast<double>(values.size());
  for (const double v : values) moments.mean += v / n;
  for (const double v : values) moments.variance += (v - moments.mean) * (v - moments.mean);
  moments.variance = values.size() > 1 ? moments.variance / (n - 1) : 0;
  return moments;
}

double lag_one(std::span<const double> values, double mean) {
  double together = 0, alone = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    alone += (values[i] - mean) * (values[i] - mean);
    if (i > 0) together += (values[i] - mean) * (values[i - 1] - mean);
  }
  return alone > 0 ? together / alone : 0;
}

double slope_error(const Line& line, std::span<const double> residuals) {
  double squares = 0;
  for (const double e : residuals) squares += e * e;
  const double phi = std::clamp(lag_one(residuals, 0), 0.0, kMostCorrelated);
  const double n = static_cast<double>(line.count);
  return std::sqrt(squares / (n - 2) / line.sxx * (1 + phi) / (1 - phi));
}

}  // namespace plateau
