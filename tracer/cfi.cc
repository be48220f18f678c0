// SPDX-License-Identifier: Apache-2.0
// Question: execution stands at pc; where is the return address of this function, and what was rbp
// in its caller?
//
// Method. Compilers write the answer into .eh_frame so that exceptions can pass. .eh_frame_hdr is a
// sorted table (function start, place of its description); a binary search finds the description
// (FDE) and with it the part that many functions share (CIE). Both hold a small program whose
// instructions move a location forward and change two rules: where the canonical frame address
// (CFA) is and where each register was saved. We run it until the location passes pc, and keep
// only what a walk needs: CFA, the place of the return address, and rbp.
//
// Worked example. `push %rbp; mov %rsp,%rbp; ...; call f` has
//     def_cfa rsp+8; offset ra,-8 | advance 1; def_cfa_offset 16; offset rbp,-16 |
//     advance 3; def_cfa_register rbp
// For the byte before the return address of `call f` all of it applies: CFA = rbp + 16, return
// address at CFA - 8, caller's rbp at CFA - 16. Without a frame pointer the same function keeps
// CFA = rsp + N, where N is what it pushed and reserved so far.
//
// Expressions. DWARF allows arbitrary programs for a rule. Three shapes occur in practice and are
// recognised by their bytes: *(rbp + n) of functions that realign the stack, rbp saved at rbp + n
// in the same functions, and the procedure linkage table's formula over the pc. Signal trampolines
// are known by their 'S' mark, not by their expressions.
//
// Blind spots: a CFA in a register other than rsp and rbp (inside some prologues only), a return
// address that is not at CFA - 8, tables not in the usual encoding, 64-bit DWARF. All of them give
// `none`.
#include "tracer/cfi.h"

#include <cstddef>
#include <cstring>

#include "tracer/dwarf_bytes.h"

namespace plateau::trace {
namespace {

constexpr uint64_t kFramePointerRegister = 6;
constexpr uint64_t kStackPointerRegister = 7;
constexpr uint64_t kReturnAddressRegister = 16;
constexpr int kMaxRemembered = 8;
constexpr int kMaxInstructions = 100000;

struct Expression {
  const uint8_t* begin = nullptr;
  uint64_t count = 0;
};

enum class Place : uint8_t { same, at_cfa, expression, undefined, other };

struct SavedRegister {
  Place place = Place::same;
  int64_t offset = 0;
  Expression expression;
};

// One row of the table that the program describes.
struct Row {
  bool cfa_is_expression = false;
  uint64_t cfa_register = 0;
  int64_t cfa_offset = 0;
  Expression cfa_expression;
  SavedRegister frame_pointer;
  SavedRegister return_address;
};

// What a CIE says about all its functions.
struct Common {
  uint64_t code_factor = 1;
  int64_t data_factor = 1;
  uint8_t pointer_encoding = 0;
  bool has_augmentation = false;
  bool signal_frame = false;
  const uint8_t* program = nullptr;
  const uint8_t* program_end = nullptr;
};

// The bytes of the entry that starts at `at`, without its length; false if it is not all inside.
bool open_entry(const CfiWindow& window, const uint8_t* at, DwarfBytes& out) {
  if (at < window.begin || at >= window.end) return false;
  DwarfBytes reader(at, window.end);
  const auto length = reader.take<uint32_t>();
  if (reader.bad() || length == 0 || length == 0xffffffffU) return false;
  if (length > static_cast<uint64_t>(window.end - reader.at())) return false;
  out = DwarfBytes(reader.at(), reader.at() + length);
  return true;
}

bool read_augmentation(DwarfBytes& reader, const char* letters, size_t count, Common& out) {
  if (count == 0) return true;
  if (letters[0] != 'z') return false;
  out.has_augmentation = true;
  const uint64_t bytes = reader.take_unsigned();
  if (reader.bad() || bytes > static_cast<uint64_t>(reader.end() - reader.at())) return false;
  DwarfBytes data(reader.at(), reader.at() + bytes);
  reader.skip(bytes);
  for (size_t i = 1; i < count; ++i) {
    switch (letters[i]) {
      case 'R':
        out.pointer_encoding = data.take<uint8_t>();
        break;
      case 'P': {
        const auto encoding = data.take<uint8_t>();
        data.take_format(encoding & 0x0fU);
        break;
      }
      case 'L':
        data.take<uint8_t>();
        break;
      case 'S':
        out.signal_frame = true;
        break;
      default:
        return false;
    }
  }
  return !data.bad();
}

bool read_common(const CfiWindow& window, const uint8_t* at, Common& out) {
  DwarfBytes reader(nullptr, nullptr);
  if (!open_entry(window, at, reader)) return false;
  if (reader.take<uint32_t>() != 0) return false;
  const auto version = reader.take<uint8_t>();
  if (version != 1 && version != 3) return false;
  const auto* letters = reinterpret_cast<const char*>(reader.at());
  const size_t room = static_cast<size_t>(reader.end() - reader.at());
  const size_t letter_count = strnlen(letters, room);
  reader.skip(letter_count + 1);
  out.code_factor = reader.take_unsigned();
  out.data_factor = reader.take_signed();
  const uint64_t return_register = version == 1 ? reader.take<uint8_t>() : reader.take_unsigned();
  if (reader.bad() || return_register != kReturnAddressRegister) return false;
  if (!read_augmentation(reader, letters, letter_count, out) || reader.bad()) return false;
  out.program = reader.at();
  out.program_end = reader.end();
  return true;
}

// Runs the programs of a CIE and an FDE.
class Interpreter {
 public:
  Interpreter(const Common& common, uint64_t location, uint64_t pc)
      : common_(common), location_(location), pc_(pc) {}

