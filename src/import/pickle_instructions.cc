// SPDX-License-Identifier: Apache-2.0
// What each instruction of a pickle does to the stack, by families. The names behind the codes are
// those of Python's pickletools.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <string>
#include <utility>

#include "base/text.h"
#include "import/pickle_machine.h"

namespace plateau {
namespace {

constexpr uint64_t kMaxLongBytes = 1024;

}  // namespace

bool PickleMachine::do_stack(uint8_t op) {
  switch (op) {
    case 0x80:  // PROTO
      input_.byte();
      return true;
    case 0x95:  // FRAME
      input_.little(8);
      return true;
    case '(':  // MARK
      if (marks_.size() >= Pickle::kMaxStack) fail("sets too many marks");
      marks_.push_back(stack_.size());
      return true;
    case '0':  // POP, which also takes off a mark that stands on top.
      if (!marks_.empty() && marks_.back() == stack_.size()) {
        marks_.pop_back();
      } else {
        pop();
      }
      return true;
    case '1':  // POP_MARK
      stack_.resize(stack_.size() - since_mark());
      return true;
    case '2':  // DUP
      if (stack_.empty()) {
        fail("repeats a value that is not there");
      } else {
        push(stack_.back());
      }
      return true;
    case 0x98:  // READONLY_BUFFER
      return true;
    default:
      return false;
  }
}

bool PickleMachine::do_number(uint8_t op) {
  switch (op) {
    case 'N':  // NONE
      push(Kind::none);
      return true;
    case 0x88:  // NEWTRUE
    case 0x89:  // NEWFALSE
      push(Kind::boolean, op == 0x88 ? 1 : 0);
      return true;
    case 'J':  // BININT
      push_integer(static_cast<int32_t>(input_.little(4)));
      return true;
    case 'K':  // BININT1
      push_integer(input_.byte());
      return true;
    case 'M':  // BININT2
      push_integer(static_cast<int64_t>(input_.little(2)));
      return true;
    case 0x8a:  // LONG1
    case 0x8b:  // LONG4
    {
      const uint64_t size = input_.little(op == 0x8a ? 1 : 4);
      if (size > kMaxLongBytes) fail(fmt::format("holds a number of {} bytes", size));
      push_long(input_.bytes(std::min(size, kMaxLongBytes), kMaxLongBytes));
      return true;
    }
    case 'I':  // INT
    case 'L':  // LONG
    case 'F':  // FLOAT
      push_decimal(input_.line());
      return true;
    case 'G':  // BINFLOAT, highest byte first.
      push_real(std::bit_cast<double>(__builtin_bswap64(input_.little(8))));
      return true;
    default:
      return false;
  }
}

bool PickleMachine::do_text(uint8_t op) {
  static constexpr std::pair<uint8_t, size_t> kWithLength[] = {
      {0x8c, 1}, {'X', 4}, {0x8d, 8},  // Unicode.
      {'U', 1},  {'T', 4},             // Strings of Python 2.
      {'C', 1},  {'B', 4}, {0x8e, 8},  // Bytes.
      {0x96, 8},                       // A bytearray.
  };
  for (const auto& [code, size] : kWithLength) {
    if (op != code) continue;
    const uint64_t length = input_.little(size);
    push_text(input_.bytes(length, Pickle::kMaxText));
    return true;
  }
  if (op != 'V' && op != 'S') return false;
  std::string_view text = input_.line();
  if (op == 'S' && text.size() >= 2) text = text.substr(1, text.size() - 2);  // Quotes.
  push_text(text);
  return true;
}

bool PickleMachine::do_container(uint8_t op) {
  switch (op) {
    case ']':  // EMPTY_LIST
    case ')':  // EMPTY_TUPLE
      push_container(Kind::list, 0);
      return true;
    case '}':  // EMPTY_DICT
      push_container(Kind::dict, 0);
      return true;
    case 'l':  // LIST
    case 't':  // TUPLE
      push_container(Kind::list, since_mark());
      return true;
    case 'd':  // DICT
      push_container(Kind::dict, since_mark());
      return true;
    case 0x85:  // TUPLE1
    case 0x86:  // TUPLE2
    case 0x87:  // TUPLE3
      push_container(Kind::list, op - 0x84u);
      return true;
    case 'a':  // APPEND
      add_to(1, Kind::list);
      return true;
    case 'e':  // APPENDS
      add_to(since_mark(), Kind::list);
      return true;
    case 's':  // SETITEM
      add_to(2, Kind::dict);
      return true;
    case 'u':  // SETITEMS
      add_to(since_mark(), Kind::dict);
      return true;
    default:
      return false;
  }
}

bool PickleMachine::do_memo(uint8_t op) {
  switch (op) {
    case 0x94:  // MEMOIZE
      memoise(memo_.size());
      return true;
    case 'q':  // BINPUT
    case 'r':  // LONG_BINPUT
      memoise(input_.little(op == 'q' ? 1 : 4));
      return true;
    case 'h':  // BINGET
    case 'j':  // LONG_BINGET
      recall(input_.little(op == 'h' ? 1 : 4));
      return true;
    case 'p':  // PUT
    case 'g':  // GET
    {
      const auto index = static_cast<uint64_t>(parse_int(input_.line()).value_or(-1));
      if (op == 'p') {
        memoise(index);
      } else {
        recall(index);
      }
      return true;
    }
    default:
      return false;
  }
}

// What would import or call.
bool PickleMachine::do_object(uint8_t op) {
  switch (op) {
    case 'c':  // GLOBAL
    case 'i':  // INST
    {
      const std::string module(input_.line());
      const std::string name(input_.line());
      if (op == 'i') {
        push_opaque_for(since_mark());
      } else {
        push_global(module, name);
      }
      return true;
    }
    case 0x93:  // STACK_GLOBAL
    {
      const PickleValue name = pop();
      const PickleValue module = pop();
      push_global(pickle_.text(module), pickle_.text(name));
      return true;
    }
    case 'R':   // REDUCE
    case 0x81:  // NEWOBJ
    {
      pop();
      const bool makes_dict = pop().kind() == Kind::dict_maker;
      if (makes_dict) {
        push_container(Kind::dict, 0);
      } else {
        push(Kind::opaque);
      }
      return true;
    }
    case 0x92:  // NEWOBJ_EX
      push_opaque_for(3);
      return true;
    default:
      return false;
  }
}

// Objects made of what is there already, and what stands outside the file.
bool PickleMachine::do_other(uint8_t op) {
  switch (op) {
    case 'b':  // BUILD: the state is dropped, the object stays.
      pop();
      return true;
    case 'o':  // OBJ
      push_opaque_for(since_mark());
      return true;
    case 0x8f:  // EMPTY_SET
    case 0x97:  // NEXT_BUFFER
      push(Kind::opaque);
      return true;
    case 0x90:  // ADDITEMS
      add_to(since_mark(), Kind::opaque);
      return true;
    case 0x91:  // FROZENSET
      push_opaque_for(since_mark());
      return true;
    case 'P':  // PERSID
      input_.line();
      push(Kind::opaque);
      return true;
    case 'Q':  // BINPERSID
      push_opaque_for(1);
      return true;
    case 0x82:  // EXT1, EXT2, EXT4
    case 0x83:
    case 0x84:
      input_.little(size_t{1} << (op - 0x82));
      push(Kind::opaque);
      return true;
    default:
      return false;
  }
}

}  // namespace plateau
