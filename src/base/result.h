// SPDX-License-Identifier: Apache-2.0
// Errors as values: Result<T> holds either a T or an Error, and nothing below cli/ exits or throws.
//
// An Error is one sentence for a user: where (file, line), what was found, what to try. Callers add
// context by building a new Error, never by printing.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace plateau {

struct Error {
  enum class Kind {
    usage,       // The command line asks for something that cannot be.
    not_found,   // The file does not exist or may not be read.
    bad_input,   // The bytes are not what was expected.
    no_samples,  // Well-formed, but holds nothing that could be judged.
  };
  Kind kind = Kind::bad_input;
  std::string message;
};

inline Error usage_error(std::string message) {
  return {Error::Kind::usage, std::move(message)};
}

// Holds a T on success. Requires: value() only after ok(), error() only after !ok().
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::move(value)) {}      // NOLINT: implicit by design, `return value;`
  Result(Error error) : state_(std::move(error)) {}  // NOLINT: implicit by design, `return error;`

  [[nodiscard]] bool ok() const { return std::holds_alternative<T>(state_); }
  explicit operator bool() const { return ok(); }

  T& value() { return *std::get_if<T>(&state_); }
  const T& value() const { return *std::get_if<T>(&state_); }
  [[nodiscard]] const Error& error() const { return *std::get_if<Error>(&state_); }

 private:
  std::variant<T, Error> state_;
};

// Nothing to hand over on success: `return {};`. Requires: error() only after !ok().
template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)) {}  // NOLINT: implicit by design, `return error;`

  [[nodiscard]] bool ok() const { return !error_.has_value(); }
  explicit operator bool() const { return ok(); }
  [[nodiscard]] const Error& error() const { return *error_; }

 private:
  std::optional<Error> error_;
};

}  // namespace plateau
