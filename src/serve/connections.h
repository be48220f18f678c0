// SPDX-License-Identifier: Apache-2.0
// Who is connected, and for how long they may dawdle.
//
// libmicrohttpd ends a connection on which nothing happens. One that sends a byte every few seconds
// is never idle, so whole requests and whole answers have deadlines too. When nearly all places are
// taken, the connection that has kept its place longest without asking anything gives it up: many
// slow clients cannot lock out a quick one.
//
// Ends connections by shutting their sockets down, which the library notices. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <string_view>

namespace plateau {

class Connections {
 public:
  static constexpr size_t kMost = 256;
  static constexpr size_t kSpare = 32;  // Places that are kept free of those who ask nothing.
  static constexpr double kAskS = 20;
  static constexpr double kAnswerS = 120;

  enum class Doing : uint8_t { asking, answering, streaming };
  struct Connection {
    int socket = -1;
    Doing doing = Doing::asking;
    double since_s = 0;
    bool shut = false;
    bool waited = false;                // The request has slept (waiting.h),
    bool look_again = false;            // and may have to do so again.
    std::string_view bad_address;       // Why the request's address is refused; empty if it is not.
    const char* address_end = nullptr;  // Where it ends as text.
    std::list<Connection>::iterator place;
  };

  // The address stays the same until leave().
  Connection* arrive(int socket, double now_s);
  void leave(Connection* connection);
  static void note(Connection& connection, Doing doing, double now_s);
  // Ends those past their deadline. True if there were any.
  bool expire(double now_s, double ask_s = kAskS, double answer_s = kAnswerS);

  [[nodiscard]] size_t size() const { return connections_.size(); }

 private:
  static void shut(Connection& connection);
  void make_room();

  std::list<Connection> connections_;  // In the order in which they came.
};

}  // namespace plateau
