// SPDX-License-Identifier: Apache-2.0
// What of a request is read here and not by the HTTP library: the first head, Host, Authorization,
// Accept, Accept-Encoding, --listen. Whatever comes, more bytes never take back what a head was, a
// request line that is fine holds no zero byte, a token that is not the right one opens nothing,
// and a name that is not this machine's is not taken for it.
#include <cstdlib>
#include <string>
#include <string_view>

#include "serve/access.h"
#include "serve/first_head.h"
#include "serve/gzip.h"
#include "serve/listener.h"
#include "serve/metrics.h"

namespace {

constexpr const char* kToken = "right-token";

void require(bool truth) {
  if (!truth) std::abort();
}

std::string_view line_of(std::string_view& rest) {
  const size_t end = rest.find('\n');
  const std::string_view line = rest.substr(0, end);
  rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
  return line;
}

bool holds(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// A head is looked at whenever more of it has come.
void look_at_heads(std::string_view bytes) {
  using Kind = plateau::FirstHead::Kind;
  const plateau::FirstHead whole = plateau::look_at_first_head(bytes);
  const plateau::FirstHead half = plateau::look_at_first_head(bytes.substr(0, bytes.size() / 2));
  if (half.kind != Kind::incomplete) require(whole.kind == half.kind);
  if (whole.kind == Kind::fine) {
    const std::string_view line = bytes.substr(bytes.find_first_not_of("\r\n"));
    require(!holds(line.substr(0, line.find('\n')), std::string_view("\0", 1)));
  }
  if (whole.kind == Kind::refused) require(whole.status >= 400 && !whole.why.empty());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  look_at_heads(rest);
  plateau::Credentials credentials;
  credentials.host = line_of(rest);
  credentials.authorization = line_of(rest);
  credentials.query_token = line_of(rest);
  credentials.cookie_token = line_of(rest);
  const auto admission = plateau::admit({kToken, true}, credentials);
  const bool brought = holds(credentials.authorization, kToken) ||
                       credentials.query_token == kToken || credentials.cookie_token == kToken;
  if (!brought) require(admission != plateau::Admission::welcome);
  if (!brought) require(admission != plateau::Admission::welcome_by_query);
  if (holds(credentials.host, "example")) require(admission == plateau::Admission::wrong_host);

  const std::string_view accept = line_of(rest);
  if (!holds(accept, "/")) {
    require(plateau::dialect_for(accept) == plateau::Dialect::prometheus_text);
  }
  plateau::accepts_gzip(line_of(rest));
  const auto listen = plateau::parse_listen(line_of(rest), 7528);
  if (listen) require(!listen.value().address.empty());

  const std::string label = plateau::escaped_label(rest);
  for (size_t i = 0; i < label.size(); ++i) {
    require(static_cast<unsigned char>(label[i]) >= 0x20);
    if (label[i] == '\\') {
      ++i;
      require(i < label.size());
    } else {
      require(label[i] != '"');
    }
  }
  return 0;
}
