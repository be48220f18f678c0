// SPDX-License-Identifier: Apache-2.0
#include "symbols/demangle.h"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>

#include "symbols/rust_names.h"

namespace plateau {

std::string demangled(const std::string& symbol) {
  if (symbol.starts_with("_R")) return rust_v0_name(symbol).value_or(symbol);
  // Without the prefix the demangler would read "f" as the type float.
  if (!symbol.starts_with("_Z") && !symbol.starts_with("__Z")) return symbol;
  // Clones of a function ("f.cold", "f.part.0") are the function to a reader.
  // Rust's own names may have dots, which stand before their end.
  const size_t hash = symbol.find("17h");
  const std::string plain =
      symbol.substr(0, symbol.find('.', hash == std::string::npos ? 0 : hash));
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(plain.c_str(), nullptr, nullptr, &status), &std::free);
  return status == 0 && text != nullptr ? rust_legacy_name(text.get()) : symbol;
}

}  // namespace plateau
