// SPDX-License-Identifier: Apache-2.0
// Products of matrices, by the instructions that the processor has.
//
// The question: LibTorch hands products in fp32 to MKL, which takes AVX-512 on Intel's processors
// alone; on an AMD EPYC of 2024 it does 100 GFLOP/s a core where 250 are possible. Products in
// bf16 go to oneDNN, which keeps 0.57 MB for every shape of a product (tables of descriptions, not
// code): a run with many lengths holds hundreds of them.
//
// Method: out is made tile by tile, kTileRows x kTileColumns of it, each by LibTorch's brgemm,
// whose code depends on the size of a tile and not on that of the matrices. What is left at the
// edges is cut into fourths of a tile, of those and so on, so that few sizes exist. The piece of b
// that a tile needs is packed side by side first, in fp32 as rows, in bf16 as rows of pairs, for
// four tiles below each other.
//
// Worked: 512 x 1024 by 1024 x 1408 in fp32 are 22 columns of four tiles each. A column packs 256 x
// 64 values four times, each time for four times 128 x 64 x 256 products.
//
// Blind spot: few rows. With 64 rows packing costs as much as the product.
//
// Sums are in fp32, in an order that depends on the size of the matrices only: not on threads, and
// not on other rows.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <optional>

namespace plateau::train {

constexpr int64_t kTileRows = 128;
constexpr int64_t kTileColumns = 64;

// All are two-dimensional and of one type, or `out` is in fp32 (`type` says so; else that of a and
// b); a and b may be transposed views. None is recorded for a way back. Where the type, the device
// or the processor has no use for tiles, LibTorch's own product does it.
at::Tensor matrix_product(const at::Tensor& a, const at::Tensor& b,
                          std::optional<at::ScalarType> type = {});
// With `bias`, which may be undefined, in each row. Rows of `out` may be parts of longer ones.
void matrix_product_into(const at::Tensor& out, const at::Tensor& a, const at::Tensor& b,
                         const at::Tensor& bias);
// out += a b, rounded once.
void add_matrix_product(const at::Tensor& out, const at::Tensor& a, const at::Tensor& b);

// Whether products of that type are made of tiles here: on a processor with AVX-512, in bf16 with
// its bf16 instructions, that is not Intel's.
bool matrix_products_have_tiles(at::ScalarType type);

// The same for each of a number of matrices: units x rows x columns, as at::bmm() has them.
at::Tensor unit_products(const at::Tensor& a, const at::Tensor& b,
                         std::optional<at::ScalarType> type = {});
void add_unit_products(const at::Tensor& out, const at::Tensor& a, const at::Tensor& b);

// What a product takes on each thread while it is made.
constexpr int64_t kScratchBytes = int64_t{192} << 10;

// As matrix_product_into() and add_matrix_product(), tiles or nothing: for tests. Requires:
// matrix_products_have_tiles(), the CPU, at least two columns of a.
enum class Onto : uint8_t { nothing, bias, itself };
void matrix_product_in_tiles(const at::Tensor& out, const at::Tensor& a, const at::Tensor& b,
                             Onto onto, const at::Tensor& bias);

}  // namespace plateau::train
