// SPDX-License-Identifier: Apache-2.0
#include "report/plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "report/canvas.h"
#include "report/plot_axis.h"
#include "report/plot_scene.h"
#include "words/phrases.h"

namespace plateau {
namespace {

constexpr size_t kGutter = 10;  // Amount, space and axis: "  17.5 GB ┤".
constexpr size_t kLongestStrip = 6;

// Text laid over a row of blanks; a label that would touch an earlier one is left out.
class LabelRow {
 public:
  explicit LabelRow(size_t columns) : text_(columns, ' ') {}

  void centre(std::string_view label, size_t column) {
    const size_t half = label.size() / 2;
    const size_t last = text_.size() - std::min(text_.size(), label.size());
    place(label, std::min(column > half ? column - half : 0, last));
  }
  void place(std::string_view label, size_t column) {
    if (column + label.size() > text_.size()) return;
    const size_t from = column == 0 ? 0 : column - 1;
    const size_t to = std::min(text_.size(), column + label.size() + 1);
    if (text_.find_first_not_of(' ', from) < to) return;
    text_.replace(column, label.size(), label);
  }
  [[nodiscard]] std::string text() const {
    return text_.substr(0, text_.find_last_not_of(' ') + 1);
  }

 private:
  std::string text_;
};

struct Frame {
  const Verdict& verdict;
  const View& view;
  const PlotScene& scene;
  size_t columns;  // Of the drawing area.
  size_t rows;

