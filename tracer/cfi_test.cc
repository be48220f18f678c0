// SPDX-License-Identifier: Apache-2.0
#include "tracer/cfi.h"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace plateau::trace {
namespace {

using Bytes = std::vector<uint8_t>;

constexpr uint32_t kFunctionOffset = 0x1000;  // Of the function, behind the tables.
constexpr uint32_t kFunctionBytes = 0x100;

// The tables of an object with one function: index (20 bytes), CIE, FDE.
class Tables {
 public:
  Tables(const std::string& augmentation, const Bytes& common, const Bytes& function) {
    Bytes cie = {1};
    cie.insert(cie.end(), augmentation.begin(), augmentation.end());
    cie.insert(cie.end(), {0, 1, 0x78, 16});  // Code factor 1, data factor -8, return register 16.
    if (!augmentation.empty()) cie.insert(cie.end(), {1, 0x1b});  // Pointers: relative, 4 bytes.
    cie.insert(cie.end(), common.begin(), common.end());
    put_index();
    const auto cie_at = static_cast<uint32_t>(bytes_.size());
    put_word(static_cast<uint32_t>(cie.size() + 4));
    put_word(0);
    bytes_.insert(bytes_.end(), cie.begin(), cie.end());
    const auto fde_at = static_cast<uint32_t>(bytes_.size());
    memcpy(&bytes_[16], &fde_at, sizeof fde_at);
    put_word(static_cast<uint32_t>(function.size() + 13));
    put_word(static_cast<uint32_t>(bytes_.size()) - cie_at);
    put_word(kFunctionOffset - static_cast<uint32_t>(bytes_.size()));
    put_word(kFunctionBytes);
    bytes_.push_back(0);  // No augmentation data.
    bytes_.insert(bytes_.end(), function.begin(), function.end());
  }

  // The rule `into` bytes into the function, with the tables cut off after `count` bytes: they
  // stand in a block of just that size.
  UnwindRule rule(uint32_t into, size_t count) const {
    const auto block = std::make_unique<uint8_t[]>(count);
    memcpy(block.get(), bytes_.data(), count);
    const CfiWindow window{block.get(), block.get() + count, block.get()};
    return find_unwind_rule(window,
                            reinterpret_cast<uint64_t>(block.get()) + kFunctionOffset + into);
  }
  UnwindRule rule(uint32_t into) const { return rule(into, bytes_.size()); }
  size_t size() const { return bytes_.size(); }

