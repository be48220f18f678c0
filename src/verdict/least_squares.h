// SPDX-License-Identifier: Apache-2.0
// Least squares under autoregressive noise, made for thousands of small fits to the same floors.
//
// All shapes share columns, so their inner products are formed once per phi (a Gram matrix over
// those pairs of columns that occur in one fit, whitened for that phi, the constant projected out).
// One-off steps are the same few columns for all shapes, so they are taken out of the others once
// for each choice of steps. What is left of a fit is an L D L^T decomposition of one to three rows:
// some twenty operations.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "verdict/shapes.h"

namespace plateau {

using Row = std::array<double, kMaxFloors>;

// Of a shape beside the constant, and of the steps in it.
inline constexpr size_t kMaxColumns = 3;
inline constexpr size_t kMaxSteps = 2;

// Columns that stand side by side, so that the compiler works on several of them at once.
inline constexpr size_t kSideBySide = 8;
using Beside = std::array<double, kSideBySide>;
struct ColumnBlock {
  std::array<Beside, kMaxFloors> row{};
};

// Inner products of the whitened columns for one phi, with the constant (column 0) projected out of
// all of them: every shape has it, so it is dealt with once. Kept from one phi to the next, for its
// memory.
class Gram {
 public:
  // Requires: both outlive it; `data` is zero beyond the floors.
  Gram(const ShapeList& list, const Row& data, size_t rows);

  // Forms the products for this phi: of each column with itself and the data, of those of one-off
  // steps with all, and of pairs that stand in one shape. Others must not be asked for.
  void form(double phi);

  [[nodiscard]] size_t size() const { return stride_; }
  [[nodiscard]] double at(size_t i, size_t j) const { return product_[i * stride_ + j]; }
  [[nodiscard]] double with_data(size_t i) const { return with_data_[i]; }
  // Before projection, divided by the constant's square.
  [[nodiscard]] double with_constant(size_t i) const { return with_constant_[i]; }
  [[nodiscard]] double data_data() const { return data_data_; }
  [[nodiscard]] double data_constant() const { return data_constant_; }  // Its mean along it.

 private:
  void set(size_t i, size_t j, double product) {
    product_[i * stride_ + j] = product_[j * stride_ + i] = product;
  }
  void project_out_constant(double phi);
  void multiply(const Row& row, double* out) const;  // With all columns.
  [[nodiscard]] Row column(size_t i) const;
  [[nodiscard]] double dot_of(size_t i, size_t j) const;

  const ShapeList& list_;
  const Row& data_;
  size_t rows_;
  size_t stride_;                                   // Columns, filled up to whole blocks.
  std::vector<std::pair<uint8_t, uint8_t>> pairs_;  // Of columns in one shape.
  std::vector<ColumnBlock> values_;                 // As they are,
  std::vector<ColumnBlock> white_;                  // and whitened and projected.
  Row white_data_{};
  std::vector<double> product_;
  std::vector<double> with_data_;
  std::vector<double> with_constant_;
  double data_data_ = 0;
  double data_constant_ = 0;
};

// What one-off steps leave of every column and of the data: a shape with these steps fits the data
// as the shape alone fits what is left.
class Remainder {
 public:
  explicit Remainder(std::vector<uint8_t> steps) : steps_(std::move(steps)) {}

  // Takes the steps out. False if they are (nearly) dependent. Requires: `gram` outlives it.
  bool take_from(const Gram& gram);

  [[nodiscard]] const std::vector<uint8_t>& steps() const { return steps_; }
  [[nodiscard]] double explained() const { return explained_; }  // Of the data's square.
  // Of one column. A square below the least depends on what was taken out.
  struct Left {
    double square = 0;
    double with_data = 0;
    double least_square = 0;
  };
  [[nodiscard]] const Left& of(size_t i) const { return left_[i]; }
  [[nodiscard]] double at(size_t i, size_t j) const {
    double product = gram_->at(i, j);
    for (size_t k = 0; k < steps_.size(); ++k) product -= scaled_[k][i] * lower_[k][j];
    return product;
  }

  // The height of each step, given the coefficients of the shape's columns.
  [[nodiscard]] std::array<double, kMaxSteps> heights(
      const std::array<uint8_t, kMaxColumns>& columns,
      const std::array<double, kMaxColumns>& coefficient, size_t count) const;

 private:
  bool take_out(size_t place);

  std::vector<uint8_t> steps_;  // Columns.
  const Gram* gram_ = nullptr;
  double explained_ = 0;
  std::vector<Left> left_;
  std::array<std::vector<double>, kMaxSteps> scaled_;  // L D and L, by step and column.
  std::array<std::vector<double>, kMaxSteps> lower_;
  std::array<double, kMaxSteps> inverse_{};
  std::array<double, kMaxSteps> projected_{};
};

// Least squares on a few columns: X^T X = L D L^T, without square roots because this runs thousands
// of times a verdict. Their number is known to the compiler, which writes the loops out.
struct Solution {
  std::array<std::array<double, kMaxColumns>, kMaxColumns> lower;
  std::array<double, kMaxColumns> inverse;    // 1 / D
  std::array<double, kMaxColumns> projected;  // L^-1 X^T y
  double explained = 0;

  // False if the columns are (nearly) dependent.
  template <size_t kCount>
  bool solve(const Remainder& data, const std::array<uint8_t, kMaxColumns>& columns) {
    explained = data.explained();
    for (size_t i = 0; i < kCount; ++i) {
      const Remainder::Left& left = data.of(columns[i]);
      double pivot = left.square;
      double z = left.with_data;
      for (size_t j = 0; j < i; ++j) {
        double v = data.at(columns[i], columns[j]);
        for (size_t k = 0; k < j; ++k) v -= scaled_[i][k] * lower[j][k];
        scaled_[i][j] = v;
        lower[i][j] = v * inverse[j];
        pivot -= v * lower[i][j];
        z -= lower[i][j] * projected[j];
      }
      if (pivot < left.least_square) return false;
      inverse[i] = 1 / pivot;
      projected[i] = z;
      explained += z * z * inverse[i];
    }
    return true;
  }

  template <size_t kCount>
  [[nodiscard]] std::array<double, kMaxColumns> coefficients() const {
    std::array<double, kMaxColumns> c{};
    for (size_t i = kCount; i-- > 0;) {
      c[i] = projected[i] * inverse[i];
      for (size_t k = i + 1; k < kCount; ++k) c[i] -= lower[k][i] * c[k];
    }
    return c;
  }

  // Standard error of sum_i direction[i] * coefficient[i], for unit innovation variance.
  template <size_t kCount>
  [[nodiscard]] double spread(const std::array<double, kMaxColumns>& direction) const {
    std::array<double, kMaxColumns> z{};
    double sum = 0;
    for (size_t i = 0; i < kCount; ++i) {
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
