// SPDX-License-Identifier: Apache-2.0
#include "verdict/least_squares.h"

namespace plateau {
namespace {

Row whiten(const Row& values, size_t rows, double phi) {
  Row white{};
  white[0] = std::sqrt(1 - phi * phi) * values[0];
  for (size_t i = 1; i < rows; ++i) white[i] = values[i] - phi * values[i - 1];
  return white;
}

// Rows beyond the floors are zero; a fixed length lets the compiler unroll.
double dot(const Row& a, const Row& b) {
  double sum = 0;
  for (size_t i = 0; i < kMaxFloors; ++i) sum += a[i] * b[i];
  return sum;
}

}  // namespace

Gram make_gram(const std::vector<Column>& columns, const Row& data, size_t rows, double phi) {
  std::vector<Row> white;
  white.reserve(columns.size());
  for (const Column& column : columns) white.push_back(whiten(column.value, rows, phi));
  Row white_data = whiten(data, rows, phi);
  Gram gram;
  gram.size = columns.size();
  gram.product.resize(gram.size * gram.size);
  gram.with_data.resize(gram.size);
  gram.with_constant.resize(gram.size);
  const Row constant = white[0];
  const double square = dot(constant, constant);
  const auto project = [&](Row& row) {
    const double along = dot(row, constant) / square;
    for (size_t i = 0; i < rows; ++i) row[i] -= along * constant[i];
    return along;
  };
  for (size_t i = 0; i < gram.size; ++i) gram.with_constant[i] = project(white[i]);
  gram.data_constant = project(white_data);
  gram.data_data = dot(white_data, white_data);
  for (size_t i = 0; i < gram.size; ++i) {
    gram.with_data[i] = dot(white[i], white_data);
    for (size_t j = 0; j <= i; ++j) {
      gram.product[i * gram.size + j] = gram.product[j * gram.size + i] = dot(white[i], white[j]);
    }
  }
  return gram;
}

}  // namespace plateau