  bool run(const uint8_t* begin, const uint8_t* end) {
    DwarfBytes reader(begin, end);
    while (!reader.done() && !passed_) {
      if (++instructions_ > kMaxInstructions || !step(reader)) return false;
    }
    return !reader.bad();
  }
  void end_of_common() { initial_ = row_; }
  const Row& row() const { return row_; }

 private:
  void advance(uint64_t delta) {
    // Programs of real functions are small; a wild delta only ends the run.
    const uint64_t next = location_ + delta * common_.code_factor;
    if (next > pc_ || next < location_) {
      passed_ = true;
    } else {
      location_ = next;
    }
  }
  int64_t scaled(int64_t value) const {
    return static_cast<int64_t>(static_cast<uint64_t>(value) *
                                static_cast<uint64_t>(common_.data_factor));
  }
  void set(uint64_t number, const SavedRegister& saved) {
    if (number == kFramePointerRegister) row_.frame_pointer = saved;
    if (number == kReturnAddressRegister) row_.return_address = saved;
  }
  void set_offset(uint64_t number, int64_t offset) {
    set(number, SavedRegister{.place = Place::at_cfa, .offset = offset, .expression = {}});
  }
  void set_place(uint64_t number, Place place) {
    set(number, SavedRegister{.place = place, .offset = 0, .expression = {}});
  }
  void restore(uint64_t number) {
    if (number == kFramePointerRegister) row_.frame_pointer = initial_.frame_pointer;
    if (number == kReturnAddressRegister) row_.return_address = initial_.return_address;
  }
  void define_cfa(uint64_t number, int64_t offset) {
    row_.cfa_is_expression = false;
    row_.cfa_register = number;
    row_.cfa_offset = offset;
  }
  static Expression take_block(DwarfBytes& reader) {
    const uint64_t count = reader.take_unsigned();
    const Expression block{reader.at(), count};
    reader.skip(count);
    return reader.bad() ? Expression{} : block;
  }

  bool step(DwarfBytes& reader) {
    const auto code = reader.take<uint8_t>();
    const uint64_t operand = code & 0x3fU;
    switch (code & 0xc0U) {
      case 0x40:
        advance(operand);
        return true;
      case 0x80:
        set_offset(operand, scaled(static_cast<int64_t>(reader.take_unsigned())));
        return true;
      case 0xc0:
        restore(operand);
        return true;
      default:
        return code <= 0x09 ? step_place(code, reader) : step_frame(code, reader);
    }
  }

  // Instructions about the location and simple register rules.
  bool step_place(uint8_t code, DwarfBytes& reader) {
    switch (code) {
      case 0x00:
        return true;
      case 0x01: {
        const uint64_t next = reader.take_encoded(common_.pointer_encoding);
        passed_ = next > pc_;
        location_ = next;
        return true;
      }
      case 0x02:
        advance(reader.take<uint8_t>());
        return true;
      case 0x03:
        advance(reader.take<uint16_t>());
        return true;
      case 0x04:
        advance(reader.take<uint32_t>());
        return true;
      case 0x05: {
        const uint64_t number = reader.take_unsigned();
        set_offset(number, scaled(static_cast<int64_t>(reader.take_unsigned())));
        return true;
      }
      case 0x06:
        restore(reader.take_unsigned());
        return true;
      case 0x07:
        set_place(reader.take_unsigned(), Place::undefined);
        return true;
      case 0x08:
        set_place(reader.take_unsigned(), Place::same);
        return true;
      default: {
        const uint64_t number = reader.take_unsigned();
        reader.take_unsigned();
        set_place(number, Place::other);
        return true;
      }
    }
  }

