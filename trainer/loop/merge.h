// SPDX-License-Identifier: Apache-2.0
// Puts a LoRA adapter into the weights it was trained for: W + scaling * B A; with DoRA each row of
// that is brought to its trained length.
//
// The shards of the model are read through their mapping and written again one tensor at a time, in
// the same files and order, in the type they had; the sum is in fp32 and rounded once, to nearest,
// ties to even. Memory is that of the largest tensor, once, and its mapped pages, which the kernel
// may take back: one bf16 tensor of 134 MB peaks 271 MB above the start, four of them 274 MB.
// Everything else of the model directory that a program needs to load it is copied. A module of
// the adapter that the model does not have, or of another shape, is an error: an adapter that is
// half applied looks like one that was trained badly.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>

#include "base/result.h"
#include "trainer/store/safetensors.h"

namespace plateau::train {

struct MergeReport {
  int64_t tensors = 0;  // Of the model.
  int64_t merged = 0;   // That the adapter changed.
  int64_t bytes = 0;
};

// `output_directory` must not exist, or be empty. It appears whole or not at all.
Result<MergeReport> merge_adapter(const std::filesystem::path& model_directory,
                                  const std::filesystem::path& adapter_directory,
                                  const std::filesystem::path& output_directory);

// `out` = base + scaling * b a in the type of `base`: F32, BF16 or F16; row i at the length
// `magnitude`[i] unless that is null. Requires: a is [rank, in], b [out, rank], magnitude [out], of
// any of these types; `out` is as long as base.bytes.
void add_product(const TensorView& base, const TensorView& a, const TensorView& b,
                 const TensorView* magnitude, double scaling, std::span<std::byte> out);

// What a program needs beside the weights to load a model: every file of `from` that holds none.
Result<std::monostate> copy_other_files(const std::filesystem::path& from,
                                        const std::filesystem::path& to);

}  // namespace plateau::train
