// SPDX-License-Identifier: Apache-2.0
// A line as plain letters: boxes, accents and other alphabets say what ASCII says too.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "import/cells.h"

namespace plateau {
namespace {

// What other bytes stand for.
struct Meant {
  std::string_view bytes;
  std::string_view plain;
};

constexpr std::array<Meant, 9> kDrawn = {{{"\xe2\x94\x82", "|"},
                                          {"\xe2\x94\x83", "|"},
                                          {"\xe2\x95\x91", "|"},
                                          {"\xe2\x94\x80", "-"},
                                          {"\xe2\x94\x81", "-"},
                                          {"\xe2\x95\x90", "-"},
                                          {"\xe2\x86\x92", ">"},
                                          {"\xef\xbc\x9a", ":"},
                                          {"**", " "}}};

// Memory, and the units, where they are written in no Latin letters. Before the shorter ones that
// they begin with.
constexpr std::array<Meant, 19> kWords = {{{"累计", "accumulated "},
                                           {"峰值", "peak "},
                                           {"可用", "available "},
                                           {"空闲", "free "},
                                           {"память", "memory"},
                                           {"Память", "memory"},
                                           {"памяти", "memory"},
                                           {"пам'ять", "memory"},
                                           {"内存", "memory"},
                                           {"記憶體", "memory"},
                                           {"メモリー", "memory"},
                                           {"メモリ", "memory"},
                                           {"메모리", "memory"},
                                           {"КБ", "KB"},
                                           {"МБ", "MB"},
                                           {"ГБ", "GB"},
                                           {"Кб", "KB"},
                                           {"Мб", "MB"},
                                           {"Гб", "GB"}}};

template <typename Table>
const Meant* meant_at(const Table& table, std::string_view rest) {
  const auto found = std::find_if(table.begin(), table.end(), [rest](const Meant& known) {
    return rest.starts_with(known.bytes);
  });
  return found == table.end() ? nullptr : &*found;
}

// The letter without its accent of a UTF-8 pair that begins with 0xc3: "Memoire" of "Mémoire"; 0 if
// it is none.
char without_accent(char second) {
  static constexpr std::string_view kPlain =
      "AAAAAAACEEEEIIIIDNOOOOO.OUUUUY.saaaaaaaceeeeiiiidnooooo.ouuuuy.y";
  const auto at = static_cast<size_t>(static_cast<unsigned char>(second)) - 0x80;
  return at < kPlain.size() && kPlain[at] != '.' ? kPlain[at] : '\0';
}

// Whether the line is ASCII without '*'. Takes eight bytes at a time.
bool is_plain(std::string_view line) {
  const auto strange = [](uint64_t bytes) {
    const uint64_t stars = bytes ^ 0x2a2a2a2a2a2a2a2aull;
    return ((stars - 0x0101010101010101ull) & ~stars) | bytes;
  };
  uint64_t found = 0;
  size_t at = 0;
  for (; at + 8 <= line.size(); at += 8) {
    uint64_t bytes = 0;
    std::memcpy(&bytes, line.data() + at, 8);
    found |= strange(bytes);
  }
  uint64_t rest = 0;
  if (at < line.size()) std::memcpy(&rest, line.data() + at, line.size() - at);
  return ((found | strange(rest)) & 0x8080808080808080ull) == 0;
}

}  // namespace

std::string_view plain_line(std::string_view line, std::string& storage) {
  while (line.starts_with("> ") || line == ">")
    line.remove_prefix(std::min<size_t>(2, line.size()));
  if (is_plain(line)) return line;
  storage.clear();
  for (size_t at = 0; at < line.size();) {
    const bool ascii = static_cast<unsigned char>(line[at]) < 0x80;
    if (ascii && line[at] != '*') {
      storage.push_back(line[at++]);
      continue;
    }
    const std::string_view rest = line.substr(at);
    const Meant* meant = meant_at(kDrawn, rest);
    if (meant == nullptr && !ascii) meant = meant_at(kWords, rest);
    if (meant != nullptr) {
      storage += meant->plain;
      at += meant->bytes.size();
      continue;
    }
    const char plain = rest[0] == '\xc3' && rest.size() > 1 ? without_accent(rest[1]) : '\0';
    storage.push_back(plain != '\0' ? plain : rest[0]);
    at += plain != '\0' ? 2 : 1;
  }
  return storage;
}

}  // namespace plateau
