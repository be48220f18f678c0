// SPDX-License-Identifier: Apache-2.0
#include "import/metric_document.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string>
#include <vector>

#include "base/text.h"
#include "base/units.h"
#include "import/json_document.h"
#include "import/metric_points.h"
#include "import/slot_name.h"

namespace plateau {
namespace {

// "kubernetes.io/container/memory/used_bytes": from the part on that speaks of memory.
std::string_view told_part(std::string_view text) {
  for (std::string_view rest = text;;) {
    const size_t slash = rest.find('/');
    if (slash == std::string_view::npos) return text.substr(text.rfind('/') + 1);
    if (weigh_name(rest.substr(0, slash)).memory) return rest;
    rest.remove_prefix(slash + 1);
  }
}

bool is_unit(const Said& said) {
  return lists("unit units uom", " ", last_of(said.key));
}

// The loudest text around the points; without a word for memory the nearest that is called a name.
std::string name_of(const PointList& list) {
  std::string best;
  std::string nearest;
  double weight = 0;
  for (const Said& said : list.around) {
    if (is_unit(said)) continue;
    const std::string_view part = told_part(said.text);
    const SlotName name = weigh_name(part);
    if (lists("label name metric target type id title measurement", " ", last_of(said.key))) {
      nearest = part;
    }
    // Percent of a metric is still its name; a description is longer.
    const double loud = name.memory ? name.loudest : 0;
    if (loud < weight || loud == 0) continue;
    if (loud == weight && best.size() <= part.size()) continue;
    weight = loud;
    best = part;
  }
  return best.empty() ? nearest : best;
}

std::string unit_of(const PointList& list) {
  for (auto said = list.around.rbegin(); said != list.around.rend(); ++said) {
    if (!is_unit(*said)) continue;
    if (equal_ignoring_case(said->text, "percent") || unit_in_mb(said->text)) {
      return fmt::format(" ({})", said->text);
    }
  }
  return "";
}

// What JSON needs no escapes for.
std::string plain(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c == '"' || c == '\\' || static_cast<unsigned char>(c) < 0x20) c = ' ';
  }
  return out;
}

// The title of each of the list's values: the metric's name, and where a point has several numbers
// which of them it is. An average is the metric itself.
std::vector<std::string> titles_of(const PointList& list) {
  const std::string name = name_of(list);
  const std::string unit = unit_of(list);
  std::vector<bool> used(list.keys.size(), false);
  for (const Point& point : list.points) {
    for (size_t i = 0; i < point.values.size(); ++i) {
      used[i] = used[i] || !std::isnan(point.values[i]);
    }
  }
  const auto several = std::count(used.begin(), used.end(), true) > 1;
  std::vector<std::string> titles;
  for (const std::string& key : list.keys) {
    const bool itself =
        !several || lists("average avg mean value", " ", last_of(in_lower_case(key)));
    titles.push_back(
        plain(itself && !name.empty() ? name + unit : fmt::format("{} {}", name, key) + unit));
  }
  return titles;
}

// What tells the lists apart that have the same titles: the texts around them that differ.
std::vector<std::string> labels_of(const std::vector<PointList>& lists,
                                   const std::vector<std::vector<std::string>>& titles) {
  std::vector<std::string> labels(lists.size());
  for (size_t i = 0; i < lists.size(); ++i) {
    bool alone = true;
    for (const Said& said : lists[i].around) {
      const bool differs = [&] {
        for (size_t k = 0; k < lists.size(); ++k) {
          if (k == i || titles[k] != titles[i]) continue;
          alone = false;
          for (const Said& other : lists[k].around) {
            if (other.key == said.key && other.text != said.text) return true;
          }
        }
        return false;
      }();
      if (differs) labels[i] += (labels[i].empty() ? "" : " ") + plain(said.text);
    }
    if (!alone && labels[i].empty()) labels[i] = fmt::format("series {}", i + 1);
  }
  return labels;
}

std::string line_of(const Point& point, const std::vector<std::string>& titles,
                    const std::string& label) {
  std::string line = fmt::format("{{\"timestamp\":{:.3f}", point.time_s);
  if (!label.empty()) line += fmt::format(",\"series\":\"{}\"", label);
  for (size_t i = 0; i < point.values.size(); ++i) {
    if (std::isfinite(point.values[i])) {
      line += fmt::format(",\"{}\":{}", titles[i], point.values[i]);
    }
  }
  return line + "}\n";
}

}  // namespace

bool may_list_points(std::string_view head) {
  static constexpr std::string_view kMarks[] = {
      "\"Datapoints\"", "\"datapoints\"", "\"MetricDataResults\"",
      "\"timeSeries\"", "\"timeseries\"", "\"pointlist\"",
      "\"columns\""};
  return std::any_of(std::begin(kMarks), std::end(kMarks), [head](std::string_view mark) {
    return head.find(mark) != std::string_view::npos;
  });
}

Result<std::string> points_as_lines(LineReader& lines) {
  simdjson::dom::parser parser;
  const Result<simdjson::dom::element> root = read_json_document(lines, parser);
  if (!root.ok()) return root.error();
  const std::vector<PointList> found = find_points(root.value());
  std::vector<std::vector<std::string>> titles;
  titles.reserve(found.size());
  for (const PointList& list : found) titles.push_back(titles_of(list));
  const std::vector<std::string> labels = labels_of(found, titles);
  struct Place {
    double time_s;
    size_t list;
    size_t point;
  };
  std::vector<Place> order;
  for (size_t i = 0; i < found.size(); ++i) {
    for (size_t k = 0; k < found[i].points.size(); ++k) {
      order.push_back({found[i].points[k].time_s, i, k});
    }
  }
  std::stable_sort(order.begin(), order.end(),
                   [](const Place& a, const Place& b) { return a.time_s < b.time_s; });
  std::string out;
  for (const Place& place : order) {
    const PointList& list = found[place.list];
    out += line_of(list.points[place.point], titles[place.list], labels[place.list]);
  }
  return out;
}

}  // namespace plateau
