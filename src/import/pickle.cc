// SPDX-License-Identifier: Apache-2.0
#include "import/pickle.h"

#include <algorithm>

#include "import/pickle_machine.h"

namespace plateau {
namespace {

using Kind = PickleValue::Kind;
constexpr int kTextLengthBits = 24;

}  // namespace

int64_t Pickle::integer(PickleValue value) const {
  if (value.kind() != Kind::integer && value.kind() != Kind::boolean) return 0;
  return static_cast<int64_t>(value.payload() << 4) >> 4;
}

double Pickle::number(PickleValue value) const {
  if (value.kind() == Kind::real) return reals_[value.payload()];
  return static_cast<double>(integer(value));
}

std::string_view Pickle::text(PickleValue value) const {
  if (value.kind() != Kind::text) return {};
  const uint64_t length = value.payload() & ((1u << kTextLengthBits) - 1);
  return std::string_view(texts_).substr(value.payload() >> kTextLengthBits, length);
}

std::span<const PickleValue> Pickle::items(PickleValue list) const {
  if (list.kind() != Kind::list) return {};
  return containers_[list.payload()];
}

std::span<const PickleValue> Pickle::pairs(PickleValue dict) const {
  if (dict.kind() != Kind::dict) return {};
  return containers_[dict.payload()];
}

PickleValue Pickle::at(PickleValue dict, std::string_view key) const {
  const std::span<const PickleValue> all = pairs(dict);
  for (size_t i = all.size() & ~size_t{1}; i >= 2; i -= 2) {
    if (text(all[i - 2]) == key && all[i - 2].kind() == Kind::text) return all[i - 1];
  }
  return {};
}

Result<Pickle> read_pickle(LineReader& input) {
  return PickleMachine(input).run();
}

bool looks_like_pickle(std::string_view head) {
  return head.size() > 2 && head[0] == '\x80' && head[1] >= 2 && head[1] <= 5;
}

bool looks_like_cuda_snapshot(std::string_view head) {
  static constexpr size_t kFirstKeys = 4096;
  if (!looks_like_pickle(head)) return false;
  const auto has = [&head](std::string_view key) {
    return head.substr(0, kFirstKeys).find(key) != std::string_view::npos;
  };
  return has("segments") || has("device_traces");
}

// The input.

bool PickleInput::refill() {
  chunk_.resize(kChunk);
  chunk_.resize(input_.read(chunk_.data(), kChunk));
  at_ = 0;
  if (chunk_.empty()) ended_ = true;
  return !ended_;
}

uint8_t PickleInput::byte() {
  if (at_ == chunk_.size() && (ended_ || !refill())) return 0;
  ++position_;
  return static_cast<uint8_t>(chunk_[at_++]);
}

uint64_t PickleInput::little(size_t size) {
  uint64_t value = 0;
  for (size_t i = 0; i < size; ++i) value |= static_cast<uint64_t>(byte()) << (8 * i);
  return ended_ ? 0 : value;
}

std::string_view PickleInput::bytes(uint64_t size, size_t keep) {
  scratch_.clear();
  while (size > 0 && !ended_) {
    if (at_ == chunk_.size() && !refill()) break;
    const size_t some = static_cast<size_t>(std::min<uint64_t>(size, chunk_.size() - at_));
    const size_t kept = std::min(some, keep - scratch_.size());
    scratch_.append(chunk_, at_, kept);
    at_ += some;
    position_ += some;
    size -= some;
  }
  return ended_ ? std::string_view() : std::string_view(scratch_);
}

std::string_view PickleInput::line() {
  scratch_.clear();
  while (!ended_) {
    const uint8_t next = byte();
    if (ended_ || next == '\n') break;
    if (scratch_.size() < Pickle::kMaxText) scratch_.push_back(static_cast<char>(next));
  }
  return ended_ ? std::string_view() : std::string_view(scratch_);
}

}  // namespace plateau
