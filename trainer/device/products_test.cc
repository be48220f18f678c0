// SPDX-License-Identifier: Apache-2.0
// Products made of tiles, against the same in double.
#include "trainer/device/products.h"

#include <ATen/Parallel.h>
#include <gtest/gtest.h>
#include <malloc.h>

namespace plateau::train {
namespace {

// Rows, sums, columns: whole tiles, edges of every power of two, one row, a rank, one column.
struct Sizes {
  int64_t rows, inner, columns;
};
constexpr Sizes kSizes[] = {{256, 512, 128}, {333, 514, 191}, {1, 600, 77}, {200, 16, 300},
                            {300, 700, 16},  {127, 1030, 1},  {2, 2, 2}};

at::Tensor drawn(int64_t rows, int64_t columns, at::ScalarType type, bool transposed) {
  const at::Tensor out =
      (transposed ? at::randn({columns, rows}).t() : at::randn({rows, columns})).to(type);
  return out;
}

// Of a number in bf16 the last bit is 1/256; sums in fp32 lose a little more with each value.
double allowed(at::ScalarType type, int64_t inner, double largest) {
  return largest * (type == at::kBFloat16 ? 1.0 / 256 : 1e-7 * static_cast<double>(inner));
}

void expect_close(const at::Tensor& got, const at::Tensor& right, int64_t inner) {
  const double largest = right.abs().max().item<double>();
  EXPECT_LE((got.to(at::kDouble) - right).abs().max().item<double>(),
            allowed(got.scalar_type(), inner, largest));
}

at::Tensor exact(const at::Tensor& a, const at::Tensor& b) {
  return at::mm(a.to(at::kDouble), b.to(at::kDouble));
}

class Products : public ::testing::TestWithParam<at::ScalarType> {
 protected:
  void SetUp() override {
    if (!matrix_products_have_tiles(GetParam()))
      GTEST_SKIP() << "this processor has no use for tiles";
    at::manual_seed(5);
  }
};

TEST_P(Products, OfTilesAreThoseOfDoublesForEverySizeAndLayout) {
  for (const Sizes& size : kSizes) {
    for (const int layout : {0, 1, 2, 3}) {
      const at::Tensor a = drawn(size.rows, size.inner, GetParam(), (layout & 1) != 0);
      const at::Tensor b = drawn(size.inner, size.columns, GetParam(), (layout & 2) != 0);
      SCOPED_TRACE(testing::Message() << size.rows << " x " << size.inner << " x " << size.columns
                                      << ", layout " << layout);
      const at::Tensor out = at::empty({size.rows, size.columns}, a.options());
      matrix_product_in_tiles(out, a, b, Onto::nothing, {});
      expect_close(out, exact(a, b), size.inner);
      expect_close(matrix_product(a, b), exact(a, b), size.inner);
    }
  }
}

TEST_P(Products, AddABiasOrToWhatIsThereIntoPartsOfLongerRows) {
  const at::Tensor a = drawn(190, 520, GetParam(), false);
  const at::Tensor b = drawn(520, 100, GetParam(), true);
  const at::Tensor bias = at::randn({100}).to(GetParam());
  const at::Tensor wide = at::full({190, 140}, 7, a.options());
  const at::Tensor part = wide.narrow(1, 20, 100);
  matrix_product_into(part, a, b, bias);
  expect_close(part, exact(a, b) + bias.to(at::kDouble), 520);
  const at::Tensor before = part.clone();
  add_matrix_product(part, a, b);
  expect_close(part, before.to(at::kDouble) + exact(a, b), 520);
  EXPECT_TRUE(wide.narrow(1, 0, 20).eq(7).all().item<bool>());
  EXPECT_TRUE(wide.narrow(1, 120, 20).eq(7).all().item<bool>());
}

TEST_P(Products, AreTheSameBitsWithAnyThreadsAndWhateverOtherRowsHold) {
  const at::Tensor a = drawn(700, 640, GetParam(), false);
  const at::Tensor b = drawn(640, 192, GetParam(), true);
  const int threads = at::get_num_threads();
  at::set_num_threads(1);
  const at::Tensor alone = matrix_product(a, b);
  at::set_num_threads(3);
  EXPECT_TRUE(alone.equal(matrix_product(a, b)));
  at::set_num_threads(threads);
  const at::Tensor other = a.clone();
  other.narrow(0, 0, 350).fill_(3);
  EXPECT_TRUE(matrix_product(other, b).narrow(0, 350, 350).equal(alone.narrow(0, 350, 350)));
}

// Of all blocks that are in use.
int64_t used_bytes() {
  const struct mallinfo2 heap = mallinfo2();
  return static_cast<int64_t>(heap.uordblks + heap.hblkhd);
}

// By oneDNN they would be 51 times 0.57 MB for each of the three products.
TEST_P(Products, OfManyLengthsKeepNothingForEach) {
  const at::Tensor b = drawn(512, 320, GetParam(), true);
  const at::Tensor all = drawn(1602, 512, GetParam(), false);
  const at::Tensor scores = at::randn({2, 1024, 1602}).to(GetParam());
  const auto multiply_length = [&](int64_t length) {
    const at::Tensor rows = all.narrow(0, 0, length);
    matrix_product(rows, b);
    matrix_product(rows.narrow(1, 0, 16).t(), rows);
    unit_products(scores.narrow(2, 0, length).contiguous(),
                  rows.narrow(1, 0, 64).expand({2, length, 64}));
  };
  // Of every power of two a piece, in rows of every distance that is laid out.
  for (const int64_t length : {1023, 1535, 1599, 1023}) multiply_length(length);
  const int64_t before = used_bytes();
  for (int64_t length = 602; length <= 1602; length += 20) multiply_length(length);
  EXPECT_LT(used_bytes() - before, 4'000'000);
}

TEST_P(Products, OfUnitsAreThoseOfEach) {
  const at::Tensor a = at::randn({3, 300, 111}).to(GetParam());
  const at::Tensor b = at::randn({3, 111, 64}).to(GetParam());
  const at::Tensor added = at::zeros({3, 111, 64}, a.options());
  const at::Tensor all = unit_products(a, b);
  add_unit_products(added, a.transpose(1, 2), all);
  for (int64_t unit = 0; unit < 3; ++unit) {
    expect_close(all[unit], exact(a[unit], b[unit]), 111);
    expect_close(added[unit], exact(a[unit].t(), all[unit]), 300);
  }
}

INSTANTIATE_TEST_SUITE_P(OfEachType, Products, testing::Values(at::kFloat, at::kBFloat16),
                         [](const auto& each) {
                           return each.param == at::kFloat ? "Fp32" : "Bf16";
                         });

}  // namespace
}  // namespace plateau::train
