// SPDX-License-Identifier: Apache-2.0
// Accepts connections and holds each until the head of its first request is whole (first_head.h):
// then it goes to libmicrohttpd, or is answered in JSON and let go.
//
// Nothing is taken from a socket until then: the bytes are peeked at, and the kernel is asked to
// wake us only when there are more (SO_RCVLOWAT). Who dawdles past the deadline is let go without a
// word; when too many wait, the one that has waited longest goes. One thread, never blocks.
#pragma once

#include <poll.h>
#include <sys/socket.h>

#include <cstddef>
#include <list>
#include <utility>
#include <vector>

#include "base/fd.h"

namespace plateau {

class Doorman {
 public:
  static constexpr size_t kMost = 256;

  struct Guest {
    Fd socket;
    sockaddr_storage address{};
    socklen_t address_size = sizeof(sockaddr_storage);
    double since_s = 0;
  };

  Doorman() = default;
  explicit Doorman(Fd listener) : listener_(std::move(listener)) {}

  // Adds what is to be waited for.
  void add_to(std::vector<pollfd>& polled) const;
  // Accepts who is there. Returns those whose request may be understood; `refused` gets the status
  // of each answer that was given here.
  std::vector<Guest> look(double now_s, double ask_s, std::vector<unsigned>& refused);

 private:
  void accept_all(double now_s);

  Fd listener_;
  std::list<Guest> guests_;  // In the order in which they came.
};

}  // namespace plateau
