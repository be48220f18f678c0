// SPDX-License-Identifier: Apache-2.0
// Gzip and zstd as byte sources. Both decompress straight into the caller's buffer, so a file that
// unpacks to a terabyte costs time but no memory; the zstd window is capped for the same reason.
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>
#include <vector>

#include "import/byte_source.h"

namespace plateau {
namespace {

constexpr size_t kInputBuffer = 64u << 10;
constexpr int kZstdWindowLogMax = 27;  // 128 MB, what `zstd -d` accepts without --long.

// The compressed side: a buffer that refills from the source below.
class Input {
 public:
  Input(std::unique_ptr<ByteSource> source, std::string_view head)
      : source_(std::move(source)), buffer_(kInputBuffer), size_(head.size()) {
    std::memcpy(buffer_.data(), head.data(), head.size());
  }

  // Makes at least one byte available; false at the end of the source.
  Result<bool> fill() {
    if (at_ < size_) return true;
    const Result<size_t> got = source_->read(buffer_.data(), buffer_.size());
    if (!got.ok()) return got.error();
    at_ = 0;
    size_ = got.value();
    return size_ > 0;
  }
  [[nodiscard]] char* data() { return buffer_.data() + at_; }
  [[nodiscard]] size_t available() const { return size_ - at_; }
  void consume(size_t bytes) { at_ += bytes; }

 private:
  std::unique_ptr<ByteSource> source_;
  std::vector<char> buffer_;
  size_t at_ = 0;
  size_t size_;
};

Error damaged(std::string message) {
  return {Error::Kind::bad_input, std::move(message)};
}

class GzipSource : public ByteSource {
 public:
  GzipSource(std::unique_ptr<ByteSource> source, std::string_view head)
      : input_(std::move(source), head) {
    ready_ = inflateInit2(&stream_, 15 + 16) == Z_OK;
  }
  ~GzipSource() override {
    if (ready_) inflateEnd(&stream_);
  }
  GzipSource(const GzipSource&) = delete;
  GzipSource& operator=(const GzipSource&) = delete;

  Result<size_t> read(char* buffer, size_t size) override {
    if (!ready_) return damaged("gzip could not be initialised");
    stream_.next_out = reinterpret_cast<Bytef*>(buffer);
    stream_.avail_out = static_cast<uInt>(std::min<size_t>(size, 1u << 30));
    const uInt room = stream_.avail_out;
    while (!ended_ && stream_.avail_out == room) {
      const Result<bool> more = input_.fill();
      if (!more.ok()) return more.error();
      if (!more.value()) {
        ended_ = true;
        if (in_member_) return damaged("the gzip data ends too early (truncated file?)");
        break;
      }
      if (!step()) {
        ended_ = true;
        return damaged("the gzip data is damaged");
      }
    }
    return static_cast<size_t>(room - stream_.avail_out);
  }

 private:
  // Feeds what is buffered to zlib once. Bytes after a member that do not start another one are
  // padding (tape blocks, zeros) and end the stream quietly.
  bool step() {
    if (!in_member_) {
      if (members_ > 0 && *input_.data() != '\x1f') {
        ended_ = true;
        return true;
      }
      if (inflateReset(&stream_) != Z_OK) return false;
      in_member_ = true;
      ++members_;
    }
    stream_.next_in = reinterpret_cast<Bytef*>(input_.data());
    stream_.avail_in = static_cast<uInt>(input_.available());
    const int status = inflate(&stream_, Z_NO_FLUSH);
    input_.consume(input_.available() - stream_.avail_in);
    if (status == Z_STREAM_END) in_member_ = false;
    return status == Z_OK || status == Z_STREAM_END || status == Z_BUF_ERROR;
  }

  Input input_;
  z_stream stream_{};
  bool ready_ = false;
  bool ended_ = false;
  bool in_member_ = false;
  int members_ = 0;
};

class ZstdSource : public ByteSource {
 public:
  ZstdSource(std::unique_ptr<ByteSource> source, std::string_view head)
      : input_(std::move(source), head), stream_(ZSTD_createDStream()) {
    if (stream_ != nullptr) {
      ZSTD_DCtx_setParameter(stream_, ZSTD_d_windowLogMax, kZstdWindowLogMax);
    }
  }
  ~ZstdSource() override { ZSTD_freeDStream(stream_); }
  ZstdSource(const ZstdSource&) = delete;
  ZstdSource& operator=(const ZstdSource&) = delete;

  Result<size_t> read(char* buffer, size_t size) override {
    if (stream_ == nullptr) return damaged("zstd could not be initialised");
    ZSTD_outBuffer out = {buffer, size, 0};
    while (!ended_ && out.pos == 0) {
      const Result<bool> more = input_.fill();
      if (!more.ok()) return more.error();
      if (!more.value() && !pending_) {
        ended_ = true;
        if (in_frame_) return damaged("the zstd data ends too early (truncated file?)");
        break;
      }
      ZSTD_inBuffer in = {input_.data(), input_.available(), 0};
      const size_t status = ZSTD_decompressStream(stream_, &out, &in);
      input_.consume(in.pos);
      if (ZSTD_isError(status) != 0) {
        ended_ = true;
        return damaged(std::string("the zstd data is damaged: ") + ZSTD_getErrorName(status));
      }
      in_frame_ = status != 0;
      pending_ = out.pos == out.size;
    }
    return out.pos;
  }

 private:
  Input input_;
  ZSTD_DStream* stream_;
  bool ended_ = false;
  bool in_frame_ = true;
  bool pending_ = false;  // The decoder may hold output that did not fit.
};

// Gives back the bytes that were read to look at the magic, then the rest.
class PlainSource : public ByteSource {
 public:
  PlainSource(std::unique_ptr<ByteSource> source, std::string_view head)
      : source_(std::move(source)), head_(head) {}

  Result<size_t> read(char* buffer, size_t size) override {
    if (at_ == head_.size()) return source_->read(buffer, size);
    const size_t got = std::min(size, head_.size() - at_);
    std::memcpy(buffer, head_.data() + at_, got);
    at_ += got;
    return got;
  }

 private:
  std::unique_ptr<ByteSource> source_;
  std::string head_;
  size_t at_ = 0;
};

class FailedSource : public ByteSource {
 public:
  explicit FailedSource(Error error) : error_(std::move(error)) {}
  Result<size_t> read(char*, size_t) override { return error_; }

 private:
  Error error_;
};

}  // namespace

std::unique_ptr<ByteSource> decompress_if_needed(std::unique_ptr<ByteSource> source) {
  std::array<char, 4> first{};
  size_t size = 0;
  while (size < first.size()) {
    const Result<size_t> got = source->read(first.data() + size, first.size() - size);
    if (!got.ok()) return std::make_unique<FailedSource>(got.error());
    if (got.value() == 0) break;
    size += got.value();
  }
  const std::string_view head(first.data(), size);
  if (head.starts_with("\x1f\x8b")) return std::make_unique<GzipSource>(std::move(source), head);
  if (head == "\x28\xb5\x2f\xfd") return std::make_unique<ZstdSource>(std::move(source), head);
  return std::make_unique<PlainSource>(std::move(source), head);
}

}  // namespace plateau
