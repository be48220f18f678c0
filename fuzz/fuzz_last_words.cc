// SPDX-License-Identifier: Apache-2.0
// Any bytes as a line of output: what is found is what a plain search finds, the quote is harmless
// and bounded, and figures are amounts.
#include <cmath>
#include <cstdlib>
#include <string_view>

#include "recording/last_words.h"

namespace {

void require(bool truth) {
  if (!truth) std::abort();
}

void check_figures(std::string_view line) {
  const plateau::LastWordsFigures figures = plateau::figures_of(line);
  for (const auto& mb :
       {figures.asked_mb, figures.capacity_mb, figures.free_mb, figures.unused_mb}) {
    require(!mb || (std::isfinite(*mb) && *mb >= 0));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view line(reinterpret_cast<const char*>(data), size);
  const auto words = plateau::find_last_words(line);
  // The jumps pass over nothing: these are in the table as they are.
  for (const std::string_view phrase : {"MemoryError", "CUDA out of memory", "std::bad_alloc"}) {
    const size_t at = line.substr(0, 8192).find(phrase);
    if (at == std::string_view::npos || line.substr(0, at).find("except") != line.npos) continue;
    require(words.has_value());
  }
  check_figures(line);
  if (!words) return 0;
  require(words->at < line.size());
  const std::string_view part = plateau::worth_quoting(line, *words);
  require(part.size() <= plateau::kMostQuoted);
  const std::string quote = plateau::quote_of(part);
  require(quote.size() <= plateau::kMostQuoted + 3);
  for (const char c : quote) require(static_cast<unsigned char>(c) >= 0x20 && c != 0x7f);
  return 0;
}
