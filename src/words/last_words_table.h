// SPDX-License-Identifier: Apache-2.0
// What a job's complaints about memory mean, and what to try: one row a kind of
// recording/last_words.h, whose table says which message is of which kind.
#pragma once

#include <string_view>

namespace plateau {

struct LastWordsTold {
  std::string_view meaning;  // A sentence.
  std::string_view remedy;   // A sentence or two.
};

// By its name ("gpu-memory"); one of empty texts if there is none.
const LastWordsTold& last_words_told(std::string_view name);

}  // namespace plateau
