// SPDX-License-Identifier: Apache-2.0
// Where bytes come from: a file, standard input, or memory, read in chunks.
//
// A source is a pull: read() fills a buffer and says how many bytes it put there; 0 means the end.
// After an error the source stays at its end. One reader at a time; not synchronised.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace plateau {

using ByteProgress = std::function<void(uint64_t done, uint64_t total)>;

class ByteSource {
 public:
  virtual ~ByteSource() = default;
  // Reads at least one byte unless at the end. Requires: size > 0.
  virtual Result<size_t> read(char* buffer, size_t size) = 0;
};

// Opens `path`, or standard input for "-". Directories and unreadable files are errors that name
// the path. `progress` may be empty; it is called about once per 4 MB and at the end.
Result<std::unique_ptr<ByteSource>> open_file(const std::string& path, ByteProgress progress);

// Reads from `bytes`, which must outlive the source.
std::unique_ptr<ByteSource> open_memory(std::string_view bytes, ByteProgress progress);

// Decompresses gzip (also several members in a row) or zstd if the first bytes say so, else passes
// the bytes through. A stream that ends early or is damaged gives what could be read, then an
// error.
std::unique_ptr<ByteSource> decompress_if_needed(std::unique_ptr<ByteSource> source);

}  // namespace plateau
