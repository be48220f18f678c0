// SPDX-License-Identifier: Apache-2.0
// A device for tests whose memory the host cannot touch, as a GPU's: what stands in for one here.
//
// LibTorch lets a program add a device (PrivateUse1). This one's blocks are in pages that nobody
// may read or write; they are opened while one of LibTorch's operations runs on them, by the CPU's
// code for it, and closed behind it. So whatever takes the address of a tensor and looks there by
// itself ends the process, and an operation that gets tensors of two devices is refused, as on a
// GPU.
//
// What it does not show: that a GPU has a kernel for each operation, how fast it is, and whether
// anything forgets to wait for one.
//
// To be included by one source of a program: it registers kernels.
#pragma once

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/EmptyTensor.h>
#include <ATen/detail/PrivateUse1HooksInterface.h>
#include <ATen/native/CPUFallback.h>
#include <ATen/ops/as_strided_native.h>
#include <ATen/ops/view_native.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <sys/mman.h>
#include <torch/library.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstring>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

namespace plateau::train::far {

inline constexpr const char* kName = "far";

inline c10::Device here() {
  return {c10::DeviceType::PrivateUse1, 0};
}

// One range of addresses that all blocks are cut from, of sizes that are powers of two: it opens
// and closes by one call to the kernel.
class Memory final : public c10::Allocator {
 public:
  static Memory& the() {
    static auto* const kMemory = new Memory();  // Outlives every tensor.
    return *kMemory;
  }

  c10::DataPtr allocate(size_t bytes) override {
    if (bytes == 0) return {nullptr, nullptr, &drop, here()};
    const size_t whole = std::bit_ceil(std::max(bytes, kAlignment));
    const std::lock_guard<std::mutex> lock(mutex_);
    std::vector<std::byte*>& free = free_[whole];
    std::byte* block = start_ + used_;
    if (free.empty()) {
      TORCH_CHECK(used_ + whole <= kBytes, "the far device is full");
      used_ += whole;
    } else {
      block = free.back();
      free.pop_back();
    }
    sizes_[block] = whole;
    return {block, block, &drop, here()};
  }
  c10::DeleterFnPtr raw_deleter() const override { return &drop; }
  void copy_data(void* to, const void* from, size_t bytes) const override {
    const Opened opened;
    std::memcpy(to, from, bytes);
  }

  // Blocks can be touched while one of these lives.
  class Opened {
   public:
    Opened() { the().open(1); }
    ~Opened() { the().open(-1); }
    Opened(const Opened&) = delete;
    Opened& operator=(const Opened&) = delete;
  };

 private:
  static constexpr size_t kBytes = size_t{1} << 28;  // Many times what a tiny model needs.
  static constexpr size_t kAlignment = 64;           // LibTorch's own.

  Memory()
      : start_(static_cast<std::byte*>(::mmap(
            nullptr, kBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0))) {}

  void open(int more) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const bool was_open = open_ > 0;
    open_ += more;
    if (was_open == (open_ > 0)) return;
    ::mprotect(start_, kBytes, open_ > 0 ? PROT_READ | PROT_WRITE : PROT_NONE);
  }
  static void drop(void* block) {
    if (block == nullptr) return;
    const std::lock_guard<std::mutex> lock(the().mutex_);
    auto* const address = static_cast<std::byte*>(block);
    the().free_[the().sizes_.at(address)].push_back(address);
    the().sizes_.erase(address);
  }

  std::mutex mutex_;
  std::byte* start_;
  size_t used_ = 0;
  std::map<std::byte*, size_t> sizes_;              // Of blocks in use.
  std::map<size_t, std::vector<std::byte*>> free_;  // By their size.
  int open_ = 0;
};

// The same memory as a tensor of the CPU: only while it is open.
inline at::Tensor seen_by_host(const at::Tensor& tensor) {
  if (tensor.is_cpu()) return tensor;
  return at::for_blob(tensor.data_ptr(), tensor.sizes())
      .strides(tensor.strides())
      .options(at::TensorOptions(tensor.scalar_type()))
      .make_tensor();
}

inline at::Tensor empty(at::IntArrayRef sizes, std::optional<at::ScalarType> type,
                        std::optional<at::Layout> /*layout*/, std::optional<at::Device> /*device*/,
                        std::optional<bool> /*pin*/, std::optional<at::MemoryFormat> format) {
  return at::detail::empty_generic(sizes, &Memory::the(),
                                   c10::DispatchKeySet(c10::DispatchKey::PrivateUse1),
                                   type.value_or(at::kFloat), format);
}

inline at::Tensor empty_strided(at::IntArrayRef sizes, at::IntArrayRef strides,
                                std::optional<at::ScalarType> type,
                                std::optional<at::Layout> /*layout*/,
                                std::optional<at::Device> /*device*/, std::optional<bool> /*pin*/) {
  return at::detail::empty_strided_generic(sizes, strides, &Memory::the(),
                                           c10::DispatchKeySet(c10::DispatchKey::PrivateUse1),
                                           type.value_or(at::kFloat));
}

inline at::Tensor copy_from(const at::Tensor& from, const at::Tensor& to, bool /*non_blocking*/) {
  const Memory::Opened opened;
  seen_by_host(to).copy_(seen_by_host(from));
  return to;
}