  // Instructions about the CFA, expressions and saved states.
  bool step_frame(uint8_t code, DwarfBytes& reader) {
    switch (code) {
      case 0x0a:
        if (remembered_ == kMaxRemembered) return false;
        states_[remembered_++] = row_;
        return true;
      case 0x0b:
        if (remembered_ == 0) return false;
        row_ = states_[--remembered_];
        return true;
      case 0x0c: {
        const uint64_t number = reader.take_unsigned();
        define_cfa(number, static_cast<int64_t>(reader.take_unsigned()));
        return true;
      }
      case 0x0d:
        row_.cfa_register = reader.take_unsigned();
        return true;
      case 0x0e:
        row_.cfa_offset = static_cast<int64_t>(reader.take_unsigned());
        return true;
      case 0x0f:
        row_.cfa_is_expression = true;
        row_.cfa_expression = take_block(reader);
        return true;
      case 0x12: {
        const uint64_t number = reader.take_unsigned();
        define_cfa(number, scaled(reader.take_signed()));
        return true;
      }
      case 0x13:
        row_.cfa_offset = scaled(reader.take_signed());
        return true;
      case 0x2e:
        reader.take_unsigned();
        return true;
      default:
        return step_register(code, reader);
    }
  }

  // The rarer register rules.
  bool step_register(uint8_t code, DwarfBytes& reader) {
    const uint64_t number = reader.take_unsigned();
    switch (code) {
      case 0x10:
        set(number, SavedRegister{
                        .place = Place::expression, .offset = 0, .expression = take_block(reader)});
        return true;
      case 0x11:
        set_offset(number, scaled(reader.take_signed()));
        return true;
      case 0x14:
      case 0x15:
        reader.take_signed();
        set_place(number, Place::other);
        return true;
      case 0x16:
        take_block(reader);
        set_place(number, Place::other);
        return true;
      case 0x2f:
        set_offset(number, -scaled(static_cast<int64_t>(reader.take_unsigned())));
        return true;
      default:
        return false;
    }
  }

