// SPDX-License-Identifier: Apache-2.0
// From the text of /proc/PID/smaps to resident bytes by kind of mapping.
//
// A mapping is a line "begin-end perms offset device inode name" and some twenty lines "Key:
// value", of which two count here: Rss, and Anonymous, the part of it that is nobody's file.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/proc_fields.h"
#include "base/text.h"
#include "ledger/ledger.h"

namespace plateau {
namespace {

constexpr uint64_t kMaxKb = uint64_t{1} << 40;  // A pebibyte: beyond it, not a reading.

struct SmapsEntry {
  uint64_t begin = 0;
  uint64_t end = 0;
  std::string_view perms;
  uint64_t inode = 0;
  std::string_view name;
  uint64_t rss = 0;        // Bytes.
  uint64_t anonymous = 0;  // Of them.
};

bool parse_header(std::string_view line, SmapsEntry& entry) {
  const auto split = split_maps_line(line);
  if (!split || split->perms.size() != 4) return false;
  entry = {.begin = split->begin,
           .end = split->end,
           .perms = split->perms,
           .inode = split->inode,
           .name = split->name};
  return true;
}

bool parse_kb(std::string_view value, uint64_t& bytes) {
  std::string_view rest = value;
  const auto kb = parse_digits(next_word(rest), 10);
  if (!kb || trim(rest) != "kB" || *kb > kMaxKb) return false;
  bytes = *kb * 1024;
  return true;
}

bool is_shared_memory(const SmapsEntry& entry) {
  for (const std::string_view start : {"/dev/shm/", "/run/shm/", "/memfd:", "/SYSV", "/dev/zero",
                                       "[anon_shmem:", "/drm mm object"}) {
    if (entry.name.starts_with(start)) return true;
  }
  return entry.name.empty() && entry.perms[3] == 's';
}

// Bytes of the mapping that belong to the thread whose stack pointer lies in it.
uint64_t stack_share(const SmapsEntry& entry, uint64_t pointer) {
  if (entry.end - entry.begin <= kMaxThreadStackBytes) return entry.rss;
  const uint64_t top = entry.begin + kMaxThreadStackBytes;
  return pointer < top ? std::min(entry.rss, top - (pointer & ~uint64_t{4095})) : 0;
}

class Sorter {
 public:
  explicit Sorter(std::vector<uint64_t> stacks) : stacks_(std::move(stacks)) {
    std::sort(stacks_.begin(), stacks_.end());
  }

  void add(const SmapsEntry& entry) {
    found_.rss += entry.rss;
    const uint64_t written = std::min(entry.anonymous, entry.rss);
    if (entry.name == "[heap]") {
      found_.heap += entry.rss;
    } else if (entry.name.starts_with("[stack") || names_stack(entry.name)) {
      found_.stacks += entry.rss;
    } else if (is_shared_memory(entry)) {
      found_.shared += entry.rss - written;
      found_.file_written += written;
    } else if (entry.name.empty() || entry.name.starts_with("[anon")) {
      const uint64_t stack = stack_part(entry);
      found_.stacks += stack;
      found_.anonymous += entry.rss - stack;
    } else if (entry.name.starts_with('[')) {
      found_.other += entry.rss;
    } else {
      found_.file += entry.rss - written;
      found_.file_written += written;
    }
  }
  [[nodiscard]] const ResidentByMapping& found() const { return found_; }

 private:
  // Newer glibc gives its mappings names where the kernel keeps them.
  static bool names_stack(std::string_view name) {
    return name.starts_with("[anon:") && name.find("pthread stack") != std::string_view::npos;
  }
  [[nodiscard]] uint64_t stack_part(const SmapsEntry& entry) const {
    const auto at = std::lower_bound(stacks_.begin(), stacks_.end(), entry.begin);
    if (at == stacks_.end() || *at >= entry.end) return 0;
    return stack_share(entry, *at);
  }

  std::vector<uint64_t> stacks_;
  ResidentByMapping found_;
};

Error bad_line(size_t line, std::string_view what) {
  return {Error::Kind::bad_input, fmt::format("smaps line {}: {}", line, what)};
}

}  // namespace

Result<ResidentByMapping> parse_smaps(std::string_view text,
                                      const std::vector<uint64_t>& thread_stacks) {
  Sorter sorter(thread_stacks);
  SmapsEntry entry;
  bool is_open = false;
  for (size_t line_number = 1; !text.empty(); ++line_number) {
    const std::string_view line = take_line(text);
    const std::string_view key = line.substr(0, std::min(line.find(':'), line.size()));
    const bool is_field = key.size() < line.size() && key.find(' ') == std::string_view::npos &&
                          key.find('-') == std::string_view::npos;
    if (!is_field) {
      if (is_open) sorter.add(entry);
      if (!parse_header(line, entry)) return bad_line(line_number, "no mapping begins like that");
      is_open = true;
      continue;
    }
    if (!is_open) return bad_line(line_number, "a figure stands before the first mapping");
    uint64_t* wanted = key == "Rss" ? &entry.rss : key == "Anonymous" ? &entry.anonymous : nullptr;
    if (wanted != nullptr && !parse_kb(line.substr(key.size() + 1), *wanted)) {
      return bad_line(line_number, fmt::format("{} is no amount of kB", key));
    }
  }
  if (is_open) sorter.add(entry);
  return sorter.found();
}

std::vector<uint64_t> stacks_above_guards(std::string_view maps) {
  constexpr uint64_t kMaxGuardBytes = uint64_t{64} << 10;
  std::vector<uint64_t> found;
  SmapsEntry before;
  while (!maps.empty()) {
    SmapsEntry entry;
    if (!parse_header(take_line(maps), entry)) continue;
    const bool above_guard = before.end == entry.begin && before.perms == "---p" &&
                             before.inode == 0 && before.end - before.begin <= kMaxGuardBytes;
    if (above_guard && entry.perms == "rw-p" && entry.inode == 0 && entry.name.empty() &&
        entry.end - entry.begin == kMaxThreadStackBytes) {
      found.push_back(entry.begin);
    }
    before = entry;
  }
  return found;
}

// "230 0x1 ... 0x7f7cbf01ac00 0x7f7cbf6ed545": the last but one of the words.
std::optional<uint64_t> stack_pointer_in(std::string_view syscall) {
  std::string_view rest = syscall;
  std::string_view last;
  std::string_view before;
  for (std::string_view word = next_word(rest); !word.empty(); word = next_word(rest)) {
    before = std::exchange(last, word);
  }
  return before.starts_with("0x") ? parse_digits(before.substr(2), 16) : std::nullopt;
}

}  // namespace plateau