inline at::Tensor copy_from_and_resize(const at::Tensor& from, const at::Tensor& to) {
  if (to.sizes() != from.sizes()) to.resize_(from.sizes());
  return copy_from(from, to, false);
}

inline const at::Tensor& resize(const at::Tensor& self, c10::SymIntArrayRef sizes,
                                std::optional<at::MemoryFormat> /*format*/) {
  const at::IntArrayRef wanted = C10_AS_INTARRAYREF_SLOW(sizes);
  const auto bytes = static_cast<size_t>(c10::multiply_integers(wanted)) * self.itemsize();
  c10::TensorImpl* own = self.unsafeGetTensorImpl();
  if (own->storage().nbytes() < bytes + own->storage_offset() * self.itemsize()) {
    own->storage().set_data_ptr_noswap(Memory::the().allocate(bytes));
    own->storage().set_nbytes(bytes);
  }
  own->set_sizes_contiguous(wanted);
  return self;
}

inline at::Scalar item(const at::Tensor& self) {
  const Memory::Opened opened;
  return seen_by_host(self).item();
}

inline at::Tensor as_strided(const at::Tensor& self, c10::SymIntArrayRef sizes,
                             c10::SymIntArrayRef strides, std::optional<c10::SymInt> offset) {
  return at::native::as_strided_tensorimpl(
      self, C10_AS_INTARRAYREF_SLOW(sizes), C10_AS_INTARRAYREF_SLOW(strides),
      offset ? std::optional<int64_t>(offset->expect_int()) : std::nullopt);
}
inline at::Tensor view(const at::Tensor& self, c10::SymIntArrayRef sizes) {
  return at::native::view(self, C10_AS_INTARRAYREF_SLOW(sizes));
}

// Everything else: LibTorch copies what comes in to the CPU, computes, and copies back.
inline void by_the_cpu(const c10::OperatorHandle& operation, torch::jit::Stack* stack) {
  // Tensors of two devices are refused as a GPU refuses them; single numbers may be of the host.
  for (const c10::IValue& value : *stack) {
    if (!value.isTensor() || !value.toTensor().defined()) continue;
    TORCH_CHECK(value.toTensor().device() == here() || value.toTensor().dim() == 0,
                operation.schema().name(), ": a tensor on ", value.toTensor().device(),
                " beside one on ", here());
  }
  const Memory::Opened opened;
  at::native::cpu_fallback(operation, stack, /*error_on_views=*/true);
}

struct Hooks final : at::PrivateUse1HooksInterface {
  bool isBuilt() const override { return true; }
  bool isAvailable() const override { return true; }
  bool hasPrimaryContext(c10::DeviceIndex /*index*/) const override { return true; }
  c10::DeviceIndex deviceCount() const override { return 1; }
  c10::DeviceIndex getCurrentDevice() const override { return 0; }
  // The same numbers as on the CPU, so that dropout can be compared.
  const at::Generator& getDefaultGenerator(c10::DeviceIndex /*index*/) const override {
    return at::detail::getDefaultCPUGenerator();
  }
};

// One device, one stream, nothing to wait for.
struct Guard final : c10::impl::NoOpDeviceGuardImpl<c10::DeviceType::PrivateUse1> {
  c10::Device exchangeDevice(c10::Device /*device*/) const override { return here(); }
  c10::Device getDevice() const override { return here(); }
  c10::Stream getStream(c10::Device /*device*/) const noexcept override { return only(); }
  c10::Stream getDefaultStream(c10::Device /*device*/) const override { return only(); }
  c10::Stream exchangeStream(c10::Stream /*stream*/) const noexcept override { return only(); }
  void record(void** /*event*/, const c10::Stream& /*stream*/, c10::DeviceIndex /*index*/,
              c10::EventFlag /*flag*/) const override {}
  void block(void* /*event*/, const c10::Stream& /*stream*/) const override {}
  bool queryEvent(void* /*event*/) const override { return true; }
  static c10::Stream only() { return c10::Stream(c10::Stream::DEFAULT, here()); }
};

// Lets `--device far` be: its name for ModelOptions::device.
inline const char* add_device() {
  [[maybe_unused]] static const bool kAdded = [] {
    c10::register_privateuse1_backend(kName);
    at::RegisterPrivateUse1HooksInterface(new Hooks());  // LibTorch keeps it for good.
    return true;
  }();
  return kName;
}

C10_REGISTER_GUARD_IMPL(PrivateUse1, Guard)

TORCH_LIBRARY_IMPL(_, PrivateUse1, library) {
  library.fallback(torch::CppFunction::makeFromBoxedFunction<&by_the_cpu>());
}
TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  library.impl("empty.memory_format", &empty);
  library.impl("empty_strided", &empty_strided);
  library.impl("_copy_from", &copy_from);
  library.impl("_copy_from_and_resize", &copy_from_and_resize);
  library.impl("resize_", &resize);
  library.impl("_local_scalar_dense", &item);
  library.impl("as_strided", &as_strided);
  library.impl("_reshape_alias",
               [](const at::Tensor& self, c10::SymIntArrayRef sizes, c10::SymIntArrayRef strides) {
                 return as_strided(self, sizes, strides, std::nullopt);
               });
  library.impl("view", &view);
}

}  // namespace plateau::train::far
