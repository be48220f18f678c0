// SPDX-License-Identifier: Apache-2.0
// Snappy's block format, written: what remote write wants its bodies in.
//
// A block is the plain length as a varint, then elements. An element is a literal (a tag, a length,
// bytes) or a copy of bytes that came before (a tag, a length of at most 64, a distance of at most
// 64 KB here). A writer is free to find few copies or none, so ours is a page: a table of where
// four bytes were last seen, and the first match is taken. A list of series repeats its labels in
// every one, and comes out at a tenth of its size.
//
// An own writer, and not libsnappy, because the library would be one more thing that every machine
// must have, for this page; receivers unpack it with theirs, and the tests hold it to that.
//
// Worked bytes: "aaaaaaaaaa" is 0a 00 61 22 01 00: ten bytes; a literal of one, "a"; a copy of nine
// from one byte back.
#pragma once

#include <string>
#include <string_view>

namespace plateau::push {

// Requires: fewer than 2^32 bytes.
std::string snappy_block(std::string_view plain);

}  // namespace plateau::push
