// SPDX-License-Identifier: Apache-2.0
#include "import/figure_sources.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.h"

namespace plateau {
namespace {

constexpr std::array<std::string_view, 3> kPools = {".all.", ".small_pool.", ".large_pool."};

bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

bool is_memory_now(std::string_view name) {
  const bool of_pool = std::any_of(kPools.begin(), kPools.end(),
                                   [name](std::string_view pool) { return has(name, pool); });
  if (!of_pool) return true;
  return name.ends_with("allocated_bytes.all.current") ||
         name.ends_with("reserved_bytes.all.current");
}

}  // namespace

ColumnRole role_of_figure(std::string_view name) {
  std::string lower(name.substr(0, 400));
  for (char& c : lower) c = ascii_lower(c);
  if (has(lower, "disk") || !is_memory_now(lower)) return {};
  return classify_column(name);
}

Result<Runs> runs_of(FigureTable& table, const FigureAccount& account, const FigureFormat& format) {
  if (table.empty()) {
    const std::string others = table.other_names();
    const std::string trouble = account.trouble.empty() ? "" : " (" + account.trouble + ")";
    if (others.empty()) {
      return Error{Error::Kind::no_samples,
                   fmt::format("is {} without {}{}", format.what, format.figures, trouble)};
    }
    return Error{Error::Kind::no_samples,
                 fmt::format("is {}, but none of its {} is named like memory: {}{}", format.what,
                             format.figures, others, trouble)};
  }
  RunBuilder builder{std::string(format.name)};
  if (!account.trouble.empty()) builder.note(account.trouble);
  table.write(builder);
  Runs runs = builder.finish(account.records);
  // The builder counts lines, of which there are none.
  for (size_t i = 0; runs.size() > 1 && i < runs.size(); ++i) {
    runs[i].title = fmt::format("run {} of {}", i + 1, runs.size());
  }
  return runs;
}

}  // namespace plateau
