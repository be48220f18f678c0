// SPDX-License-Identifier: Apache-2.0
#include "words/site_words.h"

#include "words/finding_table.h"

namespace plateau {

std::string site_words(const SiteVerdict& verdict) {
  return plain(tell(verdict.why, Telling{.clock = verdict.clock,
                                         .explanations = verdict.explanations,
                                         .counts = verdict.unit == SeriesUnit::count}));
}

}  // namespace plateau
