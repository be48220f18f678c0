// SPDX-License-Identifier: Apache-2.0
// Whether the first bytes of a connection are the head of a request that libmicrohttpd should see.
//
// The library answers what it cannot parse by itself, in HTML. Whoever speaks TLS, SSH or nonsense
// to this port, leaves a colon out of a header or sends a head without end gets the documented JSON
// instead, and the library never sees them. What is merely forbidden (two Hosts, coded slashes) is
// refused later, by http_glue.h, where the request is understood.
//
// Pure. Blind spot: only the first request of a connection comes by here; a client that has sent
// one proper request and then something else is answered by the library.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace plateau {

inline constexpr size_t kMostFirstHead = 32UL * 1024;

struct FirstHead {
  enum class Kind : uint8_t { incomplete, fine, refused };
  Kind kind = Kind::incomplete;
  unsigned status = 0;  // If it is refused,
  std::string_view why;
};

// Looks at what has come so far.
FirstHead look_at_first_head(std::string_view bytes);

}  // namespace plateau
