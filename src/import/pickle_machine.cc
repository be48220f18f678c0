// SPDX-License-Identifier: Apache-2.0
#include "import/pickle_machine.h"

#include <fmt/format.h>

#include <utility>

#include "base/text.h"

namespace plateau {
namespace {

constexpr int64_t kMostInteger = (int64_t{1} << 59) - 1;
constexpr int kTextLengthBits = 24;

}  // namespace

void PickleMachine::fail(std::string why) {
  if (trouble_.empty()) trouble_ = std::move(why);
}

void PickleMachine::push(PickleValue value) {
  if (stack_.size() >= Pickle::kMaxStack) {
    fail(fmt::format("puts more than {} values on its stack", Pickle::kMaxStack));
    return;
  }
  stack_.push_back(value);
}

PickleValue PickleMachine::pop() {
  const size_t floor = marks_.empty() ? 0 : marks_.back();
  if (stack_.size() <= floor) {
    fail("takes more from its stack than it put there");
    return {};
  }
  const PickleValue value = stack_.back();
  stack_.pop_back();
  return value;
}

size_t PickleMachine::since_mark() {
  if (marks_.empty()) {
    fail("needs a mark that it did not set");
    return 0;
  }
  const size_t count = stack_.size() - marks_.back();
  marks_.pop_back();
  return count;
}

void PickleMachine::push_integer(int64_t value) {
  if (value > kMostInteger || value < -kMostInteger) {
    push_real(static_cast<double>(value));
  } else {
    push(Kind::integer, static_cast<uint64_t>(value));
  }
}

void PickleMachine::push_real(double value) {
  pickle_.reals_.push_back(value);
  push(Kind::real, pickle_.reals_.size() - 1);
}

// A whole number in two's complement, lowest byte first, of any length.
void PickleMachine::push_long(std::string_view bytes) {
  const bool negative = !bytes.empty() && static_cast<uint8_t>(bytes.back()) >= 0x80;
  if (bytes.size() <= 8) {
    uint64_t value = negative ? ~uint64_t{0} : 0;
    for (size_t i = bytes.size(); i-- > 0;) {
      value = value << 8 | static_cast<uint8_t>(bytes[i]);
    }
    push_integer(static_cast<int64_t>(value));
    return;
  }
  double value = negative ? -1 : 0;
  for (size_t i = bytes.size(); i-- > 0;) {
    value = value * 256 + static_cast<uint8_t>(bytes[i]);
  }
  push_real(value);
}

void PickleMachine::push_decimal(std::string_view digits) {
  if (digits == "00" || digits == "01") {
    push(Kind::boolean, digits == "01" ? 1 : 0);
    return;
  }
  if (digits.ends_with('L')) digits.remove_suffix(1);
  if (const auto whole = parse_int(digits)) {
    push_integer(*whole);
  } else {
    push_real(parse_double(digits).value_or(0));
  }
}

void PickleMachine::push_text(std::string_view text) {
  const uint64_t offset = pickle_.texts_.size();
  pickle_.texts_.append(text);
  push(Kind::text, offset << kTextLengthBits | text.size());
}

void PickleMachine::push_container(Kind kind, size_t items) {
  if (kind == Kind::dict && items % 2 != 0) fail("makes a dict of an odd number of values");
  if (stack_.size() < items + (marks_.empty() ? 0 : marks_.back())) {
    fail("takes more from its stack than it put there");
  }
  if (!trouble_.empty()) return;
  const auto first = stack_.end() - static_cast<std::ptrdiff_t>(items);
  pickle_.containers_.emplace_back(first, stack_.end());
  stack_.erase(first, stack_.end());
  values_ += items + 3;  // A container costs about as much as three values.
  push(kind, pickle_.containers_.size() - 1);
}

// Moves the topmost values into the list or dict below them; what is neither swallows them.
void PickleMachine::add_to(size_t items, Kind wanted) {
  const size_t floor = marks_.empty() ? 0 : marks_.back();
  if (stack_.size() < floor + items + 1) return fail("adds values to nothing");
  const auto first = stack_.end() - static_cast<std::ptrdiff_t>(items);
  const PickleValue target = *(first - 1);
  if (wanted == Kind::dict && items % 2 != 0) return fail("sets an odd number of keys and values");
  if (target.kind() == wanted && wanted != Kind::opaque) {
    std::vector<PickleValue>& container = pickle_.containers_[target.payload()];
    container.insert(container.end(), first, stack_.end());
    values_ += items;
  }
  stack_.erase(first, stack_.end());
}

void PickleMachine::push_opaque_for(size_t taken) {
  for (size_t i = 0; i < taken; ++i) pop();
  push(Kind::opaque);
}

void PickleMachine::push_global(std::string_view module, std::string_view name) {
  const bool makes_dict =
      module == "collections" && (name == "OrderedDict" || name == "defaultdict");
  push(makes_dict ? Kind::dict_maker : Kind::opaque);
}

// Indices count up from 0 in every pickle that Python writes.
void PickleMachine::memoise(uint64_t index) {
  if (index > instructions_) return fail("numbers its values in a way that no Python does");
  if (stack_.empty()) return fail("remembers a value that is not there");
  if (memo_.size() <= index) {
    values_ += index + 1 - memo_.size();
    memo_.resize(index + 1);
  }
  memo_[index] = stack_.back();
}

void PickleMachine::recall(uint64_t index) {
  if (index >= memo_.size()) return fail("recalls a value that it did not remember");
  push(memo_[index]);
}

Result<Pickle> PickleMachine::run() {
  const auto failed = [this](std::string_view why) {
    return Error{
        Error::Kind::bad_input,
        fmt::format("is no pickle that can be read: byte {}: it {}", input_.position(), why)};
  };
  while (true) {
    const uint8_t op = input_.byte();
    ++instructions_;
    if (input_.ended()) return failed("ends too early");
    if (op == '.') break;  // STOP
    const bool known = do_memo(op) || do_text(op) || do_number(op) || do_container(op) ||
                       do_stack(op) || do_object(op) || do_other(op);
    if (!known) return failed(fmt::format("holds the unknown instruction 0x{:02x}", op));
    if (input_.ended()) return failed("ends too early");
    if (values_ > Pickle::kMaxValues) {
      fail(fmt::format("holds more than {} values", Pickle::kMaxValues));
    }
    if (!trouble_.empty()) return failed(trouble_);
  }
  pickle_.root_ = pop();
  if (!trouble_.empty()) return failed(trouble_);
  return std::move(pickle_);
}

}  // namespace plateau
