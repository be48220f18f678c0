// SPDX-License-Identifier: Apache-2.0
#include "verdict/least_squares.h"

#include <algorithm>

namespace plateau {
namespace {

// Rows beyond the floors are zero; a fixed length lets the compiler unroll.
double dot(const Row& a, const Row& b) {
  double sum = 0;
  for (size_t i = 0; i < kMaxFloors; ++i) sum += a[i] * b[i];
  return sum;
}

double first_weight(double phi) {
  return std::sqrt(1 - phi * phi);
}

Row whiten(const Row& values, size_t rows, double phi) {
  Row white{};
  white[0] = first_weight(phi) * values[0];
  for (size_t i = 1; i < rows; ++i) white[i] = values[i] - phi * values[i - 1];
  return white;
}

void whiten(const ColumnBlock& values, size_t rows, double phi, ColumnBlock& white) {
  const double first = first_weight(phi);
  for (size_t k = 0; k < kSideBySide; ++k) white.row[0][k] = first * values.row[0][k];
  for (size_t i = 1; i < rows; ++i) {
    for (size_t k = 0; k < kSideBySide; ++k) {
      white.row[i][k] = values.row[i][k] - phi * values.row[i - 1][k];
    }
  }
}

// One row with each column of a block, summed up in the order in which dot() does it.
Beside products(const Row& row, const ColumnBlock& block) {
  Beside sum{};
  for (size_t i = 0; i < kMaxFloors; ++i) {
    for (size_t k = 0; k < kSideBySide; ++k) sum[k] += row[i] * block.row[i][k];
  }
  return sum;
}

Beside squares(const ColumnBlock& block) {
  Beside sum{};
  for (size_t i = 0; i < kMaxFloors; ++i) {
    for (size_t k = 0; k < kSideBySide; ++k) sum[k] += block.row[i][k] * block.row[i][k];
  }
  return sum;
}

}  // namespace

Gram::Gram(const ShapeList& list, const Row& data, size_t rows)
    : list_(list), data_(data), rows_(rows) {
  const size_t blocks = (list.columns.size() + kSideBySide - 1) / kSideBySide;
  stride_ = blocks * kSideBySide;
  values_.resize(blocks);
  white_.resize(blocks);
  for (size_t c = 0; c < list.columns.size(); ++c) {
    ColumnBlock& block = values_[c / kSideBySide];
    for (size_t i = 0; i < rows; ++i) block.row[i][c % kSideBySide] = list.columns[c].value[i];
  }
  for (const Shape& shape : list.shapes) {
    for (size_t i = 1; i < shape.column_count; ++i) {
      for (size_t j = 1; j < i; ++j) pairs_.emplace_back(shape.columns[i], shape.columns[j]);
    }
  }
  product_.resize(stride_ * stride_);
  with_data_.resize(stride_);
  with_constant_.resize(stride_);
}

void Gram::form(double phi) {
  project_out_constant(phi);
  multiply(white_data_, with_data_.data());
  for (const uint8_t step : list_.step_columns) {
    multiply(column(step), product_.data() + step * stride_);
    for (size_t j = 0; j < stride_; ++j) set(j, step, at(step, j));
  }
  for (size_t b = 0; b < white_.size(); ++b) {
    const Beside square = squares(white_[b]);
    for (size_t k = 0; k < kSideBySide; ++k) {
      set(b * kSideBySide + k, b * kSideBySide + k, square[k]);
    }
  }
  for (const auto& [i, j] : pairs_) set(i, j, dot_of(i, j));
}

void Gram::project_out_constant(double phi) {
  white_data_ = whiten(data_, rows_, phi);
  for (size_t b = 0; b < white_.size(); ++b) whiten(values_[b], rows_, phi, white_[b]);
  const Row constant = column(0);
  const double square = dot(constant, constant);
  for (size_t b = 0; b < white_.size(); ++b) {
    Beside along = products(constant, white_[b]);
    for (double& each : along) each /= square;
    for (size_t i = 0; i < rows_; ++i) {
      for (size_t k = 0; k < kSideBySide; ++k) white_[b].row[i][k] -= along[k] * constant[i];
    }
    std::copy(along.begin(), along.end(),
              with_constant_.begin() + static_cast<std::ptrdiff_t>(b * kSideBySide));
  }
  data_constant_ = dot(white_data_, constant) / square;
  for (size_t i = 0; i < rows_; ++i) white_data_[i] -= data_constant_ * constant[i];
  data_data_ = dot(white_data_, white_data_);
}

void Gram::multiply(const Row& row, double* out) const {
  for (const ColumnBlock& block : white_) {
    const Beside sum = products(row, block);
    out = std::copy(sum.begin(), sum.end(), out);
  }
}

Row Gram::column(size_t i) const {
  Row values{};
  for (size_t r = 0; r < rows_; ++r) values[r] = white_[i / kSideBySide].row[r][i % kSideBySide];
  return values;
}

double Gram::dot_of(size_t i, size_t j) const {
  const ColumnBlock& of_i = white_[i / kSideBySide];
  const ColumnBlock& of_j = white_[j / kSideBySide];
  double sum = 0;
  for (size_t r = 0; r < kMaxFloors; ++r) {
    sum += of_i.row[r][i % kSideBySide] * of_j.row[r][j % kSideBySide];
  }
  return sum;
}

bool Remainder::take_from(const Gram& gram) {
  gram_ = &gram;
  explained_ = 0;
  left_.resize(gram.size());
  for (size_t i = 0; i < gram.size(); ++i) {
    const double square = gram.at(i, i);
    left_[i] = {square, gram.with_data(i), 1e-7 * square + 1e-14};
  }
  for (size_t place = 0; place < steps_.size(); ++place) {
    if (!take_out(place)) return false;
  }
  return true;
}

bool Remainder::take_out(size_t place) {
  const size_t step = steps_[place];
  if (left_[step].square < left_[step].least_square) return false;
  std::vector<double>& scaled = scaled_[place];
  std::vector<double>& lower = lower_[place];
  scaled.resize(gram_->size());
  lower.resize(gram_->size());
  const double inverse = inverse_[place] = 1 / left_[step].square;
  const double projected = projected_[place] = left_[step].with_data;
  explained_ += projected * projected * inverse;
  for (size_t i = 0; i < gram_->size(); ++i) scaled[i] = gram_->at(step, i);
  for (size_t k = 0; k < place; ++k) {
    for (size_t i = 0; i < gram_->size(); ++i) scaled[i] -= scaled_[k][i] * lower_[k][step];
  }
  for (size_t i = 0; i < gram_->size(); ++i) {
    lower[i] = scaled[i] * inverse;
    left_[i].square -= scaled[i] * lower[i];
    left_[i].with_data -= lower[i] * projected;
  }
  return true;
}

std::array<double, kMaxSteps> Remainder::heights(const std::array<uint8_t, kMaxColumns>& columns,
                                                 const std::array<double, kMaxColumns>& coefficient,
                                                 size_t count) const {
  std::array<double, kMaxSteps> height{};
  for (size_t s = steps_.size(); s-- > 0;) {
    height[s] = projected_[s] * inverse_[s];
    for (size_t k = s + 1; k < steps_.size(); ++k) height[s] -= lower_[s][steps_[k]] * height[k];
    for (size_t i = 0; i < count; ++i) height[s] -= lower_[s][columns[i]] * coefficient[i];
  }
  return height;
}

}  // namespace plateau
