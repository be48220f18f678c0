// SPDX-License-Identifier: Apache-2.0
// Least squares under autoregressive noise, made for thousands of small fits to the same floors.
//
// All shapes share columns, so their inner products are formed once per phi (a Gram matrix over all
// columns, whitened for that phi, the constant projected out), and a fit is then a small L D L^T
// decomposition of a few of its rows: about a hundred operations.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include "verdict/shapes.h"

namespace plateau {

using Row = std::array<double, kMaxFloors>;

// Three of a shape beside the constant, and two steps.
inline constexpr size_t kMaxColumns = 5;

// Inner products of the whitened columns for one phi, with the constant (column 0) projected out of
// all of them: every shape has it, so it is dealt with once.
struct Gram {
  size_t size = 0;
  std::vector<double> product;        // size x size, after projection
  std::vector<double> with_data;      // after projection
  std::vector<double> with_constant;  // before projection, divided by the constant's square
  double data_data = 0;               // after projection
  double data_constant = 0;           // the data's mean along the constant

  [[nodiscard]] double at(size_t i, size_t j) const { return product[i * size + j]; }
};

// `rows` is the number of floors; `data` is zero beyond them.
Gram make_gram(const std::vector<Column>& columns, const Row& data, size_t rows, double phi);

// Least squares on a few projected columns: X^T X = L D L^T, without square roots because this runs
// thousands of times a verdict.
struct Solution {
  std::array<std::array<double, kMaxColumns>, kMaxColumns> lower;
  std::array<double, kMaxColumns> inverse;    // 1 / D
  std::array<double, kMaxColumns> projected;  // L^-1 X^T y
  double explained = 0;

  // False if the columns are (nearly) dependent.
  bool solve(const Gram& gram, const std::array<uint8_t, kMaxColumns>& columns, size_t count) {
    explained = 0;
    for (size_t i = 0; i < count; ++i) {
      double pivot = gram.at(columns[i], columns[i]);
      const double least = 1e-7 * pivot + 1e-14;
      double z = gram.with_data[columns[i]];
      for (size_t j = 0; j < i; ++j) {
        double v = gram.at(columns[i], columns[j]);
        for (size_t k = 0; k < j; ++k) v -= scaled_[i][k] * lower[j][k];
        scaled_[i][j] = v;
        lower[i][j] = v * inverse[j];
        pivot -= v * lower[i][j];
        z -= lower[i][j] * projected[j];
      }
      if (pivot < least) return false;
      inverse[i] = 1 / pivot;
      projected[i] = z;
      explained += z * z * inverse[i];
    }
    return true;
  }

  [[nodiscard]] std::array<double, kMaxColumns> coefficients(size_t count) const {
    std::array<double, kMaxColumns> c{};
    for (size_t i = count; i-- > 0;) {
      c[i] = projected[i] * inverse[i];
      for (size_t k = i + 1; k < count; ++k) c[i] -= lower[k][i] * c[k];
    }
    return c;
  }

  // Standard error of sum_i direction[i] * coefficient[i], for unit innovation variance.
  [[nodiscard]] double spread(const std::array<double, kMaxColumns>& direction,
                              size_t count) const {
    std::array<double, kMaxColumns> z{};
    double sum = 0;
    for (size_t i = 0; i < count; ++i) {
      z[i] = direction[i];
      for (size_t k = 0; k < i; ++k) z[i] -= lower[i][k] * z[k];
      sum += z[i] * z[i] * inverse[i];
    }
    return std::sqrt(sum);
  }

 private:
  std::array<std::array<double, kMaxColumns>, kMaxColumns> scaled_;  // L D, while solving
};

}  // namespace plateau
