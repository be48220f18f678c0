// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "http/client.h"

namespace plateau {
namespace {

struct Parts {
  std::string_view scheme;     // "https"
  std::string_view authority;  // "user:password@host:8443"
  std::string_view rest;       // Path, query, fragment.
};

Parts parts_of(std::string_view url) {
  const size_t colon = url.find("://");
  if (colon == std::string_view::npos) return {"", "", url};
  const std::string_view behind = url.substr(colon + 3);
  const size_t end = std::min(behind.find_first_of("/?#\\"), behind.size());
  return {url.substr(0, colon), behind.substr(0, end), behind.substr(end)};
}

std::string_view host_of(std::string_view authority) {
  const size_t at = authority.rfind('@');
  return at == std::string_view::npos ? authority : authority.substr(at + 1);
}

bool is_plain(char c) {
  return static_cast<unsigned char>(c) > 0x20 && c != 0x7f;
}

}  // namespace

Result<void> check_url(std::string_view url) {
  const Parts parts = parts_of(url);
  if (!equal_ignoring_case(parts.scheme, "http") && !equal_ignoring_case(parts.scheme, "https")) {
    return usage_error("an address begins with http:// or https://");
  }
  if (host_of(parts.authority).empty()) return usage_error("the address names no host");
  if (!std::all_of(url.begin(), url.end(), is_plain)) {
    return usage_error("the address holds a space or a control character; write it as %20");
  }
  return {};
}

Result<void> check_header(std::string_view header) {
  const size_t colon = header.find(':');
  const std::string_view name = header.substr(0, std::min(colon, header.size()));
  const bool named = colon != std::string_view::npos && !name.empty() &&
                     std::all_of(name.begin(), name.end(), is_plain);
  const bool one_line = header.find_first_of(std::string_view("\r\n\0", 3)) == header.npos;
  if (named && one_line) return {};
  return usage_error("a header is one line 'Name: value'");
}

std::string origin_of(std::string_view url) {
  const Parts parts = parts_of(url);
  if (parts.scheme.empty()) return "(no address)";
  const bool more = !parts.rest.empty() && parts.rest != "/";
  std::string origin =
      fmt::format("{}://{}{}", parts.scheme, host_of(parts.authority), more ? "/…" : "");
  std::erase_if(origin, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
  return origin;
}

}  // namespace plateau
