// SPDX-License-Identifier: Apache-2.0
#include "serve/access.h"

#include <fmt/format.h>
#include <sys/random.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <set>

#include "base/text.h"
#include "serve/listener.h"

namespace plateau {
namespace {

constexpr size_t kShortestToken = 16;
constexpr size_t kLeastDifferent = 8;
constexpr size_t kLongestToken = 256;

bool is_port(std::string_view text) {
  return !text.empty() && text.size() <= 5 && std::all_of(text.begin(), text.end(), is_digit);
}

// The name without its port; nullopt if it is not "NAME", "NAME:PORT" or "[ADDRESS]:PORT".
std::optional<std::string_view> name_of_host(std::string_view host) {
  if (host.starts_with('[')) {
    const size_t end = host.find(']');
    if (end == std::string_view::npos) return std::nullopt;
    const std::string_view rest = host.substr(end + 1);
    if (!rest.empty() && (rest[0] != ':' || !is_port(rest.substr(1)))) return std::nullopt;
    return host.substr(1, end - 1);
  }
  const size_t colon = host.find(':');
  if (colon == std::string_view::npos) return host;
  if (!is_port(host.substr(colon + 1))) return std::nullopt;
  return host.substr(0, colon);
}

}  // namespace

bool is_local_host(std::string_view host) {
  host = trim(host);
  if (host.empty()) return true;
  const std::optional<std::string_view> name = name_of_host(host);
  return name && (equal_ignoring_case(*name, "localhost") || is_loopback(std::string(*name)));
}

std::optional<std::string_view> bearer_token(std::string_view authorization) {
  const std::string_view scheme = next_word(authorization);
  if (!equal_ignoring_case(scheme, "bearer")) return std::nullopt;
  const std::string_view token = trim(authorization);
  return token.empty() ? std::nullopt : std::optional(token);
}

bool same_secret(std::string_view a, std::string_view b) {
  // The length of a secret is no secret.
  if (a.size() != b.size()) return false;
  unsigned difference = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    difference |= static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b[i]);
  }
  return difference == 0;
}

Admission admit(const AccessRules& rules, const Credentials& credentials) {
  if (rules.local_only && !is_local_host(credentials.host)) return Admission::wrong_host;
  if (rules.token.empty()) return Admission::welcome;
  const std::optional<std::string_view> bearer = bearer_token(credentials.authorization);
  if (bearer && same_secret(*bearer, rules.token)) return Admission::welcome;
  if (same_secret(credentials.query_token, rules.token)) return Admission::welcome_by_query;
  if (same_secret(credentials.cookie_token, rules.token)) return Admission::welcome;
  return Admission::no_token;
}

Result<std::string> make_token() {
  std::array<unsigned char, 16> bytes{};
  if (getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
    return Error{Error::Kind::not_found,
                 fmt::format("the kernel gives no random bytes for a token ({}); give one with "
                             "--token",
                             strerror(errno))};
  }
  std::string token;
  for (const unsigned char byte : bytes) token += fmt::format("{:02x}", byte);
  return token;
}

bool is_usable_token(std::string_view token) {
  const std::set<char> different(token.begin(), token.end());
  for (const char* word : {"password", "passwd", "12345678", "abcdefgh", "qwerty", "letmein",
                           "changeme", "plateau", "secret", "token", "admin"}) {
    if (find_ignoring_case(token, word) != std::string_view::npos) return false;
  }
  return token.size() >= kShortestToken && token.size() <= kLongestToken &&
         different.size() >= kLeastDifferent && std::all_of(token.begin(), token.end(), [](char c) {
           return is_letter(c) || is_digit(c) || c == '-' || c == '.' || c == '_' || c == '~';
         });
}

}  // namespace plateau