  const Common& common_;
  uint64_t location_;
  uint64_t pc_;
  bool passed_ = false;
  int instructions_ = 0;
  Row row_;
  Row initial_;
  Row states_[kMaxRemembered];
  int remembered_ = 0;
};

// "*(rbp + n)" when `deref`, else "rbp + n".
bool frame_pointer_expression(const Expression& expression, bool deref, int64_t& offset) {
  DwarfBytes reader(expression.begin, expression.begin + expression.count);
  if (reader.take<uint8_t>() != 0x76) return false;
  offset = reader.take_signed();
  if (deref && reader.take<uint8_t>() != 0x06) return false;
  return !reader.bad() && reader.done();
}

// rsp + n + (((pc & 15) >= m) << 3): an entry of the procedure linkage table pushes one word at m.
bool linkage_expression(const Expression& expression, uint64_t pc, int64_t& offset) {
  static constexpr uint8_t kShape[] = {0x77, 0, 0x80, 0, 0x3f, 0x1a, 0, 0x2a, 0x33, 0x24, 0x22};
  if (expression.count != sizeof(kShape)) return false;
  for (size_t i = 0; i < sizeof(kShape); ++i) {
    if (i != 1 && i != 6 && expression.begin[i] != kShape[i]) return false;
  }
  const unsigned base = expression.begin[1];
  const unsigned literal = expression.begin[6];
  if (base >= 0x40 || literal < 0x30 || literal > 0x3f) return false;
  offset = int64_t{base} + ((pc & 15U) >= literal - 0x30 ? 8 : 0);
  return true;
}

bool fits(int64_t value) {
  return value > -(int64_t{1} << 26) && value < (int64_t{1} << 26);
}

bool set_base(const Row& row, uint64_t pc, UnwindRule& rule) {
  int64_t offset = row.cfa_offset;
  if (row.cfa_is_expression) {
    if (frame_pointer_expression(row.cfa_expression, true, offset)) {
      rule.base = FrameBase::frame_pointer_deref;
    } else if (linkage_expression(row.cfa_expression, pc, offset)) {
      rule.base = FrameBase::stack_pointer;
    } else {
      return false;
    }
  } else if (row.cfa_register == kStackPointerRegister) {
    rule.base = FrameBase::stack_pointer;
  } else if (row.cfa_register == kFramePointerRegister) {
    rule.base = FrameBase::frame_pointer;
  } else {
    return false;
  }
  rule.cfa_offset = static_cast<int32_t>(offset);
  return fits(offset);
}

bool set_saved(const SavedRegister& saved, UnwindRule& rule) {
  int64_t offset = saved.offset;
  if (saved.place == Place::at_cfa) {
    rule.saved = SavedFramePointer::at_cfa;
  } else if (saved.place == Place::expression) {
    if (!frame_pointer_expression(saved.expression, false, offset)) return false;
    rule.saved = SavedFramePointer::at_frame_pointer;
  }
  rule.saved_offset = static_cast<int32_t>(offset);
  return offset >= INT16_MIN && offset <= INT16_MAX;
}

UnwindRule rule_of(const Row& row, uint64_t pc) {
  if (row.return_address.place == Place::undefined) return {.base = FrameBase::end};
  UnwindRule rule;
  if (row.return_address.place != Place::at_cfa || row.return_address.offset != -8) return {};
  if (!set_base(row, pc, rule) || !set_saved(row.frame_pointer, rule)) return {};
  return rule;
}

// The description that the sorted table names for `pc`: the last that does not start after it.
const uint8_t* find_description(const CfiWindow& window, uint64_t pc) {
  DwarfBytes reader(window.index, window.end);
  const auto version = reader.take<uint8_t>();
  const auto frame_encoding = reader.take<uint8_t>();
  const auto count_encoding = reader.take<uint8_t>();
  const auto table_encoding = reader.take<uint8_t>();
  if (version != 1 || count_encoding != 0x03 || table_encoding != 0x3b) return nullptr;
  reader.take_format(frame_encoding & 0x0fU);
  const uint64_t count = reader.take<uint32_t>();
  if (reader.bad() || count > static_cast<uint64_t>(reader.end() - reader.at()) / 8) return nullptr;
  const uint8_t* table = reader.at();
  const auto base = reinterpret_cast<uint64_t>(window.index);
  const auto wanted = static_cast<int64_t>(pc - base);
  uint64_t low = 0;
  uint64_t high = count;
  while (low < high) {
    const uint64_t middle = low + (high - low) / 2;
    int32_t start = 0;
    memcpy(&start, table + middle * 8, sizeof start);
    if (start <= wanted) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  if (low == 0) return nullptr;
  int32_t distance = 0;
  memcpy(&distance, table + (low - 1) * 8 + 4, sizeof distance);
  const uint64_t address = base + static_cast<uint64_t>(int64_t{distance});
  if (address < reinterpret_cast<uint64_t>(window.begin) ||
      address >= reinterpret_cast<uint64_t>(window.end)) {
    return nullptr;
  }
  return window.begin + (address - reinterpret_cast<uint64_t>(window.begin));
}

}  // namespace

UnwindRule find_unwind_rule(const CfiWindow& window, uint64_t pc) noexcept {
  if (window.index < window.begin || window.index >= window.end) return {};
  const uint8_t* description = find_description(window, pc);
  DwarfBytes reader(nullptr, nullptr);
  if (description == nullptr || !open_entry(window, description, reader)) return {};

  const auto here = reinterpret_cast<uint64_t>(reader.at());
  const uint64_t back = reader.take<uint32_t>();
  if (reader.bad() || back == 0 || back > here - reinterpret_cast<uint64_t>(window.begin))
    return {};
  Common common;
  if (!read_common(window, reader.at() - sizeof(uint32_t) - back, common)) return {};

  const uint64_t start = reader.take_encoded(common.pointer_encoding);
  const uint64_t length = reader.take_format(common.pointer_encoding & 0x0fU);
  if (reader.bad() || pc - start >= length) return {};
  if (common.has_augmentation) reader.skip(reader.take_unsigned());
  if (reader.bad()) return {};
  if (common.signal_frame) return {.base = FrameBase::signal_frame};

  Interpreter interpreter(common, start, pc);
  if (!interpreter.run(common.program, common.program_end)) return {};
  interpreter.end_of_common();
  if (!interpreter.run(reader.at(), reader.end())) return {};
  return rule_of(interpreter.row(), pc);
}

}  // namespace plateau::trace
