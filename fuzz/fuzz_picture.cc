// SPDX-License-Identifier: Apache-2.0
// Pictures of all three formats, and base64. What decodes has the size that its header said.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string_view>

#include "trainer/image/picture.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace plateau::train;
  // Larger ones take seconds each; the limit itself has its own tests.
  constexpr int64_t kMaxPixels = 1 << 20;
  const auto bytes = std::as_bytes(std::span(data, size));
  const auto header = picture_size(bytes, "picture");
  if (!header.ok() || header.value().height * header.value().width <= kMaxPixels) {
    const auto picture = decode_picture(bytes, "picture");
    if (picture.ok()) {
      const Picture& got = picture.value();
      if (!header.ok() || got.height != header.value().height ||
          got.width != header.value().width ||
          got.rgb.size() != static_cast<size_t>(got.height * got.width * 3)) {
        std::abort();
      }
    }
  }
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto decoded = decode_base64(text, "text");
  if (decoded.ok() && decoded.value().size() > size / 4 * 3) std::abort();
  return 0;
}
