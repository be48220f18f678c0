// SPDX-License-Identifier: Apache-2.0
#include "share/svg_chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>

#include "page/pack.h"
#include "report/plot_axis.h"
#include "report/plot_scene.h"
#include "report/printable.h"
#include "report/text.h"
#include "words/phrases.h"
#include "words/verdict_words.h"

namespace plateau {
namespace {

// In the picture's own units, which are pixels where it is shown at its natural size.
constexpr double kWidth = 840, kHeight = 380;
constexpr double kLeft = 78, kRight = 820, kTop = 76, kBottom = 300;
constexpr double kClockY = 320, kPhaseY = 338, kLegendY = 366;
constexpr size_t kAmountTicks = 5, kClockTicks = 8;
constexpr size_t kMostPhases = 6;
// Letters that fit a unit of width, about, in the small font.
constexpr double kLetter = 6.3;
constexpr size_t kLongestTitle = 96;

// One rule a line: the documentation's site takes the dark ones for its own switch.
constexpr std::string_view kStyle = R"(
.plateau-chart text{font:12px system-ui,"Segoe UI",Roboto,"Liberation Sans",Arial,sans-serif;fill:#52606d}
.plateau-chart .paper{fill:#ffffff}
.plateau-chart .grid{stroke:#e6eaee}
.plateau-chart .axis{stroke:#b3bcc6;fill:none}
.plateau-chart .floor{stroke:#0a5cad;stroke-width:2;stroke-linejoin:round;fill:none}
.plateau-chart .spike{stroke:#a3358f;stroke-width:1.5;fill:none}
.plateau-chart .ahead{stroke:#8a5300;stroke-width:1.5;stroke-dasharray:5 4;fill:none}
.plateau-chart .limit{stroke:#b3261e;stroke-width:1.5;stroke-dasharray:8 3}
.plateau-chart .epoch{stroke:#5d6b78;stroke-dasharray:2 4}
.plateau-chart .event{fill:#0b6b5b}
.plateau-chart .answer{font-size:17px;font-weight:600;fill:#16202a}
.plateau-chart .answer .plateau{fill:#0b6b5b}
.plateau-chart .answer .leak{fill:#b3261e}
.plateau-chart .answer .warming{fill:#8a5300}
.plateau-chart .answer .undecided{fill:#4f4a8c}
@media (prefers-color-scheme:dark){
.plateau-chart text{fill:#9fadba}
.plateau-chart .paper{fill:#161d24}
.plateau-chart .grid{stroke:#232d37}
.plateau-chart .axis{stroke:#465563}
.plateau-chart .floor{stroke:#79b8ff}
.plateau-chart .spike{stroke:#e48fd3}
.plateau-chart .ahead{stroke:#f2b84b}
.plateau-chart .limit{stroke:#ff8a80}
.plateau-chart .epoch{stroke:#8fa0b0}
.plateau-chart .event{fill:#4fd1b5}
.plateau-chart .answer{fill:#e4eaf0}
.plateau-chart .answer .plateau{fill:#4fd1b5}
.plateau-chart .answer .leak{fill:#ff8a80}
.plateau-chart .answer .warming{fill:#f2b84b}
.plateau-chart .answer .undecided{fill:#b4aeff}
}
)";

struct Picture {
  const Verdict& verdict;
  const PlotScene& scene;

  [[nodiscard]] double x(double step) const {
    const double share = (step - scene.step_low) / (scene.step_high - scene.step_low);
    return kLeft + std::clamp(share, 0.0, 1.0) * (kRight - kLeft);
  }
  [[nodiscard]] double y(double mb) const {
    const double share = (mb - scene.mb_low) / (scene.mb_high - scene.mb_low);
    return kBottom - std::clamp(share, 0.0, 1.0) * (kBottom - kTop);
  }
};

std::string line(std::string_view kind, double x1, double y1, double x2, double y2) {
  return fmt::format(
      "<line class=\"{}\" x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\"/>\n", kind, x1,
      y1, x2, y2);
}

std::string text(double x, double y, std::string_view anchor, std::string_view words) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", x, y, anchor,
                     html_escaped(words));
}

std::string path(std::string_view kind, const std::string& commands) {
  return commands.empty() ? "" : fmt::format("<path class=\"{}\" d=\"{}\"/>\n", kind, commands);
}

std::string axes(const Picture& at) {
  std::string out;
  for (const AxisTick& tick : amount_ticks(at.scene, kAmountTicks)) {
    const double y = at.y(tick.at);
    out += line("grid", kLeft, y, kRight, y) + text(kLeft - 8, y + 4, "end", tick.label);
  }
  out += line("axis", kLeft, kBottom, kRight, kBottom);
  const ClockUnit unit = clock_unit_of(at.verdict.clock, at.scene);
  for (const AxisTick& tick : clock_ticks(unit, at.scene, kClockTicks)) {
    const double x = at.x(tick.at);
    out += line("axis", x, kBottom, x, kBottom + 5) + text(x, kClockY, "middle", tick.label);
  }
  return out + text(kLeft - 8, kClockY, "end", unit.name);
}

std::string epochs(const Picture& at) {
  std::string out;
  int number = 0;
  for (const double step : at.scene.boundaries) {
    const std::string label = ++number == 1 ? "epoch 1 ends" : fmt::format("{}", number);
    out += line("epoch", at.x(step), kTop - 6, at.x(step), kBottom);
    out += text(at.x(step), kTop - 10, "middle", label);
  }
  return out;
}

std::string limit(const Picture& at) {
  if (!at.scene.limit_mb) return "";
  const double y = at.y(*at.scene.limit_mb);
  return line("limit", kLeft, y, kRight, y) + text(kRight - 4, y - 5, "end", "limit");
}

// The floor as one line; spikes stand on it.
std::string series(const Picture& at) {
  std::string floor, spikes;
  const PlotPoint* before = nullptr;
  for (const PlotPoint& point : at.verdict.plot) {
    if (!std::isfinite(point.step) || !std::isfinite(point.mb)) continue;
    const double x = at.x(point.step), y = at.y(point.mb);
    if (point.spike) {
      spikes += fmt::format("M{:.1f} {:.1f}V{:.1f}", x, before ? at.y(before->mb) : kBottom, y);
      continue;
    }
    floor += fmt::format("{}{:.1f} {:.1f}", before ? "L" : "M", x, y);
    before = &point;
  }
  return path("spike", spikes) + path("floor", floor);
}

std::string ahead(const Picture& at) {
  std::string out;
  for (const auto& way : at.scene.forecasts) {
    std::string commands;
    for (const PlotPoint& point : way) {
      commands += fmt::format("{}{:.1f} {:.1f}", commands.empty() ? "M" : "L", at.x(point.step),
                              at.y(point.mb));
    }
    out += path("ahead", commands);
  }
  return out;
}

// Evaluations, checkpoints and the like as marks on the axis, one colour: the legend names them.
std::string events(const Picture& at) {
  std::string out;
  double last = -1;
  for (const PlotMark& mark : at.verdict.marks) {
    if (mark.kind == EventKind::epoch || !std::isfinite(mark.step)) continue;
    const double x = at.x(mark.step);
    if (x < last + 2) continue;
    out += fmt::format("<path class=\"event\" d=\"M{:.1f} {:.0f}l3.5 -6h-7z\"/>\n", x, kBottom);
    last = x;
  }
  return out;
}

std::string phases(const Picture& at) {
  const std::vector<Phase>& all = at.verdict.phases;
  if (all.size() < 2 || all.size() > kMostPhases) return "";
  std::string out;
  for (const Phase& phase : all) {
    const double from = at.x(phase.from_step) + 1, to = at.x(phase.to_step) - 1;
    if (to - from < 8) continue;
    out += line("axis", from, kPhaseY - 4, to, kPhaseY - 4);
    out +=
        line("axis", from, kPhaseY - 8, from, kPhaseY) + line("axis", to, kPhaseY - 8, to, kPhaseY);
    const std::string label = phase_label(at.verdict, phase, at.scene);
    if (kLetter * static_cast<double>(label.size()) > to - from) continue;
    out += text((from + to) / 2, kPhaseY + 9, "middle", label);
  }
  return out;
}

std::string legend(const Picture& at) {
  std::string out;
  double x = kLeft;
  const auto add = [&](std::string_view kind, std::string_view name) {
    out +=
        line(kind, x, kLegendY - 4, x + 22, kLegendY - 4) + text(x + 28, kLegendY, "start", name);
    x += 44 + kLetter * static_cast<double>(name.size());
  };
  add("floor", "memory (floor)");
  if (at.scene.has_spikes) add("spike", "spikes");
  if (!at.scene.forecasts.empty()) add("ahead", "where it may go");
  std::vector<std::string_view> kinds;
  for (const PlotMark& mark : at.verdict.marks) {
    const std::string_view name = event_name(mark.kind);
    if (mark.kind != EventKind::epoch && std::ranges::find(kinds, name) == kinds.end()) {
      kinds.push_back(name);
    }
  }
  if (kinds.empty()) return out;
  out +=
      fmt::format("<path class=\"event\" d=\"M{:.1f} {:.0f}l3.5 -6h-7z\"/>\n", x + 5, kLegendY - 1);
  return out + text(x + 14, kLegendY, "start", fmt::format("{}", fmt::join(kinds, ", ")));
}

std::string heading(const Verdict& verdict) {
  const std::string word(word_name(verdict.word));
  const std::string course = plain(course_of(verdict).text);
  return fmt::format(
             "<text class=\"answer\" x=\"18\" y=\"26\"><tspan class=\"{}\">{}</tspan> {}</text>\n",
             word, word_upper(verdict.word),
             html_escaped(shorten(answer_of(verdict), kLongestTitle - 10))) +
         text(18, 46, "start", shorten(verdict.file, kLongestTitle)) +
         fmt::format("<desc>{}</desc>\n", html_escaped(course));
}

}  // namespace

std::string svg_chart(const Verdict& verdict) {
  const Verdict clean = printable_verdict(verdict);
  std::string out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"plateau-chart\" role=\"img\" "
      "viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\">\n",
      kWidth, kHeight);
  out += fmt::format("<title>{}: {}, {}</title>\n", html_escaped(clean.file), word_name(clean.word),
                     html_escaped(answer_of(clean)));
  out += fmt::format("<style>{}</style>\n", kStyle);
  out += "<rect class=\"paper\" width=\"100%\" height=\"100%\"/>\n" + heading(clean);
  const std::optional<PlotScene> scene = plan_plot(clean);
  if (scene) {
    const Picture at = {clean, *scene};
    out += axes(at) + epochs(at) + limit(at) + ahead(at) + series(at) + events(at) + phases(at) +
           legend(at);
  } else {
    out += text(kWidth / 2, kHeight / 2, "middle", "too few samples to draw");
  }
  return out + "</svg>\n";
}

}  // namespace plateau