 private:
  void put_word(uint32_t word) {
    const auto* from = reinterpret_cast<const uint8_t*>(&word);
    bytes_.insert(bytes_.end(), from, from + sizeof word);
  }
  void put_index() {
    bytes_ = {1, 0x1b, 0x03, 0x3b};
    put_word(16);               // Where the descriptions are; not used.
    put_word(1);                // One entry:
    put_word(kFunctionOffset);  // where the function starts,
    put_word(0);                // where its description is.
  }
  Bytes bytes_;
};

const Bytes kCommon = {0x0c, 7, 8, 0x90, 1};  // CFA = rsp + 8, return address at CFA - 8.
// push %rbp (1 byte); mov %rsp,%rbp (3 bytes); body; at 0x80 leave; then ret.
const Bytes kWithFramePointer = {0x41, 0x0e, 16,   0x86, 2, 0x43, 0x0d,
                                 6,    0x02, 0x7c, 0x0c, 7, 8,    0xc6};

TEST(Cfi, FollowsAFunctionThroughItsPrologueAndEpilogue) {
  const Tables tables("zR", kCommon, kWithFramePointer);

  const UnwindRule at_entry = tables.rule(0);
  EXPECT_EQ(at_entry.base, FrameBase::stack_pointer);
  EXPECT_EQ(at_entry.cfa_offset, 8);
  EXPECT_EQ(at_entry.saved, SavedFramePointer::unchanged);

  const UnwindRule after_push = tables.rule(1);
  EXPECT_EQ(after_push.base, FrameBase::stack_pointer);
  EXPECT_EQ(after_push.cfa_offset, 16);
  EXPECT_EQ(after_push.saved, SavedFramePointer::at_cfa);
  EXPECT_EQ(after_push.saved_offset, -16);

  const UnwindRule in_body = tables.rule(0x50);
  EXPECT_EQ(in_body.base, FrameBase::frame_pointer);
  EXPECT_EQ(in_body.cfa_offset, 16);
  EXPECT_EQ(in_body.saved_offset, -16);

  const UnwindRule at_return = tables.rule(0x80);
  EXPECT_EQ(at_return.base, FrameBase::stack_pointer);
  EXPECT_EQ(at_return.cfa_offset, 8);
  EXPECT_EQ(at_return.saved, SavedFramePointer::unchanged);
}

TEST(Cfi, NothingIsKnownOutsideTheFunction) {
  const Tables tables("zR", kCommon, kWithFramePointer);
  EXPECT_EQ(tables.rule(kFunctionBytes).base, FrameBase::none);
  EXPECT_EQ(tables.rule(static_cast<uint32_t>(-1)).base, FrameBase::none);
}

TEST(Cfi, RememberedStateComesBack) {
  // CFA + 16; remember; 8 bytes on: CFA + 64; 8 bytes on: as remembered.
  const Tables tables("zR", kCommon, {0x0e, 16, 0x0a, 0x48, 0x0e, 64, 0x48, 0x0b});
  EXPECT_EQ(tables.rule(0).cfa_offset, 16);
  EXPECT_EQ(tables.rule(8).cfa_offset, 64);
  EXPECT_EQ(tables.rule(16).cfa_offset, 16);
}

TEST(Cfi, UndefinedReturnAddressIsTheOutermostFunction) {
  EXPECT_EQ(Tables("zR", kCommon, {0x07, 16}).rule(4).base, FrameBase::end);
}

TEST(Cfi, SignalFrameIsKnownByItsMark) {
  EXPECT_EQ(Tables("zRS", kCommon, {}).rule(4).base, FrameBase::signal_frame);
}

TEST(Cfi, RealignedFrameIsReadThroughTheFramePointer) {
  // CFA = *(rbp - 8), rbp saved at rbp + 0.
  const UnwindRule rule =
      Tables("zR", kCommon, {0x0f, 3, 0x76, 0x78, 0x06, 0x10, 6, 2, 0x76, 0}).rule(4);
  EXPECT_EQ(rule.base, FrameBase::frame_pointer_deref);
  EXPECT_EQ(rule.cfa_offset, -8);
  EXPECT_EQ(rule.saved, SavedFramePointer::at_frame_pointer);
  EXPECT_EQ(rule.saved_offset, 0);
}

TEST(Cfi, LinkageTableDependsOnThePlaceWithinItsEntry) {
  const Tables tables("zR", kCommon,
                      {0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22});
  int deep = 0;
  for (uint32_t into = 0; into < 16; ++into) {
    const UnwindRule rule = tables.rule(into);
    ASSERT_EQ(rule.base, FrameBase::stack_pointer);
    ASSERT_TRUE(rule.cfa_offset == 8 || rule.cfa_offset == 16);
    deep += rule.cfa_offset == 16 ? 1 : 0;
  }
  EXPECT_EQ(deep, 5);  // The last 5 of 16 bytes.
}

TEST(Cfi, WhatIsNotUnderstoodIsNotGuessed) {
  EXPECT_EQ(Tables("zR", {0x0c, 0, 8, 0x90, 1}, {}).rule(4).base, FrameBase::none);  // CFA by rax
  EXPECT_EQ(Tables("zR", {0x0c, 7, 8, 0x90, 2}, {}).rule(4).base, FrameBase::none);  // ra at -16
  EXPECT_EQ(Tables("zR", kCommon, {0x3c}).rule(4).base, FrameBase::none);  // unknown opcode
  EXPECT_EQ(Tables("zR", kCommon, {0x0b}).rule(4).base, FrameBase::none);  // nothing remembered
  EXPECT_EQ(Tables("zQ", kCommon, {}).rule(4).base, FrameBase::none);      // unknown mark
  EXPECT_EQ(Tables("zR", kCommon, {0x0f, 1, 0x50}).rule(4).base, FrameBase::none);
}

TEST(Cfi, TablesCutAnywhereAreReadUpToTheCut) {
  const Tables tables("zR", kCommon, kWithFramePointer);
  for (size_t count = 1; count < tables.size(); ++count) {
    EXPECT_EQ(tables.rule(0x50, count).base, FrameBase::none) << count;
  }
}

}  // namespace
}  // namespace plateau::trace
