// SPDX-License-Identifier: Apache-2.0
#include "trainer/device/products.h"

#include <ATen/Parallel.h>
#include <ATen/native/CPUBlas.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace plateau::train {
namespace {

// Of one call of brgemm: what fits the second cache beside its tile.
constexpr int64_t kInnerPiece = 512;
// That share what is packed.
constexpr int64_t kRowsAtOnce = 4 * kTileRows;
constexpr int64_t kPackedBytes = kInnerPiece * kTileColumns * 4;
static_assert(kScratchBytes == kPackedBytes + kRowsAtOnce * kTileColumns * 4);
// Rows of a transposed `a` that are laid out anew at a time.
constexpr int64_t kRowsLaidOut = 256;
// Below it a batch of products is faster in one call of LibTorch than matrix by matrix.
constexpr int64_t kLeastProductsOfUnit = int64_t{1} << 20;
// Smaller products are not worth a call for each tile.
constexpr int64_t kLeastProducts = 16384;

#if defined(__x86_64__)
#define PLATEAU_WIDE_VECTORS __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq")))
#else
#define PLATEAU_WIDE_VECTORS
#endif

// A stretch of rows, columns or sums.
struct Piece {
  int64_t first = 0;
  int64_t count = 0;
};

// Whole pieces of `largest` and what is left in powers of two.
template <typename Visit>
void for_each_piece(int64_t length, int64_t largest, const Visit& visit) {
  int64_t size = largest;
  for (int64_t first = 0; first < length;) {
    while (size > length - first) size /= 2;
    visit(Piece{first, size});
    first += size;
  }
}

// One product: `a` has its rows side by side.
template <typename T>
struct Product {
  T* out;
  const T* a;
  const T* b;
  const T* bias;
  int64_t rows, columns, inner;
  int64_t out_stride, a_stride;
  int64_t b_row_stride, b_column_stride;
  Onto onto;
};

// Unsigned whole numbers of the size of what is packed: a value in fp32, a pair in bf16.
using Word = uint32_t;

// words[k][n] = rows[n][k], 16 x 16 at a time.
PLATEAU_WIDE_VECTORS void pack_transposed(const Word* rows, int64_t stride, int64_t count,
                                          int64_t words, Word* packed) {
  constexpr int64_t kSide = 16;
  for (int64_t n = 0; n < count; n += kSide) {
    const int64_t n_end = std::min(count, n + kSide);
    for (int64_t k = 0; k < words; k += kSide) {
      const int64_t k_end = std::min(words, k + kSide);
      for (int64_t j = k; j < k_end; ++j) {
        for (int64_t i = n; i < n_end; ++i) packed[j * kTileColumns + i] = rows[i * stride + j];
      }
    }
  }
}

PLATEAU_WIDE_VECTORS void pack_pairs(const at::BFloat16* b, int64_t stride, int64_t count,
                                     int64_t pairs, Word* packed) {
  for (int64_t k = 0; k < pairs; ++k) {
    const at::BFloat16* even = b + 2 * k * stride;
    const at::BFloat16* odd = even + stride;
    for (int64_t n = 0; n < count; ++n) {
      packed[k * kTileColumns + n] = even[n].x | static_cast<Word>(odd[n].x) << 16U;
    }
  }
}

PLATEAU_WIDE_VECTORS void pack_rows(const float* b, int64_t stride, int64_t count, int64_t rows,
                                    float* packed) {
  for (int64_t k = 0; k < rows; ++k) std::copy_n(b + k * stride, count, packed + k * kTileColumns);
}

// These rows (sums) and columns of b.
template <typename T>
void pack(const Product<T>& product, const Piece& sums, const Piece& columns, T* packed) {
  constexpr int64_t kValues = sizeof(Word) / sizeof(T);
  auto* words = reinterpret_cast<Word*>(packed);
  const T* b =
      product.b + sums.first * product.b_row_stride + columns.first * product.b_column_stride;
  if (product.b_row_stride == 1 && product.b_column_stride % kValues == 0) {
    pack_transposed(reinterpret_cast<const Word*>(b), product.b_column_stride / kValues,
                    columns.count, sums.count / kValues, words);
  } else if constexpr (std::is_same_v<T, float>) {
    pack_rows(b, product.b_row_stride, columns.count, sums.count, packed);
  } else {
    pack_pairs(b, product.b_row_stride, columns.count, sums.count / kValues, words);
  }
}

template <typename T>
PLATEAU_WIDE_VECTORS void store(const Product<T>& product, const Piece& rows, const Piece& columns,
                                const float* tile) {
  for (int64_t row = 0; row < rows.count; ++row) {
    T* out = product.out + (rows.first + row) * product.out_stride + columns.first;
    const float* from = tile + row * kTileColumns;
    if (product.onto == Onto::nothing) {
      for (int64_t n = 0; n < columns.count; ++n) out[n] = static_cast<T>(from[n]);
    } else {
      const T* onto = product.onto == Onto::itself ? out : product.bias + columns.first;
      for (int64_t n = 0; n < columns.count; ++n) {
        out[n] = static_cast<T>(from[n] + static_cast<float>(onto[n]));
      }
    }
  }
}

// What a thread works in.
template <typename T>
struct Scratch {
  T* packed;     // kInnerPiece x kTileColumns.
  float* tiles;  // kRowsAtOnce x kTileColumns.
};

// At most kRowsAtOnce rows of at most kTileColumns columns.
template <typename T>
void make_tiles(const Product<T>& product, const Piece& rows, const Piece& columns,
                const Scratch<T>& scratch) {
  for_each_piece(product.inner, kInnerPiece, [&](const Piece& sums) {
    pack(product, sums, columns, scratch.packed);
    for_each_piece(rows.count, kTileRows, [&](const Piece& tall) {
      at::native::cpublas::brgemm(
          tall.count, columns.count, sums.count, product.a_stride, kTileColumns, kTileColumns,
          sums.first > 0, product.a + (rows.first + tall.first) * product.a_stride + sums.first,
          scratch.packed, scratch.tiles + tall.first * kTileColumns,
          std::is_same_v<T, at::BFloat16>);
    });
  });
  store(product, rows, columns, scratch.tiles);
}

// Work of a thread at a time: a column of tiles, cut if there are too few of them.
template <typename T>
void make_all(const Product<T>& product) {
  const int64_t columns = (product.columns + kTileColumns - 1) / kTileColumns;
  const int64_t tall = (product.rows + kTileRows - 1) / kTileRows;
  const int64_t threads = at::get_num_threads();
  const int64_t wanted = threads == 1 ? 1 : (2 * threads + columns - 1) / columns;
  const int64_t step = std::min(kRowsAtOnce, (tall + wanted - 1) / wanted * kTileRows);
  const int64_t cuts = (product.rows + step - 1) / step;
  at::parallel_for(0, columns * cuts, 1, [&](int64_t begin, int64_t end) {
    const at::Tensor memory = at::empty({kScratchBytes}, at::kByte);
    auto* bytes = static_cast<std::byte*>(memory.data_ptr());
    const Scratch<T> scratch{reinterpret_cast<T*>(bytes),
                             reinterpret_cast<float*>(bytes + kPackedBytes)};
    for (int64_t unit = begin; unit < end; ++unit) {
      const int64_t row = unit % cuts * step;
      const Piece rows{row, std::min(step, product.rows - row)};
      const int64_t column = unit / cuts * kTileColumns;
      for_each_piece(std::min(kTileColumns, product.columns - column), kTileColumns,
                     [&](const Piece& part) {
                       make_tiles(product, rows, {column + part.first, part.count}, scratch);
                     });
    }
  });
}

template <typename T>
void run(const at::Tensor& out, const at::Tensor& a, const at::Tensor& b, Onto onto,
         const at::Tensor& bias) {
  const at::Tensor added = onto == Onto::bias ? bias.contiguous() : bias;
  make_all(Product<T>{.out = out.data_ptr<T>(),
                      .a = a.const_data_ptr<T>(),
                      .b = b.const_data_ptr<T>(),
                      .bias = onto == Onto::bias ? added.const_data_ptr<T>() : nullptr,
                      .rows = a.size(0),
                      .columns = b.size(1),
                      .inner = a.size(1),
                      .out_stride = out.stride(0),
                      .a_stride = a.stride(0),
                      .b_row_stride = b.stride(0),
                      .b_column_stride = b.stride(1),
                      .onto = onto});
}

bool is_for_units(const at::Tensor& a, const at::Tensor& b) {
  return a.is_cpu() && matrix_products_have_tiles(a.scalar_type()) &&
         a.size(1) * a.size(2) * b.size(2) >= kLeastProductsOfUnit;
}

// Of a transposed `a` as few rows as possible are laid out anew: a b = (b' a')'.
bool is_better_transposed(const at::Tensor& a, const at::Tensor& b) {
  return a.is_cpu() && matrix_products_have_tiles(a.scalar_type()) && a.size(1) > 1 &&
         a.stride(1) != 1 && b.stride(1) == 1 && b.size(1) < a.size(0);
}

bool has_instructions(at::ScalarType type) {
#if defined(__x86_64__) && defined(CPUBLAS_BRGEMM_F32F32F32) && defined(CPUBLAS_BRGEMM_BF16BF16F32)
  if (__builtin_cpu_is("intel") || !__builtin_cpu_supports("avx512f") ||
      !__builtin_cpu_supports("avx512bw") || !__builtin_cpu_supports("avx512vl") ||
      !__builtin_cpu_supports("avx512dq")) {
    return false;
  }
  return type == at::kFloat || (type == at::kBFloat16 && __builtin_cpu_supports("avx512bf16"));
#else
  return type != type;
#endif
}

// Rows or columns side by side.
bool is_plain(const at::Tensor& x) {
  return (x.stride(1) == 1 && x.stride(0) >= x.size(1)) ||
         (x.stride(0) == 1 && x.stride(1) >= x.size(0));
}

// Pairs of a transposed b are read as words.
bool has_pairs(const at::Tensor& b) {
  return b.stride(0) != 1 || b.stride(1) == 1 ||
         (b.stride(1) % 2 == 0 && reinterpret_cast<uintptr_t>(b.const_data_ptr()) % 4 == 0);
}

bool is_for_tiles(const at::Tensor& out, const at::Tensor& a, const at::Tensor& b) {
  return a.is_cpu() && matrix_products_have_tiles(a.scalar_type()) &&
         b.scalar_type() == a.scalar_type() && out.scalar_type() == a.scalar_type() &&
         out.stride(1) == 1 && is_plain(a) && is_plain(b) &&
         (a.scalar_type() == at::kFloat || (a.size(1) % 2 == 0 && has_pairs(b))) && a.size(1) > 1 &&
         a.size(0) * a.size(1) * b.size(1) >= kLeastProducts;
}

}  // namespace

