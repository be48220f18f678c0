// SPDX-License-Identifier: Apache-2.0
#include "import/line_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace plateau {
namespace {

constexpr size_t kFirstBuffer = 128u << 10;  // Grows only for lines that need it.
constexpr size_t kChunk = 256u << 10;

const char* find_byte(const char* from, char byte, size_t size) {
  return size == 0 ? nullptr : static_cast<const char*>(std::memchr(from, byte, size));
}

}  // namespace

LineReader::LineReader(std::unique_ptr<ByteSource> source)
    : source_(std::move(source)),
      buffer_(std::make_unique_for_overwrite<char[]>(kFirstBuffer)),
      capacity_(kFirstBuffer) {}

// Looks for the rare bytes once per chunk, so that the common line costs a single memchr.
void LineReader::mark_controls(size_t from) {
  has_cr_ = has_cr_ || find_byte(buffer_.get() + from, '\r', size_ - from) != nullptr;
  has_escape_ = has_escape_ || find_byte(buffer_.get() + from, '\x1b', size_ - from) != nullptr;
}

void LineReader::grow() {
  const size_t larger = std::min(capacity_ * 2, kMaxLine + kChunk);
  auto buffer = std::make_unique_for_overwrite<char[]>(larger);
  std::memcpy(buffer.get(), buffer_.get(), size_);
  buffer_ = std::move(buffer);
  capacity_ = larger;
}

// Appends a chunk to the buffer; false at the end of the input or when a full line is buffered.
bool LineReader::refill() {
  if (ended_) return false;
  if (at_ > 0) {
    if (size_ > at_) std::memmove(buffer_.get(), buffer_.get() + at_, size_ - at_);
    size_ -= at_;
    at_ = 0;
    if (size_ == 0) has_cr_ = has_escape_ = false;
  }
  if (size_ == capacity_ && capacity_ < kMaxLine + kChunk) grow();
  const size_t room = std::min(kChunk, capacity_ - size_);
  if (room == 0) return false;
  const Result<size_t> got = source_->read(buffer_.get() + size_, room);
  if (!got.ok()) error_ = got.error();
  if (!got.ok() || got.value() == 0) {
    ended_ = true;
    return false;
  }
  const size_t from = size_;
  size_ += got.value();
  mark_controls(from);
  return true;
}

std::string_view LineReader::peek(size_t size) {
  while (size_ - at_ < size && refill()) {
  }
  return {buffer_.get() + at_, std::min(size, size_ - at_)};
}

// The index of the line end at or after `from`, or size_.
size_t LineReader::find_end(size_t from) {
  const char* start = buffer_.get() + from;
  const char* newline = find_byte(start, '\n', size_ - from);
  const size_t end = newline != nullptr ? static_cast<size_t>(newline - buffer_.get()) : size_;
  if (!has_cr_) return end;
  const char* cr = find_byte(start, '\r', end - from);
  return cr != nullptr ? static_cast<size_t>(cr - buffer_.get()) : end;
}

// Steps over the end of a line that stands at at_, remembering a "\r" whose "\n" may follow.
void LineReader::step_over_end() {
  after_cr_ = buffer_[at_] == '\r';
  ++at_;
}

// Leaves out the rest of a line that was cut, wherever it ends.
void LineReader::skip_rest_of_line() {
  cut_ = false;
  do {
    at_ = find_end(at_);
    if (at_ < size_) {
      step_over_end();
      return;
    }
  } while (refill());
}

bool LineReader::next(std::string_view& line) {
  if (cut_) skip_rest_of_line();
  if (at_ == size_ && !refill()) return false;
  if (after_cr_) {
    after_cr_ = false;
    if (buffer_[at_] == '\n') ++at_;
    if (at_ == size_ && !refill()) return false;
  }
  size_t end = find_end(at_);
  while (end == size_ && size_ - at_ <= kMaxLine) {
    const size_t scanned = size_ - at_;
    // Even a refill that finds nothing moves the buffer, and the end with it.
    const bool more = refill();
    end = more ? find_end(at_ + scanned) : size_;
    if (!more) break;
  }
  char* start = buffer_.get() + at_;
  const size_t length = std::min(end - at_, kMaxLine);
  ++number_;
  at_ += length;
  if (at_ < end) {
    cut_ = true;
    ++overlong_;
  } else if (at_ < size_) {
    step_over_end();
  }
  line = {start, has_escape_ ? strip_ansi(start, length) : length};
  return true;
}

size_t LineReader::read(char* to, size_t size) {
  size_t done = 0;
  while (done < size && (at_ < size_ || refill())) {
    const size_t some = std::min(size - done, size_ - at_);
    std::memcpy(to + done, buffer_.get() + at_, some);
    at_ += some;
    done += some;
  }
  return done;
}

Result<std::string> LineReader::read_all(size_t padding) {
  std::string all(buffer_.get() + at_, size_ - at_);
  at_ = size_ = 0;
  std::vector<char> chunk(kFirstBuffer);
  while (!ended_) {
    const Result<size_t> got = source_->read(chunk.data(), chunk.size());
    if (!got.ok()) error_ = got.error();
    if (!got.ok() || got.value() == 0) {
      ended_ = true;
      break;
    }
    all.append(chunk.data(), got.value());
    if (all.size() > kMaxDocument) {
      return Error{Error::Kind::bad_input,
                   fmt::format("holds a document larger than {} MB, which is read whole; cut it, "
                               "or convert JSON to JSON lines",
                               kMaxDocument >> 20)};
    }
  }
  all.reserve(all.size() + padding);
  return all;
}

size_t strip_ansi(char* text, size_t size) {
  size_t out = 0;
  for (size_t in = 0; in < size;) {
    if (text[in] != '\x1b') {
      text[out++] = text[in++];
      continue;
    }
    ++in;
    if (in >= size) break;
    const char kind = text[in++];
    if (kind == '[') {  // CSI: parameters, then one final byte from @ to ~.
      while (in < size && (text[in] < '@' || text[in] > '~')) ++in;
      if (in < size) ++in;
    } else if (kind == ']') {  // OSC: up to BEL or ESC backslash.
      while (in < size && text[in] != '\a' && text[in] != '\x1b') ++in;
      if (in < size && text[in] == '\a') ++in;
    }
  }
  return out;
}

}  // namespace plateau
