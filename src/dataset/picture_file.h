// SPDX-License-Identifier: Apache-2.0
// A picture by what a dataset says of it: a path, a file: or data: URL, or one that must be
// fetched.
#pragma once

#include <cstdint>
#include <string>

#include "dataset/picture_header.h"

namespace plateau {

struct PictureLook {
  enum class State : uint8_t { fine, missing, broken, remote } state = State::fine;
  PictureFacts facts;
  std::string text;  // What is wrong, with the picture's name.
};

// Relative paths lead from `base`. Whole files are read only if `reads_whole`; else their first
// 256 kB. Nothing is fetched from a network, and only regular files are opened for reading.
PictureLook look_at_picture(const std::string& reference, const std::string& base,
                            bool reads_whole);

}  // namespace plateau
