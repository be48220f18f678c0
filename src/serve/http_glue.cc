// SPDX-License-Identifier: Apache-2.0
#include "serve/http_glue.h"

#include <arpa/inet.h>
#include <microhttpd.h>
#include <netinet/in.h>

#include <array>
#include <memory>

#include "base/text.h"

namespace plateau {
namespace {

constexpr size_t kMostHeadBytes = 24UL * 1024;

std::string_view view_of(const char* text) {
  return text == nullptr ? std::string_view() : std::string_view(text);
}

struct Counts {
  int hosts = 0;
  int lengths = 0;
  int codings = 0;
  size_t bytes = 0;
};

MHD_Result count_header(void* counts, MHD_ValueKind /*kind*/, const char* key, const char* value) {
  auto& seen = *static_cast<Counts*>(counts);
  const std::string_view name = view_of(key);
  if (equal_ignoring_case(name, "host")) ++seen.hosts;
  if (equal_ignoring_case(name, "content-length")) ++seen.lengths;
  if (equal_ignoring_case(name, "transfer-encoding")) ++seen.codings;
  seen.bytes += name.size() + view_of(value).size() + 4;
  return MHD_YES;
}

void free_body(void* body) {
  delete static_cast<std::shared_ptr<const std::string>*>(body);
}

}  // namespace

MHD_Response* response_of(const HttpReply& reply) {
  auto* body = new std::shared_ptr<const std::string>(reply.body);
  // The library does not write to it; its interface predates that promise.
  MHD_Response* response = MHD_create_response_from_buffer_with_free_callback_cls(
      (*body)->size(), const_cast<char*>((*body)->data()), &free_body, body);
  if (response == nullptr) free_body(body);
  return response;
}

void add_headers(MHD_Response* response, const HttpReply& reply) {
  MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, reply.content_type.c_str());
  for (const auto& [name, value] : reply.headers) {
    MHD_add_response_header(response, name.c_str(), value.c_str());
  }
}

IncomingRequest request_of(MHD_Connection* connection, const char* method, const char* path,
                           const std::string& cookie) {
  const auto value = [connection](MHD_ValueKind kind, const char* name) {
    return view_of(MHD_lookup_connection_value(connection, kind, name));
  };
  IncomingRequest request;
  request.method = view_of(method);
  request.path = view_of(path);
  request.run = value(MHD_GET_ARGUMENT_KIND, "run");
  request.accept = value(MHD_HEADER_KIND, "Accept");
  request.accept_encoding = value(MHD_HEADER_KIND, "Accept-Encoding");
  request.credentials.host = value(MHD_HEADER_KIND, "Host");
  request.credentials.authorization = value(MHD_HEADER_KIND, "Authorization");
  request.credentials.query_token = value(MHD_GET_ARGUMENT_KIND, "token");
  request.credentials.cookie_token = value(MHD_COOKIE_KIND, cookie.c_str());
  return request;
}

std::string_view refused_address(std::string_view address) {
  if (address.size() > kMostHeadBytes) return "the address is too long";
  if (address.find("%00") != std::string_view::npos) return "the address holds a zero byte";
  const std::string_view path = address.substr(0, address.find('?'));
  for (const std::string_view coded : {"%2f", "%2F", "%5c", "%5C"}) {
    if (path.find(coded) != std::string_view::npos) return "the address holds a coded slash";
  }
  return "";
}

std::optional<HttpReply> refused_head(MHD_Connection* connection) {
  Counts seen;
  MHD_get_connection_values(connection, MHD_HEADER_KIND, &count_header, &seen);
  if (seen.hosts > 1) return error_reply(400, "more than one Host");
  if (seen.lengths > 1 || (seen.lengths > 0 && seen.codings > 0)) {
    return error_reply(400, "the length of the request is told twice");
  }
  if (seen.bytes > kMostHeadBytes) return error_reply(431, "the head of the request is too long");
  return std::nullopt;
}

std::string address_of_client(MHD_Connection* connection) {
  const MHD_ConnectionInfo* info =
      MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
  if (info == nullptr || info->client_addr == nullptr) return "";
  std::array<char, INET6_ADDRSTRLEN> text{};
  const sockaddr* address = info->client_addr;
  const void* bytes =
      address->sa_family == AF_INET6
          ? static_cast<const void*>(&reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr)
          : static_cast<const void*>(&reinterpret_cast<const sockaddr_in*>(address)->sin_addr);
  const char* made = inet_ntop(address->sa_family, bytes, text.data(), text.size());
  return made == nullptr ? "" : made;
}

}  // namespace plateau
