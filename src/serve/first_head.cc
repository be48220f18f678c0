// SPDX-License-Identifier: Apache-2.0
#include "serve/first_head.h"

#include <algorithm>

#include "base/text.h"

namespace plateau {
namespace {

constexpr size_t kLongestMethod = 24;
constexpr size_t kMostEmptyLines = 4;  // Before the request: some clients send one.
constexpr size_t kMostLengthDigits = 18;
// Each takes some dozen bytes of what the library has for a connection; then it answers by itself.
constexpr size_t kMostHeaders = 128;
constexpr ptrdiff_t kMostArguments = 128;

FirstHead refused(unsigned status, std::string_view why) {
  return {FirstHead::Kind::refused, status, why};
}

bool is_control(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return (byte < 0x20 && byte != '\t') || byte == 0x7f;
}

bool is_method(std::string_view word) {
  return !word.empty() && word.size() <= kLongestMethod &&
         std::all_of(word.begin(), word.end(),
                     [](char c) { return (c >= 'A' && c <= 'Z') || c == '-' || c == '_'; });
}

// One line without its end; false if none is whole yet.
bool take_line(std::string_view& rest, std::string_view& line) {
  const size_t end = rest.find('\n');
  if (end == std::string_view::npos) return false;
  line = rest.substr(0, end);
  if (line.ends_with('\r')) line.remove_suffix(1);
  rest.remove_prefix(end + 1);
  return true;
}

// "GET /api/runs HTTP/1.1", with one blank between.
FirstHead look_at_request_line(std::string_view line) {
  constexpr std::string_view kNoHttp = "this is no HTTP request";
  if (std::any_of(line.begin(), line.end(), is_control)) return refused(400, kNoHttp);
  const size_t first = line.find(' ');
  const size_t last = line.rfind(' ');
  if (first == std::string_view::npos || last == first) return refused(400, kNoHttp);
  const std::string_view target = line.substr(first + 1, last - first - 1);
  const std::string_view version = line.substr(last + 1);
  if (!is_method(line.substr(0, first)) || target.empty() ||
      target.find(' ') != std::string_view::npos) {
    return refused(400, kNoHttp);
  }
  if (std::count(target.begin(), target.end(), '&') >= kMostArguments) {
    return refused(414, "the address has too many arguments");
  }
  if (!version.starts_with("HTTP/")) return refused(400, kNoHttp);
  if (version != "HTTP/1.1" && version != "HTTP/1.0") {
    return refused(505, "only HTTP/1.1 is spoken here");
  }
  return {FirstHead::Kind::fine, 0, ""};
}

FirstHead look_at_header(std::string_view line) {
  const size_t colon = line.find(':');
  const std::string_view name = line.substr(0, std::min(colon, line.size()));
  const bool malformed = colon == std::string_view::npos || name.empty() ||
                         name.find_first_of(" \t") != std::string_view::npos ||
                         std::any_of(line.begin(), line.end(), is_control);
  if (malformed) return refused(400, "a header of the request is malformed");
  // Nothing that is asked here has a body, and the library answers a bad coding by itself.
  if (equal_ignoring_case(name, "transfer-encoding")) {
    return refused(400, "a request with a transfer coding is not taken");
  }
  if (equal_ignoring_case(name, "content-length")) {
    const std::string_view length = trim(line.substr(colon + 1));
    const bool number = !length.empty() && length.size() <= kMostLengthDigits &&
                        std::all_of(length.begin(), length.end(), is_digit);
    if (!number) return refused(400, "the length of the request is no number");
  }
  return {FirstHead::Kind::fine, 0, ""};
}

// A request line that is not whole yet may still be one.
bool may_become_request(std::string_view part) {
  if (std::any_of(part.begin(), part.end(), [](char c) { return is_control(c) && c != '\r'; })) {
    return false;
  }
  const std::string_view method = part.substr(0, std::min(part.find(' '), part.size()));
  return part.empty() || part == "\r" || is_method(method);
}

}  // namespace

FirstHead look_at_first_head(std::string_view bytes) {
  const bool too_long = bytes.size() >= kMostFirstHead;
  std::string_view rest = bytes;
  std::string_view line;
  bool whole = take_line(rest, line);
  for (size_t empty = 0; whole && line.empty(); whole = take_line(rest, line)) {
    if (++empty > kMostEmptyLines) return refused(400, "this is no HTTP request");
  }
  if (!whole) {
    if (!may_become_request(rest)) return refused(400, "this is no HTTP request");
    if (too_long) return refused(414, "the address is too long");
    return {};
  }
  if (const FirstHead head = look_at_request_line(line); head.kind == FirstHead::Kind::refused) {
    return head;
  }
  for (size_t headers = 0; take_line(rest, line); ++headers) {
    if (headers > kMostHeaders) return refused(431, "the request has too many headers");
    if (line.empty()) return {FirstHead::Kind::fine, 0, ""};
    if (const FirstHead head = look_at_header(line); head.kind == FirstHead::Kind::refused) {
      return head;
    }
  }
  if (too_long) return refused(431, "the head of the request is too long");
  return {};
}

}  // namespace plateau
