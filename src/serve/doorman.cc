// SPDX-License-Identifier: Apache-2.0
#include "serve/doorman.h"

#include <fmt/format.h>
#include <microhttpd.h>

#include <array>
#include <cerrno>
#include <string>

#include "serve/first_head.h"
#include "serve/routes.h"

namespace plateau {
namespace {

void wake_at(const Fd& socket, size_t bytes) {
  const int least = static_cast<int>(bytes);
  setsockopt(socket.get(), SOL_SOCKET, SO_RCVLOWAT, &least, sizeof least);
}

// Sends the refusal whole or not at all, and takes what has come: closing a socket with unread
// bytes would take the answer back.
void refuse(const Fd& socket, const FirstHead& head) {
  HttpReply reply = error_reply(head.status, head.why);
  add_common_headers(reply);
  std::string text = fmt::format("HTTP/1.1 {} {}\r\nConnection: close\r\n", head.status,
                                 MHD_get_reason_phrase_for(head.status));
  text += fmt::format("Content-Type: {}\r\nContent-Length: {}\r\n", reply.content_type,
                      reply.body->size());
  for (const auto& [name, value] : reply.headers) text += fmt::format("{}: {}\r\n", name, value);
  text += "\r\n" + *reply.body;
  send(socket.get(), text.data(), text.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  shutdown(socket.get(), SHUT_WR);
  std::array<char, 4096> rest;
  for (size_t taken = 0; taken < 4 * kMostFirstHead;) {
    const ssize_t got = recv(socket.get(), rest.data(), rest.size(), MSG_DONTWAIT);
    if (got <= 0) break;
    taken += static_cast<size_t>(got);
  }
}

}  // namespace

void Doorman::add_to(std::vector<pollfd>& polled) const {
  polled.push_back({listener_.get(), POLLIN, 0});
  for (const Guest& guest : guests_) polled.push_back({guest.socket.get(), POLLIN | POLLRDHUP, 0});
}

void Doorman::accept_all(double now_s) {
  for (size_t taken = 0; taken < kMost; ++taken) {
    Guest guest;
    guest.socket.reset(accept4(listener_.get(), reinterpret_cast<sockaddr*>(&guest.address),
                               &guest.address_size, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!guest.socket) return;
    guest.since_s = now_s;
    guests_.push_back(std::move(guest));
    if (guests_.size() > kMost) guests_.pop_front();
  }
}

std::vector<Doorman::Guest> Doorman::look(double now_s, double ask_s,
                                          std::vector<unsigned>& refused) {
  accept_all(now_s);
  std::vector<Guest> fine;
  std::array<char, kMostFirstHead> bytes;
  for (auto guest = guests_.begin(); guest != guests_.end();) {
    const ssize_t got =
        recv(guest->socket.get(), bytes.data(), bytes.size(), MSG_PEEK | MSG_DONTWAIT);
    const bool nothing_yet = got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
    FirstHead head;
    if (got > 0) head = look_at_first_head({bytes.data(), static_cast<size_t>(got)});
    if (head.kind == FirstHead::Kind::fine) {
      wake_at(guest->socket, 1);
      fine.push_back(std::move(*guest));
    } else if (head.kind == FirstHead::Kind::refused) {
      refuse(guest->socket, head);
      refused.push_back(head.status);
    } else if (nothing_yet || got > 0) {
      // Nothing new though it was woken: the other side sends no more.
      pollfd end = {guest->socket.get(), POLLRDHUP, 0};
      const bool gone = poll(&end, 1, 0) > 0;
      if (!gone && now_s - guest->since_s < ask_s) {
        if (got > 0) wake_at(guest->socket, static_cast<size_t>(got) + 1);
        ++guest;
        continue;
      }
    }
    guest = guests_.erase(guest);
  }
  return fine;
}

}  // namespace plateau
