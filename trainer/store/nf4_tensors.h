// SPDX-License-Identifier: Apache-2.0
// NF4 weights in safetensors files, in the layout of bitsandbytes: a weight X is the tensor X of
// packed nibbles and, beside it, X.absmax, X.quant_map, with double quantisation X.nested_absmax
// and X.nested_quant_map, and the JSON X.quant_state.bitsandbytes__nf4. docs/formats/quantised.md.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "trainer/quant/nf4.h"
#include "trainer/store/safetensors.h"

namespace plateau::train {

// `name` is that of the weight as the files spell it, with ".weight".
bool is_nf4(const WeightFiles& files, std::string_view name);

// The weight that a tensor called `name` belongs to ("a.weight" of "a.weight.absmax"); empty if it
// is none of the tensors that stand beside an NF4 weight.
std::string_view nf4_owner(std::string_view name);

// The shape before quantisation. Checks every length, copies nothing.
Result<std::vector<int64_t>> nf4_shape(const WeightFiles& files, std::string_view name);

// The whole weight, copied out of the mapping. A map other than NF4's is an error; the map of the
// nested scales is kept if it is not ours to the bit.
Result<Nf4Weight> read_nf4(const WeightFiles& files, std::string_view name);

// The same as tensors to be written, in the order bitsandbytes has them. Views point into `weight`
// and into `state`; moving the struct keeps them valid.
struct Nf4Tensors {
  std::vector<std::byte> state;
  std::vector<TensorView> views;
};
Nf4Tensors nf4_tensors(const Nf4Weight& weight, std::string_view name, std::string_view dtype);

}  // namespace plateau::train
