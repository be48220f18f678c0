// SPDX-License-Identifier: Apache-2.0
#include "base/fd.h"

#include <algorithm>
#include <vector>

namespace plateau {

void close_all_but(unsigned first, std::initializer_list<int> kept) {
  std::vector<unsigned> fds(kept.begin(), kept.end());
  std::sort(fds.begin(), fds.end());
  for (const unsigned fd : fds) {
    if (fd > first) close_range(first, fd - 1, 0);
    first = std::max(first, fd + 1);
  }
  close_range(first, ~0U, 0);
}

}  // namespace plateau
