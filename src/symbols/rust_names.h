// SPDX-License-Identifier: Apache-2.0
// Names of Rust functions as their author wrote them. Rust mangles in two ways: "legacy" looks like
// C++ with a hash at the end and escapes ("$LT$" for "<"); "v0" begins with "_R" and has a grammar
// of its own (RFC 2603). Hashes, disambiguators and the crates' own are left out.
//
// Bounded: nesting and length have limits, beyond which a name stays as it is.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace plateau {

// Of a symbol that begins with "_R"; nothing if it is none of v0.
std::optional<std::string> rust_v0_name(std::string_view symbol);

// Of what a C++ demangler made of a legacy symbol ("core::fmt::write::h0123456789abcdef"); the text
// itself if it is not one.
std::string rust_legacy_name(std::string text);

}  // namespace plateau
