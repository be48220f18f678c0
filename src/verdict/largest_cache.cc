// SPDX-License-Identifier: Apache-2.0
#include "verdict/largest_cache.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace plateau {
namespace {

constexpr double kShareOfLimit = 1.0 / 16;
constexpr double kUsualMachineMb = 16 * 1024;
constexpr double kTimesStated = 1.5;
constexpr double kShareOfJvm = 0.25;
constexpr double kMemcachedMb = 64;
// Nobody states more; it is a number of something else.
constexpr double kMostMb = 64.0 * 1024 * 1024;

// An option that states a maximum; `unit_mb` is that of a bare number. The value is the rest of the
// word if that is not empty, else the next word.
struct Option {
  std::string_view program;  // Empty: any.
  std::string_view name;
  double unit_mb;
};
constexpr double kByte = 1.0 / (1024 * 1024);
constexpr std::array<Option, 5> kOptions = {{{"", "-Xmx", kByte},
                                             {"", "--max-old-space-size=", 1},
                                             {"", "--max_old_space_size=", 1},
                                             {"redis-server", "--maxmemory", kByte},
                                             {"memcached", "-m", 1}}};

std::string_view file_of(std::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

// "4g", "2gb", "512M", "1024": a number with an optional first letter of a unit.
std::optional<double> size_mb(std::string_view text, double unit_mb) {
  size_t digits = 0;
  double value = 0;
  while (digits < text.size() && digits < 15 && text[digits] >= '0' && text[digits] <= '9') {
    value = 10 * value + (text[digits++] - '0');
  }
  if (digits == 0) return std::nullopt;
  if (digits < text.size()) {
    constexpr std::string_view kLetters = "kmgt";
    const size_t power = kLetters.find(ascii_lower(text[digits]));
    if (power == std::string_view::npos) return std::nullopt;
    unit_mb = 1.0 / 1024;
    for (size_t i = 0; i < power; ++i) unit_mb *= 1024;
  }
  const double mb = value * unit_mb;
  return mb > 0 && mb < kMostMb ? std::optional(mb) : std::nullopt;
}

}  // namespace

std::optional<double> stated_maximum_mb(std::string_view command, std::optional<double> limit_mb) {
  const std::string_view program = file_of(next_word(command));
  while (!command.empty()) {
    const std::string_view word = next_word(command);
    for (const Option& option : kOptions) {
      if (!option.program.empty() && option.program != program) continue;
      if (!word.starts_with(option.name)) continue;
      std::string_view value = word.substr(option.name.size());
      std::string_view rest = command;
      if (value.empty()) value = next_word(rest);
      if (const auto mb = size_mb(value, option.unit_mb)) return mb;
    }
  }
  if (program == "java") return kShareOfJvm * limit_mb.value_or(kUsualMachineMb);
  if (program == "memcached") return kMemcachedMb;
  return std::nullopt;
}

double most_of_any_cache(const Floors& floors, double largest_cache_mb) {
  return std::max(largest_cache_mb, kTimesBefore * floors.mb.front());
}

bool beyond_any_cache(const Floors& floors, double largest_cache_mb) {
  const double before_mb = floors.mb.front();
  // Used memory that was worked out from what is free begins at 0, whatever was held before.
  if (largest_cache_mb <= 0 || before_mb <= 0) return false;
  return floors.mb.back() - before_mb > most_of_any_cache(floors, largest_cache_mb);
}

double largest_cache_mb(const Run& run) {
  std::optional<double> limit;
  if (run.context.limit_mb) limit = run.context.limit_mb->value;
  const double of_machine = kShareOfLimit * limit.value_or(kUsualMachineMb);
  const double stated = stated_maximum_mb(run.command, limit).value_or(0);
  return std::max(of_machine, kTimesStated * stated);
}

}  // namespace plateau
