// SPDX-License-Identifier: Apache-2.0
#include "serve/listener.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <optional>

#include "base/text.h"

namespace plateau {
namespace {

constexpr int kBacklog = 128;

struct Endpoint {
  sockaddr_storage storage = {};
  socklen_t size = 0;
};

// Numeric addresses only.
std::optional<Endpoint> endpoint_of(const ListenAddress& address) {
  Endpoint endpoint;
  sockaddr_in four = {};
  if (inet_pton(AF_INET, address.address.c_str(), &four.sin_addr) == 1) {
    four.sin_family = AF_INET;
    four.sin_port = htons(address.port);
    std::memcpy(&endpoint.storage, &four, sizeof four);
    endpoint.size = sizeof four;
    return endpoint;
  }
  sockaddr_in6 six = {};
  if (inet_pton(AF_INET6, address.address.c_str(), &six.sin6_addr) == 1) {
    six.sin6_family = AF_INET6;
    six.sin6_port = htons(address.port);
    std::memcpy(&endpoint.storage, &six, sizeof six);
    endpoint.size = sizeof six;
    return endpoint;
  }
  return std::nullopt;
}

uint16_t bound_port(int socket) {
  sockaddr_storage storage = {};
  socklen_t size = sizeof storage;
  if (getsockname(socket, reinterpret_cast<sockaddr*>(&storage), &size) != 0) return 0;
  if (storage.ss_family == AF_INET6) {
    sockaddr_in6 six = {};
    std::memcpy(&six, &storage, sizeof six);
    return ntohs(six.sin6_port);
  }
  sockaddr_in four = {};
  std::memcpy(&four, &storage, sizeof four);
  return ntohs(four.sin_port);
}

std::string bracketed(const std::string& address) {
  return address.find(':') == std::string::npos ? address : "[" + address + "]";
}

Error why_not(const ListenAddress& address, int error) {
  const std::string where = fmt::format("{}:{}", bracketed(address.address), address.port);
  if (error == EADDRINUSE) {
    return {Error::Kind::not_found,
            fmt::format("{} is in use; give another port with --listen, or port 0 for any", where)};
  }
  if (error == EACCES) {
    return {Error::Kind::usage,
            fmt::format("no permission to listen at {}; ports below 1024 are reserved", where)};
  }
  if (error == EADDRNOTAVAIL) {
    return {Error::Kind::usage,
            fmt::format("{} is no address of this machine; 'ip address' lists them", where)};
  }
  return {Error::Kind::usage, fmt::format("cannot listen at {}: {}", where, strerror(error))};
}

Error not_understood(std::string_view text) {
  return {Error::Kind::usage,
          fmt::format("'{}' is no ADDRESS:PORT such as 127.0.0.1:7528 or [::1]:7528", text)};
}

std::optional<uint16_t> port_of(std::string_view text) {
  if (text.empty() || !is_digit(text.front())) return std::nullopt;
  const std::optional<int64_t> port = parse_int(text);
  if (!port || *port < 0 || *port > 65535) return std::nullopt;
  return static_cast<uint16_t>(*port);
}

}  // namespace

Result<ListenAddress> parse_listen(std::string_view text, uint16_t default_port) {
  ListenAddress result = {"127.0.0.1", default_port};
  std::string_view address = text;
  std::optional<std::string_view> port;
  if (text.starts_with('[')) {
    const size_t end = text.find(']');
    if (end == std::string_view::npos) return not_understood(text);
    address = text.substr(1, end - 1);
    const std::string_view rest = text.substr(end + 1);
    if (!rest.empty() && rest[0] != ':') return not_understood(text);
    if (!rest.empty()) port = rest.substr(1);
  } else if (const size_t colon = text.rfind(':'); colon != std::string_view::npos) {
    // Two colons without brackets: an IPv6 address alone.
    if (text.find(':') == colon) {
      address = text.substr(0, colon);
      port = text.substr(colon + 1);
    }
  } else if (port_of(text)) {
    address = "";
    port = text;
  }
  if (port) {
    const std::optional<uint16_t> number = port_of(*port);
    if (!number) return not_understood(text);
    result.port = *number;
  }
  if (!address.empty() && !equal_ignoring_case(address, "localhost")) result.address = address;
  if (text.empty() || !endpoint_of(result)) return not_understood(text);
  return result;
}

bool is_loopback(const std::string& address) {
  if (equal_ignoring_case(address, "localhost")) return true;
  in_addr four = {};
  if (inet_pton(AF_INET, address.c_str(), &four) == 1) return (ntohl(four.s_addr) >> 24U) == 127;
  in6_addr six = {};
  return inet_pton(AF_INET6, address.c_str(), &six) == 1 && IN6_IS_ADDR_LOOPBACK(&six);
}

Result<Fd> listen_at(ListenAddress& address) {
  if (equal_ignoring_case(address.address, "localhost")) address.address = "127.0.0.1";
  const std::optional<Endpoint> endpoint = endpoint_of(address);
  if (!endpoint) return not_understood(address.address);
  Fd socket(::socket(endpoint->storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket) return why_not(address, errno);
  const int yes = 1;
  setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  const auto* where = reinterpret_cast<const sockaddr*>(&endpoint->storage);
  if (bind(socket.get(), where, endpoint->size) != 0 || listen(socket.get(), kBacklog) != 0) {
    return why_not(address, errno);
  }
  address.port = bound_port(socket.get());
  return socket;
}

std::string url_of(const ListenAddress& address) {
  std::string host = bracketed(address.address);
  if (address.address == "0.0.0.0" || address.address == "::") {
    std::array<char, 256> name{};
    if (gethostname(name.data(), name.size() - 1) == 0 && name[0] != '\0') host = name.data();
  }
  return fmt::format("http://{}:{}/", host, address.port);
}

}  // namespace plateau