bool matrix_products_have_tiles(at::ScalarType type) {
  return has_instructions(type);
}

void matrix_product_in_tiles(const at::Tensor& out, const at::Tensor& a, const at::Tensor& b,
                             Onto onto, const at::Tensor& bias) {
  if (a.stride(1) != 1) {
    for (int64_t first = 0; first < a.size(0); first += kRowsLaidOut) {
      const int64_t count = std::min(kRowsLaidOut, a.size(0) - first);
      matrix_product_in_tiles(out.narrow(0, first, count), a.narrow(0, first, count).contiguous(),
                              b, onto, bias);
    }
  } else if (a.scalar_type() == at::kFloat) {
    run<float>(out, a, b, onto, bias);
  } else {
    run<at::BFloat16>(out, a, b, onto, bias);
  }
}

at::Tensor matrix_product(const at::Tensor& a, const at::Tensor& b) {
  if (is_better_transposed(a, b)) {
    return matrix_product(b.t(), a.t()).t().contiguous();
  }
  at::Tensor out = at::empty({a.size(0), b.size(1)}, a.options());
  matrix_product_into(out, a, b, at::Tensor());
  return out;
}

void matrix_product_into(const at::Tensor& out, const at::Tensor& a, const at::Tensor& b,
                         const at::Tensor& bias) {
  if (is_for_tiles(out, a, b)) {
    matrix_product_in_tiles(out, a, b, bias.defined() ? Onto::bias : Onto::nothing, bias);
    return;
  }
  at::Tensor target = out;
  if (bias.defined()) {
    at::addmm_out(target, bias, a, b);
  } else {
    at::mm_out(target, a, b);
  }
}

