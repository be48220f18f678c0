// SPDX-License-Identifier: Apache-2.0
// For tests: a server in a thread, and a client that sends any bytes it is told to.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <cstring>
#include <string>
#include <string_view>
#include <thread>

#include "base/fd.h"
#include "serve/server.h"

namespace plateau {

class ServerInThread {
 public:
  explicit ServerInThread(ServeOptions options, double farewell_s = 0)
      : stop_(eventfd(0, EFD_CLOEXEC)) {
    Result<Server> started = Server::start(std::move(options));
    if (!started) {
      ADD_FAILURE() << started.error().message;
      return;
    }
    port_ = started.value().port();
    url_ = started.value().url();
    thread_ = std::thread([server = std::move(started.value()), fd = stop_.get(),
                           farewell_s]() mutable { server.run(fd, farewell_s); });
  }
  ~ServerInThread() { stop(); }
  ServerInThread(const ServerInThread&) = delete;
  ServerInThread& operator=(const ServerInThread&) = delete;

  void stop() {
    if (!thread_.joinable()) return;
    ask_to_stop();
    thread_.join();
  }
  void ask_to_stop() const {
    const uint64_t one = 1;
    ASSERT_EQ(write(stop_.get(), &one, sizeof one), static_cast<ssize_t>(sizeof one));
  }
  [[nodiscard]] uint16_t port() const { return port_; }
  [[nodiscard]] const std::string& url() const { return url_; }

 private:
  Fd stop_;
  std::thread thread_;
  uint16_t port_ = 0;
  std::string url_;
};

// One connection. Everything waits at most kPatienceMs for the other side.
class Client {
 public:
  static constexpr int kPatienceMs =
      120000;  // Under valgrind on a busy machine a page takes half a minute.

  explicit Client(uint16_t port) : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in to = {};
    to.sin_family = AF_INET;
    to.sin_port = htons(port);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (connect(socket_.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0) {
      socket_.reset();
    }
  }

  // False once the server has closed.
  bool send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t n = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (n <= 0) return false;
      bytes.remove_prefix(static_cast<size_t>(n));
    }
    return true;
  }
  // Until `end` has come, or the server closes.
  std::string receive_until(std::string_view end) {
    while (received_.find(end) == std::string::npos && receive_some()) {
    }
    return received_;
  }
  std::string receive_all() {
    while (receive_some()) {
    }
    return received_;
  }
  // True if the server closes within our patience.
  bool is_closed_by_server() {
    while (true) {
      pollfd ready = {socket_.get(), POLLIN, 0};
      if (poll(&ready, 1, kPatienceMs) <= 0) return false;
      if (!receive_some()) return true;
    }
  }
  void vanish() { socket_.reset(); }
  void forget_received() { received_.clear(); }
  [[nodiscard]] bool connected() const { return socket_.open(); }

 private:
  bool receive_some() {
    pollfd ready = {socket_.get(), POLLIN, 0};
    if (poll(&ready, 1, kPatienceMs) <= 0) return false;
    char buffer[16384];
    const ssize_t n = recv(socket_.get(), buffer, sizeof buffer, 0);
    if (n <= 0) return false;
    received_.append(buffer, static_cast<size_t>(n));
    return true;
  }

  Fd socket_;
  std::string received_;
};

// A whole answer to one request whose connection is closed after it.
inline std::string ask(uint16_t port, const std::string& method, const std::string& path,
                       const std::string& headers = "", const std::string& host = "localhost") {
  Client client(port);
  client.send(method + " " + path + " HTTP/1.1\r\nHost: " + host + "\r\nConnection: close\r\n" +
              headers + "\r\n");
  return client.receive_all();
}

inline std::string get(uint16_t port, const std::string& path, const std::string& headers = "") {
  return ask(port, "GET", path, headers);
}

inline std::string status_of(const std::string& answer) {
  return answer.substr(0, answer.find('\r'));
}

inline std::string body_of(const std::string& answer) {
  const size_t end = answer.find("\r\n\r\n");
  return end == std::string::npos ? "" : answer.substr(end + 4);
}

}  // namespace plateau
