// SPDX-License-Identifier: Apache-2.0
// Whatever stands in a file of tensors: an error with a message, or views that lie inside the file,
// side by side, each as long as its shape says.
#include "import_fuzz.h"
#include "trainer/store/safetensors.h"

namespace {

void check(std::string_view bytes) {
  using plateau::require;
  const auto file = std::as_bytes(std::span(bytes.data(), bytes.size()));
  const auto header = plateau::train::parse_safetensors(file, "fuzz");
  if (!header.ok()) {
    require(header.error().message.starts_with("fuzz: "), "an error names the file");
    return;
  }
  const std::byte* end = nullptr;
  size_t total = 0;
  unsigned sum = 0;
  for (const auto& tensor : header.value().tensors) {
    require(end == nullptr || tensor.bytes.data() == end, "tensors stand side by side");
    require(tensor.bytes.size() == static_cast<size_t>(tensor.elements()) * bytes_of(tensor.dtype),
            "a tensor is as long as its shape says");
    for (const std::byte byte : tensor.bytes) sum += static_cast<unsigned>(byte);
    end = tensor.bytes.data() + tensor.bytes.size();
    total += tensor.bytes.size();
  }
  require(total <= bytes.size(), "tensors lie inside the file");
  require(end == nullptr || end == file.data() + file.size(), "the last one ends the file");
  volatile unsigned keep = sum;
  (void)keep;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  check(bytes);
  // The same as JSON with a length that fits, and data up to the first bar, or no mutation of the
  // header would ever keep its length.
  const size_t bar = std::min(bytes.find('|'), bytes.size());
  std::string framed(8, '\0');
  for (size_t i = 0; i < 8; ++i) framed[i] = static_cast<char>(bar >> (8 * i));
  framed += bytes.substr(0, bar);
  if (bar < bytes.size()) framed += bytes.substr(bar + 1);
  check(framed);
  return 0;
}