void add_matrix_product(const at::Tensor& out, const at::Tensor& a, const at::Tensor& b) {
  if (is_better_transposed(a, b)) {
    at::Tensor(out).add_(matrix_product(b.t(), a.t()).t());
  } else if (is_for_tiles(out, a, b)) {
    matrix_product_in_tiles(out, a, b, Onto::itself, at::Tensor());
  } else {
    out.addmm_(a, b);
  }
}

at::Tensor unit_products(const at::Tensor& a, const at::Tensor& b) {
  if (!is_for_units(a, b)) return at::bmm(a, b);
  at::Tensor out = at::empty({a.size(0), a.size(1), b.size(2)}, a.options());
  for (int64_t unit = 0; unit < a.size(0); ++unit) {
    matrix_product_into(out.select(0, unit), a.select(0, unit), b.select(0, unit), at::Tensor());
  }
  return out;
}

void add_unit_products(const at::Tensor& out, const at::Tensor& a, const at::Tensor& b) {
  if (!is_for_units(a, b)) {
    out.baddbmm_(a, b);
    return;
  }
  for (int64_t unit = 0; unit < a.size(0); ++unit) {
    add_matrix_product(out.select(0, unit), a.select(0, unit), b.select(0, unit));
  }
}

}  // namespace plateau::train
