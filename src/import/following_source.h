// SPDX-License-Identifier: Apache-2.0
// A log that is still being written, as a source of bytes.
//
// At the end of a file it waits for more; a file that is rotated (the name leads to another file)
// is read to its end first, then the new one from its start; one that is truncated is read from its
// start again. Standard input ends when its writer closes it. Meanwhile `so_far` is handed all that
// was read, up to the last whole line, when something new has come: at most every two seconds, and
// so rarely that looking takes no more than a twentieth of the time.
//
// Memory: the first 64 KB (a header may be there) and the latest 16 MB are kept for looking; what
// is read goes on to the reader all the same. Not synchronised.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "import/byte_source.h"

namespace plateau {

struct Following {
  bool waits = false;  // At the end of a file for more; false: only look at what comes.
  // False ends the source, as does an interrupted wait (a signal).
  std::function<bool(std::string_view so_far)> look;
};

Result<std::unique_ptr<ByteSource>> open_following(const std::string& path, Following following);

}  // namespace plateau