  [[nodiscard]] size_t column_of(double step) const {
    const Scale scale = {scene.step_low, scene.step_high, columns};
    return static_cast<size_t>(
        std::clamp<int64_t>(scale.dot_of(step), 0, static_cast<int64_t>(columns) - 1));
  }
};

void draw_series(const Frame& frame, const Scale& across, const Scale& up, Canvas& canvas) {
  const PlotPoint* before = nullptr;
  for (const PlotPoint& point : frame.verdict.plot) {
    if (!std::isfinite(point.step) || !std::isfinite(point.mb)) continue;
    const int64_t x = across.dot_of(point.step);
    const int64_t y = up.dot_of(point.mb);
    if (point.spike) {
      const int64_t foot = before != nullptr ? up.dot_of(before->mb) : y;
      canvas.line(x, foot, x, y, Layer::spike);
      continue;
    }
    if (before != nullptr) {
      canvas.line(across.dot_of(before->step), up.dot_of(before->mb), x, y, Layer::floor);
    } else {
      canvas.dot(x, y, Layer::floor);
    }
    before = &point;
  }
}

Canvas draw(const Frame& frame) {
  Canvas canvas(frame.columns, frame.rows, frame.view.utf8);
  const PlotScene& scene = frame.scene;
  const Scale across = {scene.step_low, scene.step_high, canvas.dots_wide()};
  const Scale up = {scene.mb_low, scene.mb_high, canvas.dots_high()};
  const auto top = static_cast<int64_t>(canvas.dots_high()) - 1;
  const auto right = static_cast<int64_t>(canvas.dots_wide()) - 1;
  const int64_t sparse = frame.view.utf8 ? 3 : 2;
  for (const double at : scene.boundaries) {
    const int64_t x = across.dot_of(at);
    canvas.line(x, 0, x, top, Layer::boundary, frame.view.utf8 ? 2 : 1);
  }
  if (scene.limit_mb) {
    const int64_t y = up.dot_of(*scene.limit_mb);
    canvas.line(0, y, right, y, Layer::limit, frame.view.utf8 ? 1 : 2);
  }
  for (const auto& path : scene.forecasts) {
    for (size_t i = 1; i < path.size(); ++i) {
      canvas.line(across.dot_of(path[i - 1].step), up.dot_of(path[i - 1].mb),
                  across.dot_of(path[i].step), up.dot_of(path[i].mb), Layer::forecast, sparse);
    }
  }
  draw_series(frame, across, up, canvas);
  return canvas;
}

// Amounts on the left, each beside what it names.
std::vector<std::string> amount_labels(const PlotScene& scene, size_t rows, size_t dots_high) {
  std::vector<std::string> labels(rows);
  const auto row_of = [&](double mb) {
    const Scale up = {scene.mb_low, scene.mb_high, dots_high};
    const auto dot = std::clamp<int64_t>(up.dot_of(mb), 0, static_cast<int64_t>(dots_high) - 1);
    return rows - 1 - static_cast<size_t>(dot) / (dots_high / rows);
  };
  for (const AxisTick& tick : amount_ticks(scene, std::max<size_t>(rows * 5 / 12, 4))) {
    labels[row_of(tick.at)] = tick.label;
  }
  if (scene.limit_mb) labels[row_of(*scene.limit_mb)] = "limit";
  return labels;
}

std::string clock_rows(const Frame& frame) {
  const ClockUnit unit = clock_unit_of(frame.verdict.clock, frame.scene);
  std::string rule(frame.columns, '-');
  LabelRow labels(frame.columns);
  const size_t name_at = frame.columns - std::min(frame.columns, unit.name.size());
  labels.place(unit.name, name_at);
  for (const AxisTick& tick :
       clock_ticks(unit, frame.scene, std::max<size_t>(frame.columns / 10, 2))) {
    const size_t column = frame.column_of(tick.at);
    rule[column] = '+';
    labels.centre(tick.label, column);
  }
  std::string drawn;
  for (const char c : rule) drawn += !frame.view.utf8 ? std::string(1, c) : c == '+' ? "┬" : "─";
  const std::string corner = frame.view.utf8 ? "└" : "+";
  return fmt::format("{}{}{}\n{}{}\n", std::string(kGutter, ' '), corner, drawn,
                     std::string(kGutter + 1, ' '), labels.text());
}

std::string boundary_row(const Frame& frame) {
  if (frame.scene.boundaries.empty()) return "";
  LabelRow labels(frame.columns);
  int number = 1;
  for (const double at : frame.scene.boundaries) {
    labels.centre(number == 1 ? "epoch" : fmt::format("{}", number), frame.column_of(at));
    ++number;
  }
  return std::string(kGutter + 1, ' ') + labels.text() + "\n";
}

char mark_letter(EventKind kind) {
  constexpr std::string_view kLetters = "ec.rom";
  return kLetters[static_cast<size_t>(kind)];
}

// One letter per event under the axis; what they mean stands in the legend.
std::string mark_row(const Frame& frame) {
  std::string row(frame.columns, ' ');
  for (const PlotMark& mark : frame.verdict.marks) {
    if (mark.kind == EventKind::epoch || !std::isfinite(mark.step)) continue;
    row[frame.column_of(mark.step)] = mark_letter(mark.kind);
  }
  const size_t last = row.find_last_not_of(' ');
  if (last == std::string::npos) return "";
  return std::string(kGutter + 1, ' ') + row.substr(0, last + 1) + "\n";
}

// The phases as a ruler below the axis, each with its rate where there is room for it.
std::string phase_row(const Frame& frame) {
  const std::vector<Phase>& phases = frame.verdict.phases;
  if (phases.size() < 2 || phases.size() > kLongestStrip) return "";
  const bool fancy = frame.view.utf8;
  std::string row;
  size_t used = 0;
  for (const Phase& phase : phases) {
    const size_t from = std::max(used, frame.column_of(phase.from_step));
    const size_t to = frame.column_of(phase.to_step);
    if (to < from + 2) continue;
    row += std::string(from - used, ' ');
    std::string label = " " + phase_label(frame.verdict, phase, frame.scene) + " ";
    const size_t room = to - from - 1;
    if (label.size() > room) label.clear();
    const size_t left = (room - label.size()) / 2;
    row += fancy ? "├" : "|";
    for (size_t i = 0; i < room - label.size(); ++i) {
      if (i == left) row += label;
      row += fancy ? "─" : "-";
    }
    if (left == room - label.size()) row += label;
    row += fancy ? "┤" : "|";
    used = to + 1;
  }
  return row.empty() ? "" : std::string(kGutter + 1, ' ') + paint(frame.view, Ink::dim, row) + "\n";
}

std::string legend_row(const Frame& frame) {
  const bool fancy = frame.view.utf8;
  std::vector<std::string> parts;
  if (frame.scene.has_spikes) {
    parts.push_back(paint(frame.view, Ink::magenta, fancy ? "⡇" : "^") + " spike");
  }
  if (!frame.scene.forecasts.empty()) {
    parts.push_back(paint(frame.view, Ink::yellow, fancy ? "⠂⠂" : "..") + " where it may go");
  }
  for (const EventKind kind : {EventKind::eval, EventKind::checkpoint, EventKind::restart,
                               EventKind::oom, EventKind::mark}) {
    const auto& marks = frame.verdict.marks;
    const bool present = std::any_of(marks.begin(), marks.end(),
                                     [kind](const PlotMark& mark) { return mark.kind == kind; });
    if (present) parts.push_back(fmt::format("{} {}", mark_letter(kind), event_name(kind)));
  }
  if (parts.empty()) return "";
  return fmt::format("{}{}\n", std::string(kGutter + 1, ' '), fmt::join(parts, "   "));
}

}  // namespace

std::string render_plot(const Verdict& verdict, const View& view, const PlotRoom& room) {
  const std::optional<PlotScene> scene = plan_plot(verdict);
  if (!scene || room.rows == 0) return "";
  const size_t width = std::clamp<size_t>(view.width, 40, 200);
  const Frame frame = {verdict, view, *scene, width - kGutter - 2, room.rows};
  const Canvas canvas = draw(frame);
  const std::vector<std::string> amounts = amount_labels(*scene, room.rows, canvas.dots_high());

  std::string out = room.notes ? boundary_row(frame) : "";
  for (size_t row = 0; row < room.rows; ++row) {
    const bool tick = !amounts[row].empty();
    const std::string_view axis = view.utf8 ? (tick ? "┤" : "│") : (tick ? "+" : "|");
    std::string line = pad_left(amounts[row], kGutter - 1) + " " + std::string(axis);
    line += canvas.row(row, view);
    line.resize(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  }
  out += clock_rows(frame) + mark_row(frame);
  return room.notes ? out + phase_row(frame) + legend_row(frame) : out;
}

}  // namespace plateau
