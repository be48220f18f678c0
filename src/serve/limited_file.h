// SPDX-License-Identifier: Apache-2.0
// The bytes of a file that a stranger may have made: no more of them, and for no longer, than a
// server can afford.
//
// Question. A gzip of 2.5 MB unpacks to 1 GB, and a directory may hold a link to any file of the
// machine. What may be read?
//
// Method. The file is opened beneath the directory that is served (links that leave it are refused
// by the kernel, openat2), must be a regular one, and is unpacked piece by piece until it ends, has
// become too large, or has taken too long.
//
// Worked number. 256 MB of zeros unpack in a second; the bomb above is given up after those.
#pragma once

#include <cstddef>
#include <string>

#include "base/result.h"

namespace plateau {

struct ReadLimits {
  size_t plain_bytes = size_t{256} << 20;  // Unpacked.
  double seconds = 5;                      // For reading and unpacking.
};

struct LimitedBytes {
  std::string bytes;
  std::string damage;  // Why the rest could not be unpacked; empty if nothing is missing.
};

// `beneath`: the directory that `path` must not lead out of; empty: wherever it leads.
Result<LimitedBytes> read_limited(const std::string& path, const std::string& beneath,
                                  const ReadLimits& limits);

}  // namespace plateau
