// SPDX-License-Identifier: Apache-2.0
#include "trainer/loop/tensors.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstring>
#include <utility>

#include "trainer/device/device.h"
#include "trainer/loop/half.h"

namespace plateau::train {
namespace {

constexpr std::array<std::pair<DType, at::ScalarType>, 10> kTypes{{
    {DType::boolean, at::kBool},
    {DType::u8, at::kByte},
    {DType::i8, at::kChar},
    {DType::i16, at::kShort},
    {DType::f16, at::kHalf},
    {DType::bf16, at::kBFloat16},
    {DType::i32, at::kInt},
    {DType::f32, at::kFloat},
    {DType::f64, at::kDouble},
    {DType::i64, at::kLong},
}};

}  // namespace

Tensor on_host(const Tensor& tensor) {
  if (tensor->is_cpu()) return tensor;
  return std::make_shared<at::Tensor>(tensor->detach().cpu());
}

TensorView view_of(std::string name, const Tensor& tensor) {
  TensorView view{.name = std::move(name)};
  for (const auto& [dtype, type] : kTypes) {
    if (type == tensor->scalar_type()) view.dtype = dtype;
  }
  view.shape.assign(tensor->sizes().begin(), tensor->sizes().end());
  if (tensor->is_cpu()) {
    view.bytes = {static_cast<const std::byte*>(tensor->data_ptr()), tensor->nbytes()};
  }
  return view;
}

Result<Tensor> tensor_of(const TensorView& view) {
  for (const auto& [dtype, type] : kTypes) {
    if (dtype != view.dtype) continue;
    at::Tensor tensor = at::empty(view.shape, type);
    if (tensor.nbytes() != view.bytes.size()) break;
    if (!view.bytes.empty()) {
      std::memcpy(tensor.data_ptr(), view.bytes.data(), view.bytes.size());
    }
    return std::make_shared<at::Tensor>(std::move(tensor));
  }
  return Error{Error::Kind::bad_input, fmt::format("tensor {}: type {} cannot be used here",
                                                   view.name, std::string(name_of(view.dtype)))};
}

Result<Tensor> mapped_tensor(const TensorView& view, std::shared_ptr<const SafetensorsFile> file) {
  const auto begin = reinterpret_cast<uintptr_t>(view.bytes.data());
  for (const auto& [dtype, type] : kTypes) {
    if (dtype != view.dtype || begin % bytes_of(dtype) != 0) continue;
    auto done = [kept = std::move(file), view](void*) { release_pages(view); };
    return std::make_shared<at::Tensor>(at::from_blob(const_cast<std::byte*>(view.bytes.data()),
                                                      view.shape, std::move(done), type));
  }
  return tensor_of(view);
}

void copy_values(const Tensor& to, const TensorView& from) {
  const at::NoGradGuard without_graph;
  const at::Tensor host = to->is_cpu() ? *to : at::empty(to->sizes(), at::kFloat);
  widen(from.bytes, from.dtype, {host.data_ptr<float>(), static_cast<size_t>(host.numel())});
  if (!host.is_same(*to)) to->copy_(host);
}

double value_of(const Tensor& tensor) {
  return tensor->item<double>();
}

bool is_finite(const Tensor& tensor) {
  // A sum in doubles is finite exactly if every value is: 2^896 of the largest floats fit in it.
  return std::isfinite(tensor->detach().sum(at::kDouble).item<double>());
}

Result<std::monostate> add_gradients(const Tensor& loss, double weight) {
  try {
    loss->backward(at::full_like(*loss, weight));
  } catch (const std::exception& failure) {
    return Error{Error::Kind::bad_input, fmt::format("the way back failed: {}", failure.what())};
  }
  return std::monostate{};
}

int64_t bytes_of(const Tensor& tensor) {
  return static_cast<int64_t>(tensor->nbytes());
}

int64_t gradient_bytes(const Tensor& tensor) {
  const at::Tensor& gradient = tensor->grad();
  return gradient.defined() ? static_cast<int64_t>(gradient.nbytes()) : 0;
}

void seed_generator(uint64_t seed) {
  at::manual_seed(seed);
}

std::vector<std::byte> generator_state(const Tensor& beside) {
  const at::Tensor state = random_state(beside->device());
  const auto* bytes = static_cast<const std::byte*>(state.data_ptr());
  return {bytes, bytes + state.nbytes()};
}

Result<std::monostate> set_generator_state(const Tensor& beside, std::span<const std::byte> state) {
  at::Tensor tensor = at::empty({static_cast<int64_t>(state.size())}, at::kByte);
  if (!state.empty()) std::memcpy(tensor.data_ptr(), state.data(), state.size());
  try {
    set_random_state(beside->device(), tensor);
  } catch (const std::exception&) {
    return Error{Error::Kind::bad_input,
                 fmt::format("random state of {} bytes is not one of this LibTorch on {}",
                             state.size(), beside->device().str())};
  }
  return std::monostate{};
}

}  // namespace plateau::train
