// SPDX-License-Identifier: Apache-2.0
#include "push/letters.h"

#include <sys/socket.h>

#include <array>
#include <cerrno>

#include "base/text.h"
#include "recording/wire.h"

namespace plateau::push {
namespace {

constexpr size_t kHead = 17;  // Kind, samples, time, length.

}  // namespace

std::string letter_bytes(const Letter& letter) {
  std::string bytes(1, static_cast<char>(letter.kind));
  put_u32(bytes, letter.samples);
  const auto at = static_cast<uint64_t>(letter.at_ms);
  put_u32(bytes, static_cast<uint32_t>(at));
  put_u32(bytes, static_cast<uint32_t>(at >> 32));
  put_u32(bytes, static_cast<uint32_t>(letter.content.size()));
  return bytes + letter.content;
}

void LetterBox::post(const Letter& letter) {
  if (waiting_bytes_ + letter.content.size() > kMostWaiting) {
    dropped_ += letter.samples;
    return;
  }
  waiting_.push_back(letter_bytes(letter));
  waiting_bytes_ += waiting_.back().size();
}

bool LetterBox::flush() {
  while (!waiting_.empty() && !ended_) {
    const std::string_view rest = std::string_view(waiting_.front()).substr(sent_);
    const ssize_t n = send(socket_.get(), rest.data(), rest.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return true;
    if (n < 0) {
      ended_ = true;
      break;
    }
    sent_ += static_cast<size_t>(n);
    if (sent_ < waiting_.front().size()) continue;
    waiting_bytes_ -= waiting_.front().size();
    waiting_.pop_front();
    sent_ = 0;
  }
  return !ended_;
}

void LetterBox::reconnect(Fd socket) {
  socket_ = std::move(socket);
  sent_ = 0;
  came_.clear();
  ended_ = false;
}

std::vector<std::string> LetterBox::remarks() {
  std::array<char, 4096> buffer{};
  while (true) {
    const ssize_t n = recv(socket_.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (n < 0 && errno == EINTR) continue;
    if (n == 0 || (n < 0 && errno != EAGAIN && errno != EWOULDBLOCK)) ended_ = true;
    if (n <= 0) break;
    came_.append(buffer.data(), static_cast<size_t>(n));
  }
  std::vector<std::string> lines;
  for (size_t end = came_.find('\n'); end != std::string::npos; end = came_.find('\n')) {
    lines.push_back(came_.substr(0, end));
    came_.erase(0, end + 1);
  }
  return lines;
}

void LetterBox::close_slot() {
  shutdown(socket_.get(), SHUT_WR);
}

std::vector<Letter> LetterReader::feed(std::string_view bytes) {
  left_ += bytes;
  std::vector<Letter> letters;
  size_t at = 0;
  while (left_.size() - at >= kHead) {
    WireReader reader(std::string_view(left_).substr(at));
    Letter letter;
    letter.kind = static_cast<Letter::Kind>(reader.byte());
    letter.samples = reader.u32();
    const uint64_t low = reader.u32();
    letter.at_ms = static_cast<int64_t>(uint64_t{reader.u32()} << 32 | low);
    const uint32_t size = reader.u32();
    if (reader.left() < size) break;
    letter.content = reader.take(size);
    at += kHead + size;
    letters.push_back(std::move(letter));
  }
  left_.erase(0, at);
  return letters;
}

}  // namespace plateau::push
