// SPDX-License-Identifier: Apache-2.0
#include "census/tensor_graph.h"

#include <array>

namespace plateau {
namespace {

// Where the C++ tensor may be in Python's object, and its AutogradMeta in the C++ tensor.
constexpr std::array<uint64_t, 2> kImplPlaces = {16, 24};
constexpr std::array<uint64_t, 4> kMetaPlaces = {24, 32, 16, 40};
// In AutogradMeta: a pointer, a std::string of 32 bytes, the gradient, then grad_fn.
constexpr uint64_t kName = 8;
constexpr uint64_t kNameLength = 16;
constexpr uint64_t kNameBuffer = 24;
constexpr uint64_t kGradFn = 48;
constexpr size_t kTensorBytes = 32;
constexpr size_t kImplBytes = 48;
constexpr size_t kMetaBytes = 56;

bool is_pointer(uint64_t value) {
  return value >= 0x10000 && value >> 47 == 0 && value % 8 == 0;
}

}  // namespace

void expect_tensor(MemoryReader& memory, uint64_t address) {
  const auto word = [&](uint64_t where) { return read_value<uint64_t>(memory, where).value_or(0); };
  memory.expect(address, kTensorBytes);
  for (const uint64_t impl_at : kImplPlaces) {
    const uint64_t impl = word(address + impl_at);
    if (!is_pointer(impl)) continue;
    memory.expect(impl, kImplBytes);
    for (const uint64_t meta_at : kMetaPlaces) {
      const uint64_t meta = word(impl + meta_at);
      if (is_pointer(meta)) memory.expect(meta, kMetaBytes);
    }
  }
}

uint64_t TensorGraphs::word(uint64_t address) {
  return read_value<uint64_t>(memory_, address).value_or(0);
}

bool TensorGraphs::is_meta(uint64_t address) {
  return is_pointer(address) && is_pointer(word(address)) &&
         word(address + kName) == address + kNameBuffer &&
         read_value<uint64_t>(memory_, address + kNameLength).value_or(1) == 0 &&
         read_value<uint8_t>(memory_, address + kNameBuffer).value_or(1) == 0;
}

std::optional<bool> TensorGraphs::has_graph(uint64_t address) {
  for (const uint64_t impl_at : kImplPlaces) {
    const uint64_t impl = word(address + impl_at);
    if (!is_pointer(impl)) continue;
    for (const uint64_t meta_at : kMetaPlaces) {
      const uint64_t meta = word(impl + meta_at);
      if (!is_meta(meta)) continue;
      const auto grad_fn = read_value<uint64_t>(memory_, meta + kGradFn);
      if (!grad_fn || (*grad_fn != 0 && !is_pointer(*grad_fn))) return std::nullopt;
      known_ = {impl_at, meta_at};
      return *grad_fn != 0;
    }
  }
  if (!known_) return std::nullopt;
  const uint64_t impl = word(address + known_->impl);
  const auto meta = is_pointer(impl) ? read_value<uint64_t>(memory_, impl + known_->meta)
                                     : std::optional<uint64_t>();
  return meta && *meta == 0 ? std::optional(false) : std::nullopt;
}

}  // namespace plateau
