// SPDX-License-Identifier: Apache-2.0
// Bytes from a terminal to keys.
//
// A terminal sends one byte for a letter, several for an arrow, and for the escape key a byte that
// also starts an arrow. So an escape that nothing follows is held back until the caller says that
// enough time has passed (flush). Any bytes give keys: what makes no sense is one unknown key.
//
//   "q"        character q          "\x1b[A"   up         "\x1b[5~"  page_up
//   "\xc3\xa9" character U+00E9     "\x1b"     nothing yet; escape after flush()
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "report/live.h"

namespace plateau {

class KeyDecoder {
 public:
  void feed(std::string_view bytes) { bytes_ += bytes; }

  // The next whole key; nullopt if there is none yet.
  std::optional<Key> next();

  // Bytes are waiting for the rest of their key.
  [[nodiscard]] bool pending() const { return !bytes_.empty(); }

  // Nothing more is coming: what waits becomes keys. Call until it returns nullopt.
  std::optional<Key> flush();

 private:
  std::string bytes_;
};

}  // namespace plateau
