// SPDX-License-Identifier: Apache-2.0
// Who we are to a database over HTTP: options and secrets, the same for `fleet` and for --push.
//
// Secrets are read from files or the environment, never from the command line, which everybody on a
// machine can read.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "command/verb.h"

namespace plateau {

struct DatabaseCredentials {
  std::vector<std::string> headers;  // Authorization, tenant, ...
  std::string tenant;                // Also among the headers.
  std::string certificate_file;
  std::string key_file;
  std::string authority_file;
};

// --bearer-file, --basic-file, --header-file, --tenant, --cert-file, --key-file and --ca-file, with
// `prefix` ("push-") in front of each; secrets that no file has are in VARIABLES_BEARER and
// VARIABLES_BASIC.
Options credential_options(const std::string& prefix, const std::string& variables);
Result<DatabaseCredentials> credentials_of(const Arguments& arguments, const std::string& prefix,
                                           const std::string& variables);

// The address that `option` gave, with http:// where it names no scheme. A password in it is
// refused.
Result<std::string> address_without_secret(std::string url, const std::string& option,
                                           const std::string& prefix);

}  // namespace plateau
