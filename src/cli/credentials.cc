// SPDX-License-Identifier: Apache-2.0
#include "cli/credentials.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/files.h"
#include "base/text.h"
#include "http/client.h"
#include "page/pack.h"

namespace plateau {
namespace {

constexpr size_t kMostSecret = 64UL * 1024;

// The whole of a secret's file without the line end that editors add.
Result<std::string> secret_of(const std::string& file) {
  int error = 0;
  const std::string text = read_file_at(AT_FDCWD, file, error, kMostSecret);
  if (error != 0) return usage_error(fmt::format("{}: {}", file, strerror(error)));
  const std::string secret(trim(text));
  if (secret.empty()) return usage_error(file + " is empty");
  return secret;
}

// From the file that the option names, or from the environment; "" if there is neither.
Result<std::string> secret_from(const Arguments& arguments, const std::string& option,
                                const std::string& variable) {
  if (const std::optional<std::string> file = arguments.text(option)) return secret_of(*file);
  const char* value = std::getenv(variable.c_str());
  return std::string(value == nullptr ? "" : trim(value));
}

std::optional<Error> add_header_file(const std::string& file, std::vector<std::string>& headers) {
  const Result<std::string> lines = secret_of(file);
  if (!lines) return lines.error();
  std::string_view rest = lines.value();
  while (!rest.empty()) {
    const std::string_view line = trim(take_part(rest, '\n'));
    if (!line.empty()) headers.emplace_back(line);
  }
  return std::nullopt;
}

}  // namespace

Options credential_options(const std::string& prefix, const std::string& variables) {
  return {option(prefix + "bearer-file", Takes::file, "FILE",
                 fmt::format("Send the token in FILE (default: the one in {}_BEARER).", variables)),
          option(prefix + "basic-file", Takes::file, "FILE",
                 fmt::format("Send user:password from FILE (default: {}_BASIC).", variables)),
          option(prefix + "header-file", Takes::file, "FILE",
                 "Send the headers in FILE, one per line."),
          option(prefix + "tenant", Takes::text, "NAME",
                 "Tenant to send as X-Scope-OrgID, for Mimir and Cortex."),
          option(prefix + "cert-file", Takes::file, "FILE", "Client certificate (PEM)."),
          option(prefix + "key-file", Takes::file, "FILE", "Key of the client certificate (PEM)."),
          option(prefix + "ca-file", Takes::file, "FILE",
                 "Trust the CA certificates in FILE (PEM) instead of the system's.")};
}

Result<DatabaseCredentials> credentials_of(const Arguments& arguments, const std::string& prefix,
                                           const std::string& variables) {
  DatabaseCredentials credentials;
  const Result<std::string> bearer =
      secret_from(arguments, prefix + "bearer-file", variables + "_BEARER");
  if (!bearer) return bearer.error();
  const Result<std::string> basic =
      secret_from(arguments, prefix + "basic-file", variables + "_BASIC");
  if (!basic) return basic.error();
  if (!bearer.value().empty()) {
    credentials.headers.push_back("Authorization: Bearer " + bearer.value());
  } else if (!basic.value().empty()) {
    credentials.headers.push_back("Authorization: Basic " + base64_of(basic.value()));
  }
  credentials.tenant = arguments.text(prefix + "tenant").value_or("");
  if (!credentials.tenant.empty()) {
    credentials.headers.push_back("X-Scope-OrgID: " + credentials.tenant);
  }
  if (const auto file = arguments.text(prefix + "header-file")) {
    if (std::optional<Error> error = add_header_file(*file, credentials.headers)) return *error;
  }
  for (const std::string& header : credentials.headers) {
    if (!check_header(header)) return usage_error("a header or secret is not one printable line");
  }
  credentials.certificate_file = arguments.text(prefix + "cert-file").value_or("");
  credentials.key_file = arguments.text(prefix + "key-file").value_or("");
  credentials.authority_file = arguments.text(prefix + "ca-file").value_or("");
  return credentials;
}

Result<std::string> address_without_secret(std::string url, const std::string& option,
                                           const std::string& prefix) {
  if (url.find("://") == std::string::npos) url.insert(0, "http://");
  if (const Result<void> fine = check_url(url); !fine) return fine.error();
  const size_t host = url.find("://") + 3;
  if (url.substr(host, url.find('/', host) - host).find('@') != std::string::npos) {
    return usage_error(fmt::format(
        "a password in {} is visible to everybody on this machine; put user:password into a file "
        "and give --{}basic-file",
        option, prefix));
  }
  return url;
}

}  // namespace plateau
