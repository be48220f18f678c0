// SPDX-License-Identifier: Apache-2.0
// Between libmicrohttpd and routes.h: what of a request's head is used, what makes it one that is
// refused. A request that two readers may understand differently is answered by neither: two Host
// headers, a length together with a transfer coding, a zero byte, a slash that is not written as
// one.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "serve/routes.h"

struct MHD_Connection;
struct MHD_Response;

namespace plateau {

// Views into what the library holds, valid for as long as the request is.
IncomingRequest request_of(MHD_Connection* connection, const char* method, const char* path,
                           const std::string& cookie);

// Why the address as it was sent ("/a%2Fb?run=%00") is refused; empty if it is not.
std::string_view refused_address(std::string_view address);

// The answer to a head that is not to be understood; nullopt if it is fine.
std::optional<HttpReply> refused_head(MHD_Connection* connection);

// Who asks: "127.0.0.1". Empty if that is not known.
std::string address_of_client(MHD_Connection* connection);

// The body of a reply as the library takes it; nullptr without memory.
MHD_Response* response_of(const HttpReply& reply);
void add_headers(MHD_Response* response, const HttpReply& reply);

}  // namespace plateau
