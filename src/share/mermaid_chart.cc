// SPDX-License-Identifier: Apache-2.0
#include "share/mermaid_chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string_view>
#include <vector>

#include "report/plot_axis.h"
#include "report/plot_scene.h"

namespace plateau {
namespace {

// As many values as the width of a summary has room for.
constexpr size_t kValues = 60;
constexpr double kMbPerGb = 1000;
// Mermaid's own first colour can hardly be seen on white; these can on white and on black. The
// second is the limit's.
constexpr std::string_view kLook =
    R"(%%{init: {"xyChart": {"width": 800, "height": 320}, )"
    R"("themeVariables": {"xyChart": {"plotColorPalette": "#3b8fd9, #d9534f"}}}}%%)";

// The highest sample of each stretch, MB.
std::array<std::optional<double>, kValues> peaks_of_stretches(const std::vector<PlotPoint>& points,
                                                              double from, double to) {
  std::array<std::optional<double>, kValues> peaks;
  for (const PlotPoint& point : points) {
    if (!std::isfinite(point.step) || !std::isfinite(point.mb)) continue;
    const double share = (point.step - from) / (to - from);
    const auto last = static_cast<double>(kValues - 1);
    const auto at = static_cast<size_t>(std::lround(std::clamp(share, 0.0, 1.0) * last));
    peaks[at] = std::max(peaks[at].value_or(point.mb), point.mb);
  }
  return peaks;
}

// Every stretch has a value: those without a sample lie on the line between their neighbours.
std::vector<double> filled(const std::array<std::optional<double>, kValues>& peaks) {
  std::vector<double> values;
  for (size_t i = 0; i < kValues; ++i) {
    if (!peaks[i]) continue;
    const size_t gap = i + 1 - values.size();
    const double before = values.empty() ? *peaks[i] : values.back();
    for (size_t k = 1; k <= gap; ++k) {
      const double share = static_cast<double>(k) / static_cast<double>(gap);
      values.push_back(before + share * (*peaks[i] - before));
    }
  }
  if (!values.empty()) values.resize(kValues, values.back());
  return values;
}

std::string listed(const std::vector<double>& values, double mb_per_unit) {
  std::string out;
  for (const double mb : values) {
    out += fmt::format("{}{:.4g}", out.empty() ? "" : ", ", mb / mb_per_unit);
  }
  return out;
}

}  // namespace

std::string mermaid_chart(const Verdict& verdict) {
  const std::optional<PlotScene> scene = plan_plot(verdict);
  if (!scene) return "";
  const double from = scene->step_low;
  const double to = std::min(scene->step_high, verdict.last_step);
  if (!(to > from)) return "";
  const std::vector<double> values = filled(peaks_of_stretches(verdict.plot, from, to));
  if (values.size() < 2) return "";
  const bool large = scene->mb_high >= kMbPerGb;
  const double unit = large ? kMbPerGb : 1;
  const ClockUnit clock = clock_unit_of(verdict.clock, *scene);
  std::string out = fmt::format(
      "```mermaid\n{}\nxychart-beta\n  x-axis \"{}\" {:.6g} --> {:.6g}\n"
      "  y-axis \"memory, {}\" {:.4g} --> {:.4g}\n  line [{}]\n",
      kLook, clock.name, from / clock.scale, to / clock.scale, large ? "GB" : "MB",
      std::max(0.0, scene->mb_low) / unit, scene->mb_high / unit, listed(values, unit));
  if (scene->limit_mb) {
    const std::vector<double> limit(values.size(), *scene->limit_mb);
    out += fmt::format("  line [{}]\n", listed(limit, unit));
  }
  return out + "```\n";
}

}  // namespace plateau
