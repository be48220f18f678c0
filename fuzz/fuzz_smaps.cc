// SPDX-License-Identifier: Apache-2.0
// Whatever stands in smaps: parsing ends, and what was parsed adds up.
#include <cstdio>
#include <cstdlib>

#include "ledger/ledger.h"

namespace {

void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "broken: %s\n", what);
  std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  std::vector<uint64_t> stacks = plateau::stacks_above_guards(text);
  if (const auto pointer = plateau::stack_pointer_in(text)) stacks.push_back(*pointer);
  const auto parsed = plateau::parse_smaps(text, stacks);
  if (!parsed.ok()) {
    require(!parsed.error().message.empty(), "an error has a message");
    return 0;
  }
  const plateau::ResidentByMapping& r = parsed.value();
  require(r.heap + r.anonymous + r.stacks + r.file + r.file_written + r.shared + r.other == r.rss,
          "kinds add up to the whole");
  return 0;
}
