// SPDX-License-Identifier: Apache-2.0
// The address a server listens at: understood, bound, and told back.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/fd.h"
#include "base/result.h"

namespace plateau {

struct ListenAddress {
  std::string address;  // "127.0.0.1", "::1", "0.0.0.0"
  uint16_t port = 0;    // 0: the kernel picks one.
};

// "127.0.0.1:7528", "[::1]:7528", "localhost:7528"; "7528" and ":7528" are on loopback, an address
// alone takes `default_port`. Names other than localhost are refused: which of their addresses was
// meant would be a guess.
Result<ListenAddress> parse_listen(std::string_view text, uint16_t default_port);

// Does `address` reach this machine only? 127.0.0.0/8, ::1 or localhost.
bool is_loopback(const std::string& address);

// A socket that listens, non-blocking. `port` becomes the one that was bound. Fails with a sentence
// that says what to try; Error::Kind::not_found if the port is taken, usage otherwise.
Result<Fd> listen_at(ListenAddress& address);

// "http://127.0.0.1:7528/"; for an address that means all, by the machine's name.
std::string url_of(const ListenAddress& address);

}  // namespace plateau
