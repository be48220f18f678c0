// SPDX-License-Identifier: Apache-2.0
// What the watcher hands to the process that pushes for it, over a socket between the two: letters
// one way, remarks for the user the other.
//
// The watcher's side never waits: what the socket does not take at once stays here and goes with
// the next flush, at most kMostWaiting bytes, then the new letter is dropped and counted. If the
// other side is gone, letters wait for the next one in the same way.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "base/fd.h"

namespace plateau::push {

struct Letter {
  enum class Kind : char {
    figures = 'W',  // The body of a request (write_request.h, otlp.h), not compressed.
    text = 'T',     // The whole content of the textfile.
  };
  Kind kind = Kind::figures;
  uint32_t samples = 0;
  int64_t at_ms = 0;
  std::string content;
};

class LetterBox {
 public:
  static constexpr size_t kMostWaiting = size_t{4} << 20;

  explicit LetterBox(Fd socket) : socket_(std::move(socket)) {}

  void post(const Letter& letter);
  // Sends what can be sent. False if nobody is there any more.
  bool flush();
  // Somebody else is there now; a letter that was sent in part goes to them whole.
  void reconnect(Fd socket);
  // Lines that came back since. To be asked after flush().
  std::vector<std::string> remarks();
  // No letter comes any more; remarks still do.
  void close_slot();

  [[nodiscard]] bool empty() const { return waiting_.empty(); }
  [[nodiscard]] bool answered() const { return ended_; }  // The other side has closed.
  [[nodiscard]] int fd() const { return socket_.get(); }
  [[nodiscard]] uint64_t dropped_samples() const { return dropped_; }

 private:
  Fd socket_;
  std::deque<std::string> waiting_;
  size_t waiting_bytes_ = 0;
  size_t sent_ = 0;  // Bytes of the first one.
  std::string came_;
  uint64_t dropped_ = 0;
  bool ended_ = false;
};

// The other side: bytes in, letters out.
class LetterReader {
 public:
  std::vector<Letter> feed(std::string_view bytes);

 private:
  std::string left_;
};

std::string letter_bytes(const Letter& letter);

}  // namespace plateau::push
