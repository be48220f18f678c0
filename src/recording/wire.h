// SPDX-License-Identifier: Apache-2.0
// The smallest pieces of the recording format: numbers and texts as bytes, and their checksum.
//
// A varint holds seven bits a byte, lowest first, the top bit set on all but the last byte. Zigzag
// turns a signed number into an unsigned one so that small amounts of either sign stay short.
// Doubles are eight bytes, lowest first, as IEEE 754 has them.
//
// WireReader reads what others wrote: it never passes the end. The first failure sticks, every
// later answer is zero or empty, and the caller asks ok() once at the end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace plateau {

constexpr uint64_t zigzag(int64_t value) {
  return (static_cast<uint64_t>(value) << 1) ^ static_cast<uint64_t>(value >> 63);
}
constexpr int64_t unzigzag(uint64_t code) {
  return static_cast<int64_t>((code >> 1) ^ (~(code & 1) + 1));
}

void put_varint(std::string& out, uint64_t value);
void put_double(std::string& out, double value);
void put_u32(std::string& out, uint32_t value);          // Four bytes, lowest first.
void put_text(std::string& out, std::string_view text);  // Its length as a varint, then itself.

// CRC-32 as in gzip and PNG.
uint32_t crc32_of(std::string_view bytes);

class WireReader {
 public:
  explicit WireReader(std::string_view bytes) : bytes_(bytes) {}

  uint8_t byte();
  uint64_t varint();  // Fails on more than 64 bits.
  int64_t signed_varint() { return unzigzag(varint()); }
  double real();
  uint32_t u32();
  std::string_view text();  // Points into the bytes given.
  std::string_view take(size_t size);

  [[nodiscard]] bool ok() const { return ok_; }
  [[nodiscard]] bool at_end() const { return at_ == bytes_.size(); }
  [[nodiscard]] size_t position() const { return at_; }
  [[nodiscard]] size_t left() const { return bytes_.size() - at_; }
  void fail() { ok_ = false; }

 private:
  std::string_view bytes_;
  size_t at_ = 0;
  bool ok_ = true;
};

// Two that a list of fields can be shown: one writes what it is shown, the other reads it.
struct FieldWriter {
  std::string out;

  template <typename... Fields>
  void operator()(const Fields&... fields) {
    (put(fields), ...);
  }
  void put(uint8_t byte) { out.push_back(static_cast<char>(byte)); }
  void put(bool truth) { out.push_back(truth ? '\1' : '\0'); }
  void put(uint64_t number) { put_varint(out, number); }
  void put(int64_t number) { put_varint(out, zigzag(number)); }
  void put(double number) { put_double(out, number); }
  void put(const std::string& text) { put_text(out, text); }
  template <typename Enum>
  void code(Enum value, uint8_t /*known*/, Enum /*other*/) {
    put(static_cast<uint8_t>(value));
  }
  // What later versions added at the end of a record: written where it says something.
  template <typename Field>
  void added(const Field& field, bool says_something) {
    if (says_something) put(field);
  }
  void rest(std::string_view bytes) { out += bytes; }
  void fail() {}
};

struct FieldReader {
  WireReader in;

  template <typename... Fields>
  void operator()(Fields&... fields) {
    (take(fields), ...);
  }
  void take(uint8_t& byte) { byte = in.byte(); }
  void take(bool& truth) { truth = in.byte() != 0; }
  void take(uint64_t& number) { number = in.varint(); }
  void take(int64_t& number) { number = in.signed_varint(); }
  void take(double& number) { number = in.real(); }
  void take(std::string& text) { text = in.text(); }
  template <typename Enum>
  void code(Enum& value, uint8_t known, Enum other) {
    const uint8_t code = in.byte();
    value = code < known ? static_cast<Enum>(code) : other;
  }
  template <typename Field>
  void added(Field& field, bool /*says_something*/) {
    if (!in.at_end()) take(field);
  }
  void rest(std::string_view& bytes) { bytes = in.take(in.left()); }
  void fail() { in.fail(); }
};

}  // namespace plateau
