// SPDX-License-Identifier: Apache-2.0
#include "trainer/device/device.h"

#include <ATen/Context.h>
#include <ATen/detail/PrivateUse1HooksInterface.h>
#include <c10/core/DeviceType.h>
#include <fmt/format.h>

#include <mutex>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "trainer/device/device_name.h"

namespace plateau::train {
namespace {

Error usage(std::string message) {
  return {.kind = Error::Kind::usage, .message = std::move(message)};
}

// A device that this process has added to LibTorch, as the tests do (device/testing). LibTorch has
// none by itself.
bool is_registered_name(const std::string& name) {
  return at::isPrivateUse1HooksRegistered() && name == c10::get_privateuse1_backend();
}

}  // namespace

Result<DeviceName> device_name_of(const std::string& text) {
  if (text == "cpu") return DeviceName{};
  if (text == "cuda") return DeviceName{.is_cuda = true};
  if (text.starts_with("cuda:")) {
    const auto number = parse_int(std::string_view(text).substr(5));
    if (number && *number >= 0) return DeviceName{.is_cuda = true, .index = *number};
  }
  return usage(fmt::format("--device {}: it is cpu, cuda or cuda:N", text));
}

Result<at::Device> device_named(const std::string& name) {
  if (is_registered_name(name)) return at::Device(at::kPrivateUse1, 0);
  const Result<DeviceName> parsed = device_name_of(name);
  if (!parsed) return parsed.error();
  if (!parsed.value().is_cuda) return at::Device(at::kCPU);
  if (!at::globalContext().hasCUDA()) {
    return usage(fmt::format(
        "--device {}: this PyTorch was built for CPUs only; build with a torch that has CUDA, or "
        "use --device cpu",
        name));
  }
  const int64_t count = at::detail::getCUDAHooks().deviceCount();
  const int64_t index = parsed.value().index;
  if (index < count) return at::Device(at::kCUDA, static_cast<at::DeviceIndex>(index));
  return usage(count == 0
                   ? fmt::format("--device {}: PyTorch finds no GPU here; use --device cpu", name)
                   : fmt::format("--device {}: there are {} GPUs, cuda:0 to cuda:{}", name, count,
                                 count - 1));
}

Result<std::monostate> check_device(const std::string& name) {
  const Result<at::Device> device = device_named(name);
  if (!device) return device.error();
  return std::monostate{};
}

at::Tensor index_tensor(const std::vector<int64_t>& values, at::Device device) {
  return at::tensor(values, at::kLong).to(device);
}

at::Tensor random_state(at::Device device) {
  at::Generator generator = at::globalContext().defaultGenerator(device);
  const std::lock_guard<std::mutex> lock(generator.mutex());
  return generator.get_state();
}

void set_random_state(at::Device device, const at::Tensor& state) {
  at::Generator generator = at::globalContext().defaultGenerator(device);
  const std::lock_guard<std::mutex> lock(generator.mutex());
  generator.set_state(state);
}

}  // namespace plateau::train
