// SPDX-License-Identifier: Apache-2.0
#include "trainer/device/products.h"

#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>
#include <ATen/native/CPUBlas.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace plateau::train {
namespace {

// Of one call of brgemm: what fits the second cache beside its tile.
constexpr int64_t kInnerPiece = 256;
// That share what is packed.
constexpr int64_t kRowsAtOnce = 4 * kTileRows;
constexpr int64_t kPackedBytes = kInnerPiece * kTileColumns * 4;
static_assert(kScratchBytes == kPackedBytes + kRowsAtOnce * kTileColumns * 4);
// Rows of a transposed `a`, and of one that has no usual distance, are laid out anew, so many at a
// time.
constexpr int64_t kRowsLaidOut = 256;
// Below it a batch of products in fp32 is faster in one call of LibTorch than matrix by matrix.
constexpr int64_t kLeastProductsOfUnit = int64_t{1} << 20;
// Of a thread at the least: 70 us or so. Waiting for another one costs more, on a busy machine by
// far.
constexpr int64_t kProductsOfAThread = int64_t{1} << 23;
// Smaller products in fp32 are not worth a call for each tile.
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

// Whole pieces of `largest`, then of a fourth of it, and so on: few sizes, and few pieces. None is
// below `least`, of which `length` is a multiple.
template <typename Visit>
void for_each_piece(int64_t length, int64_t largest, int64_t least, const Visit& visit) {
  int64_t size = largest;
  for (int64_t first = 0; first < length;) {
    while (size > length - first) size = std::max(least, size / 4);
    visit(Piece{first, size});
    first += size;
  }
}

int64_t grain_of(int64_t products) {
  return std::max<int64_t>(1, kProductsOfAThread / products);
}

// One product: `a` has its rows side by side.
template <typename T, typename Out>
struct Product {
  Out* out;
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
template <typename T, typename Out>
void pack(const Product<T, Out>& product, const Piece& sums, const Piece& columns, T* packed) {
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

template <typename T, typename Out>
PLATEAU_WIDE_VECTORS void store(const Product<T, Out>& product, const Piece& rows,
                                const Piece& columns, const float* tile) {
  for (int64_t row = 0; row < rows.count; ++row) {
    Out* out = product.out + (rows.first + row) * product.out_stride + columns.first;
    const float* from = tile + row * kTileColumns;
    for (int64_t n = 0; n < columns.count; ++n) {
      float value = from[n];
      if (product.onto == Onto::itself) value += static_cast<float>(out[n]);
      if (product.onto == Onto::bias) value += static_cast<float>(product.bias[columns.first + n]);
      out[n] = static_cast<Out>(value);
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
template <typename T, typename Out>
void make_tiles(const Product<T, Out>& product, const Piece& rows, const Piece& columns,
                const Scratch<T>& scratch) {
  for_each_piece(product.inner, kInnerPiece, sizeof(Word) / sizeof(T), [&](const Piece& sums) {
    pack(product, sums, columns, scratch.packed);
    for_each_piece(rows.count, kTileRows, 1, [&](const Piece& tall) {
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
template <typename T, typename Out>
void make_all(const Product<T, Out>& product) {
  const int64_t columns = (product.columns + kTileColumns - 1) / kTileColumns;
  const int64_t tall = (product.rows + kTileRows - 1) / kTileRows;
  const int64_t threads = at::get_num_threads();
  const int64_t wanted = threads == 1 ? 1 : (2 * threads + columns - 1) / columns;
  const int64_t step = std::min(kRowsAtOnce, (tall + wanted - 1) / wanted * kTileRows);
  const int64_t cuts = (product.rows + step - 1) / step;
  const int64_t grain = grain_of(step * kTileColumns * product.inner);
  at::parallel_for(0, columns * cuts, grain, [&](int64_t begin, int64_t end) {
    const at::Tensor memory = at::empty({kScratchBytes}, at::kByte);
    auto* bytes = static_cast<std::byte*>(memory.data_ptr());
    const Scratch<T> scratch{reinterpret_cast<T*>(bytes),
                             reinterpret_cast<float*>(bytes + kPackedBytes)};
    for (int64_t unit = begin; unit < end; ++unit) {
      const int64_t row = unit % cuts * step;
      const Piece rows{row, std::min(step, product.rows - row)};
      const int64_t column = unit / cuts * kTileColumns;
      for_each_piece(std::min(kTileColumns, product.columns - column), kTileColumns, 1,
                     [&](const Piece& part) {
                       make_tiles(product, rows, {column + part.first, part.count}, scratch);
                     });
    }
  });
}

template <typename T, typename Out = T>
void run(const at::Tensor& out, const at::Tensor& a, const at::Tensor& b, Onto onto,
         const at::Tensor& bias) {
  const at::Tensor added = onto == Onto::bias ? bias.contiguous() : bias;
  make_all(Product<T, Out>{.out = out.data_ptr<Out>(),
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
         (a.scalar_type() != at::kFloat ||
          a.size(1) * a.size(2) * b.size(2) >= kLeastProductsOfUnit);
}

// One after the other, or several at once. Threads of their own do not know that no graph is
// wanted.
template <typename Visit>
void for_each_unit(const at::Tensor& a, const at::Tensor& b, const Visit& visit) {
  if (a.size(0) == 1) {
    visit(0);
    return;
  }
  const int64_t grain = grain_of(a.size(1) * a.size(2) * b.size(2));
  at::parallel_for(0, a.size(0), grain, [&](int64_t begin, int64_t end) {
    const at::NoGradGuard without_graph;
    for (int64_t unit = begin; unit < end; ++unit) visit(unit);
  });
}

// Of a transposed `a` as few rows as possible are laid out anew: a b = (b' a')'.
bool is_better_transposed(const at::Tensor& a, const at::Tensor& b) {
  return a.is_cpu() && matrix_products_have_tiles(a.scalar_type()) && a.size(1) > 1 &&
         a.stride(1) != 1 && b.stride(1) == 1 && b.size(1) < a.size(0);
}

// Code is kept for every distance of two rows of `a`. Those in a model's layers are such numbers;
// others, as the length of a sequence is, would be ever new.
bool is_usual_distance(int64_t distance) {
  return distance % 64 == 0 || (distance < 128 && distance % 8 == 0);
}

// Rows side by side, a multiple of kInnerPiece apart.
at::Tensor laid_out(const at::Tensor& a) {
  const int64_t distance = (a.size(1) + kInnerPiece - 1) / kInnerPiece * kInnerPiece;
  const at::Tensor out = at::empty({a.size(0), distance}, a.options()).narrow(1, 0, a.size(1));
  return at::Tensor(out).copy_(a);
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
  const at::ScalarType type = a.scalar_type();
  if (!a.is_cpu() || !matrix_products_have_tiles(type) || b.scalar_type() != type) return false;
  if (out.scalar_type() != type && out.scalar_type() != at::kFloat) return false;
  if (out.stride(1) != 1 || !is_plain(a) || !is_plain(b) || a.size(1) < 2) return false;
  return type == at::kFloat ? a.size(0) * a.size(1) * b.size(1) >= kLeastProducts
                            : a.size(1) % 2 != 0 || has_pairs(b);
}

}  // namespace

bool matrix_products_have_tiles(at::ScalarType type) {
  return has_instructions(type);
}

void matrix_product_in_tiles(const at::Tensor& out, const at::Tensor& a, const at::Tensor& b,
                             Onto onto, const at::Tensor& bias) {
  if (a.stride(1) != 1 || !is_usual_distance(a.stride(0))) {
    for (int64_t first = 0; first < a.size(0); first += kRowsLaidOut) {
      const int64_t count = std::min(kRowsLaidOut, a.size(0) - first);
      matrix_product_in_tiles(out.narrow(0, first, count), laid_out(a.narrow(0, first, count)), b,
                              onto, bias);
    }
  } else if (a.scalar_type() == at::kFloat) {
    run<float>(out, a, b, onto, bias);
  } else if (a.size(1) % 2 != 0) {
    // Of pairs, the last with zeros.
    matrix_product_in_tiles(out, at::constant_pad_nd(a, {0, 1}),
                            at::constant_pad_nd(b, {0, 0, 0, 1}), onto, bias);
  } else if (out.scalar_type() == at::kFloat) {
    run<at::BFloat16, float>(out, a, b, onto, bias);
  } else {
    run<at::BFloat16>(out, a, b, onto, bias);
  }
}

at::Tensor matrix_product(const at::Tensor& a, const at::Tensor& b,
                          std::optional<at::ScalarType> type) {
  if (is_better_transposed(a, b)) {
    return matrix_product(b.t(), a.t(), type).t().contiguous();
  }
  const at::Tensor out =
      at::empty({a.size(0), b.size(1)}, a.options().dtype(type.value_or(a.scalar_type())));
  matrix_product_into(out, a, b, at::Tensor());
  return out;
}

void matrix_product_into(const at::Tensor& out, const at::Tensor& a, const at::Tensor& b,
                         const at::Tensor& bias) {
  at::Tensor target = out;
  if (is_for_tiles(out, a, b)) {
    matrix_product_in_tiles(out, a, b, bias.defined() ? Onto::bias : Onto::nothing, bias);
  } else if (out.scalar_type() != a.scalar_type()) {
    target.copy_(bias.defined() ? at::addmm(bias, a, b) : at::mm(a, b));
  } else if (bias.defined()) {
    at::addmm_out(target, bias, a, b);
  } else {
    at::mm_out(target, a, b);
  }
}

void add_matrix_product(const at::Tensor& out, const at::Tensor& a, const at::Tensor& b) {
  if (is_better_transposed(a, b)) {
    at::Tensor(out).add_(matrix_product(b.t(), a.t(), out.scalar_type()).t());
  } else if (is_for_tiles(out, a, b)) {
    matrix_product_in_tiles(out, a, b, Onto::itself, at::Tensor());
  } else if (out.scalar_type() != a.scalar_type()) {
    at::Tensor(out).add_(at::mm(a, b));
  } else {
    out.addmm_(a, b);
  }
}

at::Tensor unit_products(const at::Tensor& a, const at::Tensor& b,
                         std::optional<at::ScalarType> type) {
  const at::ScalarType result = type.value_or(a.scalar_type());
  if (!is_for_units(a, b)) return at::bmm(a, b).to(result);
  at::Tensor out = at::empty({a.size(0), a.size(1), b.size(2)}, a.options().dtype(result));
  for_each_unit(a, b, [&](int64_t unit) {
    matrix_product_into(out.select(0, unit), a.select(0, unit), b.select(0, unit), at::Tensor());
  });
  return out;
}

void add_unit_products(const at::Tensor& out, const at::Tensor& a, const at::Tensor& b) {
  if (!is_for_units(a, b)) {
    TORCH_CHECK(out.scalar_type() == a.scalar_type(),
                "a sum of another type is made in tiles only");
    out.baddbmm_(a, b);
    return;
  }
  for_each_unit(a, b, [&](int64_t unit) {
    add_matrix_product(out.select(0, unit), a.select(0, unit), b.select(0, unit));
  });
}

}  // namespace plateau::train
