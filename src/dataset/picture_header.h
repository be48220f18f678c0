// SPDX-License-Identifier: Apache-2.0
// What the bytes of a picture say of it, without a decoder: format, size, and whether all of it is
// there.
//
// PNG: every chunk and its checksum up to the end chunk. JPEG: every segment and scan up to the end
// marker. WebP and BMP: the length that the header states. GIF: its blocks up to the trailer. Blind
// spot: pixels inside an intact frame; a JPEG whose coefficients are garbage passes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace plateau {

struct PictureFacts {
  std::string_view format;  // "JPEG".
  int64_t width = 0;
  int64_t height = 0;
};

// `is_whole`: the bytes are all there are, so that a picture that goes on behind them is cut off;
// else only the header is judged. The error is a phrase: "cut off: no end of image".
Result<PictureFacts> picture_facts(std::string_view bytes, bool is_whole);

}  // namespace plateau
