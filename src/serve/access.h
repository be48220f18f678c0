// SPDX-License-Identifier: Apache-2.0
// Who may ask: the token, and the name by which the server was asked for.
//
// A loopback address is reached by whoever is on the machine, and by web pages: a page of any site
// can make its own name point at 127.0.0.1 and then read answers as its own (DNS rebinding). Such a
// request still carries that site's name in Host, so on loopback only names of this machine are
// answered. Every other address asks for a token, whatever the name.
//
// Pure, but for make_token(), which asks the kernel for random bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace plateau {

struct AccessRules {
  std::string token;        // Empty: none is asked for.
  bool local_only = false;  // Only names of this machine in Host.
};

// What a request brings along; absent ones are empty.
struct Credentials {
  std::string_view host;
  std::string_view authorization;
  std::string_view query_token;
  std::string_view cookie_token;
};

enum class Admission : uint8_t {
  welcome,
  welcome_by_query,  // Right token in the address: give it a cookie.
  wrong_host,
  no_token,
};
Admission admit(const AccessRules& rules, const Credentials& credentials);

// Is `host` ("localhost:8080", "127.0.0.1", "[::1]:80") this machine by its loopback name? An
// absent one passes: browsers always send it.
bool is_local_host(std::string_view host);

// "abc" of "Bearer abc"; nullopt for another scheme.
std::optional<std::string_view> bearer_token(std::string_view authorization);

// Compares without telling by the time it takes where the first difference is.
bool same_secret(std::string_view a, std::string_view b);

// 128 random bits as 32 hexadecimal digits.
Result<std::string> make_token();

// Can `token` stand in an address and a cookie as it is, and is it hard to guess? Letters, digits,
// "-._~", at least 16 with 8 different ones, and none of the words that everybody tries.
bool is_usable_token(std::string_view token);

}  // namespace plateau
