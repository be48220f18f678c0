// SPDX-License-Identifier: Apache-2.0
#include "cli/reading_file.h"

#include <fmt/format.h>
#include <fnmatch.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <system_error>

#include "base/files.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/write_file.h"

namespace plateau {
namespace {

constexpr std::string_view kName = ".plateau.toml";
constexpr int kMostFolders = 32;
constexpr off_t kMostBytes = 64u << 10;

// The text between the quotes of a TOML string; nullopt if it is none that we write.
std::optional<std::string> unquote(std::string_view text) {
  text = trim(text);
  if (text.size() < 2 || text.front() != '"') return std::nullopt;
  std::string out;
  for (size_t i = 1; i < text.size(); ++i) {
    if (text[i] == '"') {
      const std::string_view rest = trim(text.substr(i + 1));
      return rest.empty() || rest.front() == '#' ? std::optional(out) : std::nullopt;
    }
    if (text[i] == '\\' && i + 1 < text.size()) ++i;
    out.push_back(text[i]);
  }
  return std::nullopt;
}

std::string toml_string(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out.push_back('\\');
    if (static_cast<unsigned char>(c) >= 0x20) out.push_back(c);
  }
  return out + "\"";
}

bool may_be_believed(const std::filesystem::path& file) {
  struct stat info{};
  if (stat(file.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) return false;
  if ((info.st_mode & (S_IWGRP | S_IWOTH)) != 0) return false;
  if (info.st_size > kMostBytes) return false;
  return info.st_uid == 0 || info.st_uid == geteuid();
}

struct Line {
  std::string_view key;
  std::string value;
};

Result<void> take(const Line& line, ReadingWishes& wishes) {
  if (line.key == "memory") {
    wishes.memory = line.value;
  } else if (line.key == "clock") {
    wishes.clock = line.value;
  } else if (line.key == "series") {
    wishes.series = line.value;
  } else if (line.key == "unit") {
    const Result<double> mb = unit_named(line.value);
    if (!mb) return mb.error();
    wishes.unit_mb = mb.value();
  } else {
    return Error{Error::Kind::bad_input,
                 fmt::format("unknown key '{}'; known are memory, clock, series, unit", line.key)};
  }
  return {};
}

}  // namespace

Result<double> unit_named(std::string_view text) {
  text = trim(text);
  if (equal_ignoring_case(text, "pages") || equal_ignoring_case(text, "page")) return 4096 / 1e6;
  if (const auto unit = unit_in_mb(text)) return *unit;
  if (const auto amount = parse_memory_mb(text); amount && *amount > 0 && !parse_double(text)) {
    return *amount;
  }
  return Error{
      Error::Kind::usage,
      fmt::format("a unit is B, KiB, MB, GiB, pages or an amount such as 640MB, not '{}'", text)};
}

Result<ReadingWishes> parse_reading_file(std::string_view text, std::string_view name,
                                         const std::string& file) {
  ReadingWishes wishes;
  bool applies = true;
  const std::string log(name);
  for (size_t number = 1; !text.empty(); ++number) {
    const std::string_view line = trim(take_part(text, '\n'));
    const auto wrong = [&](std::string_view why) {
      return Error{Error::Kind::bad_input, fmt::format("{}:{}: {}", file, number, why)};
    };
    if (line.empty() || line.front() == '#') continue;
    if (line.front() == '[') {
      static constexpr std::string_view kSection = "[logs.";
      if (!line.starts_with(kSection) || line.back() != ']') {
        return wrong("expected a section like [logs.\"train.log\"]");
      }
      const auto pattern = unquote(line.substr(kSection.size(), line.size() - kSection.size() - 1));
      if (!pattern) return wrong("expected a name in quotes: [logs.\"train.log\"]");
      applies = fnmatch(pattern->c_str(), log.c_str(), 0) == 0;
      continue;
    }
    const size_t equals = line.find('=');
    if (equals == std::string_view::npos) return wrong("expected key = \"value\"");
    const auto value = unquote(line.substr(equals + 1));
    if (!value) return wrong("expected a value in quotes");
    ReadingWishes ignored;
    const Result<void> taken =
        take({trim(line.substr(0, equals)), *value}, applies ? wishes : ignored);
    if (!taken) return wrong(taken.error().message);
  }
  return wishes;
}

Result<ReadingWishes> remembered_wishes(const std::string& path) {
  if (path == "-") return ReadingWishes{};
  std::error_code failed;
  const std::filesystem::path log = std::filesystem::absolute(path, failed);
  if (failed) return ReadingWishes{};
  std::filesystem::path folder = log.parent_path();
  for (int i = 0; i < kMostFolders && !folder.empty(); ++i) {
    const std::filesystem::path file = folder / kName;
    if (may_be_believed(file)) {
      const std::string text = text_of_file(file.string());
      Result<ReadingWishes> wishes =
          parse_reading_file(text, log.filename().string(), file.string());
      if (!wishes || wishes.value().any()) return wishes;
    }
    if (folder == folder.parent_path()) break;
    folder = folder.parent_path();
  }
  return ReadingWishes{};
}

Result<std::string> remember_wishes(const std::string& path, const ReadingWishes& wishes,
                                    std::string_view unit_text) {
  if (path == "-") return usage_error("--remember needs a FILE, not standard input");
  const std::filesystem::path log(path);
  const std::filesystem::path file = log.parent_path() / kName;
  std::string text = fmt::format("[logs.{}]\n", toml_string(log.filename().string()));
  const auto add = [&text](std::string_view key, std::string_view value) {
    if (!value.empty()) text += fmt::format("{} = {}\n", key, toml_string(value));
  };
  add("memory", wishes.memory);
  add("clock", wishes.clock);
  add("series", wishes.series);
  add("unit", unit_text);
  if (const auto failed = write_file(file.string(), text, false)) return *failed;
  return file.string();
}

}  // namespace plateau
