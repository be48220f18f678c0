// SPDX-License-Identifier: Apache-2.0
#include "dataset/other_format.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"

namespace plateau {
namespace {

// As one word of a POSIX shell.
std::string shell_word(const std::string& text) {
  const auto is_plain = [](char c) {
    return is_letter(c) || is_digit(c) ||
           std::string_view("/._-+=:,@").find(c) != std::string_view::npos;
  };
  if (!text.empty() && std::ranges::all_of(text, is_plain)) return text;
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

// A batch of rows at a time, so that the command needs little memory whatever the file has.
// Pictures, which are bytes, become base64; dates and the like become text.
std::string by_pyarrow(std::string_view kind, std::string_view import, std::string_view batches,
                       const std::string& file) {
  return fmt::format(
      "{} is not read; this makes JSON lines of it (pip install pyarrow): python3 -c \"import "
      "base64,json,sys,{} as a; t=lambda v: base64.b64encode(v).decode() if isinstance(v,bytes) "
      "else str(v); [print(json.dumps(r,default=t)) for b in {} for r in b.to_pylist()]\" {} > {}",
      kind, import, batches, shell_word(file), shell_word(file + ".jsonl"));
}

}  // namespace

std::string other_format(std::string_view begin, const std::string& file) {
  if (begin.starts_with("PAR1")) {
    return by_pyarrow("Parquet", "pyarrow.parquet", "a.ParquetFile(sys.argv[1]).iter_batches(64)",
                      file);
  }
  if (begin.starts_with("ARROW1")) {
    return by_pyarrow("Arrow", "pyarrow",
                      "(lambda f: map(f.get_batch,range(f.num_record_batches)))"
                      "(a.ipc.open_file(sys.argv[1]))",
                      file);
  }
  if (begin.starts_with("\xFF\xFF\xFF\xFF")) {
    return by_pyarrow("Arrow", "pyarrow", "a.ipc.open_stream(sys.argv[1])", file);
  }
  if (begin.starts_with("\xFF\xFE") || begin.starts_with("\xFE\xFF")) {
    return "UTF-16; UTF-8 is expected: iconv -f UTF-16 -t UTF-8";
  }
  if (begin.starts_with("\x1F\x8B")) return "compressed with gzip; gunzip it first";
  if (begin.starts_with("\x28\xB5\x2F\xFD")) return "compressed with zstd; unzstd it first";
  if (begin.starts_with("PK\x03\x04")) return "a zip archive; unzip it first";
  return "";
}

}  // namespace plateau
