// SPDX-License-Identifier: Apache-2.0
#include "import/metric_points.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/text.h"
#include "import/timestamp.h"
#include "recording/run.h"

namespace plateau {
namespace {

using Element = simdjson::dom::element;
using Object = simdjson::dom::object;
using Array = simdjson::dom::array;

constexpr int kMostDepth = 12;
constexpr int kDepthOfPoint = 3;  // {"interval": {"endTime": …}} has two.
constexpr size_t kFewestPoints = 3;
constexpr size_t kMostLists = 256;
constexpr size_t kMostArrays = 16;    // Of an object.
constexpr size_t kMostSaid = 64;      // Texts around an array,
constexpr size_t kLongestSaid = 200;  // and bytes of each.
constexpr size_t kMostValues = 16;    // Of a point.
constexpr double kFirstTime = 1e9;    // Seconds since 1970; smaller numbers are values.

std::string joined(const std::string& path, std::string_view key) {
  return path.empty() ? std::string(key) : fmt::format("{}.{}", path, key);
}

std::optional<double> time_in(Element element) {
  std::string_view text;
  double number = 0;
  if (element.get(text) == simdjson::SUCCESS) {
    const auto stamp = parse_date_line(text);
    if (!stamp || stamp->kind != Stamp::Kind::epoch) return std::nullopt;
    return stamp->seconds;
  }
  if (element.get(number) != simdjson::SUCCESS || number < kFirstTime) return std::nullopt;
  return epoch_seconds(number);
}

// A number, or one in quotes as Google writes whole ones.
std::optional<double> number_in(Element element) {
  std::string_view text;
  double number = 0;
  if (element.get(number) == simdjson::SUCCESS) return number;
  if (element.get(text) == simdjson::SUCCESS) return parse_double(text);
  return std::nullopt;
}

// Collects the texts of an object and of the objects in it, not of its arrays.
void hear(Object object, const std::string& path, int depth, std::vector<Said>& said) {
  for (const auto field : object) {
    std::string_view text;
    Object inner;
    if (said.size() >= kMostSaid) return;
    if (field.value.get(text) == simdjson::SUCCESS) {
      said.push_back(
          {in_lower_case(joined(path, field.key)), std::string(text.substr(0, kLongestSaid))});
    } else if (depth < kDepthOfPoint && field.value.get(inner) == simdjson::SUCCESS) {
      hear(inner, joined(path, field.key), depth + 1, said);
    }
  }
}

std::vector<std::string> texts_in(Array array) {
  std::vector<std::string> texts;
  for (const Element element : array) {
    std::string_view text;
    if (element.get(text) == simdjson::SUCCESS) texts.emplace_back(text.substr(0, kLongestSaid));
  }
  return texts;
}

// One object of an array as a point: its time, its numbers by their keys; its texts are said of the
// whole list ("Unit": "Percent").
class PointReader {
 public:
  explicit PointReader(PointList& list) : list_(list) {}

  // False if the object has no time.
  bool read(Object object) {
    point_ = {};
    timed_ = false;
    leaves(object, "", 0);
    if (timed_ && !point_.values.empty()) list_.points.push_back(std::move(point_));
    return timed_;
  }

 private:
  void leaves(Object object, const std::string& path, int depth) {
    for (const auto field : object) {
      Object inner;
      if (field.value.get(inner) != simdjson::SUCCESS) {
        leaf(joined(path, field.key), field.value);
      } else if (depth < kDepthOfPoint) {
        leaves(inner, joined(path, field.key), depth + 1);
      }
    }
  }

  void leaf(const std::string& key, Element value) {
    const bool named =
        lists("timestamp time endtime date ts t datetime", " ", last_of(in_lower_case(key)));
    std::string_view text;
    const bool is_text = value.get(text) == simdjson::SUCCESS;
    // "int64Value": "2100000000" is an amount, however much it looks like a time.
    const bool may_be_time = named || (is_text && !parse_double(text));
    if (const auto time = may_be_time ? time_in(value) : std::nullopt) {
      if (!timed_ || named) point_.time_s = *time;
      timed_ = true;
    } else if (const auto number = number_in(value)) {
      put(key, *number);
    } else if (is_text && list_.points.empty() && list_.around.size() < kMostSaid) {
      list_.around.push_back({in_lower_case(key), std::string(text.substr(0, kLongestSaid))});
    }
  }

  void put(const std::string& key, double value) {
    const auto known = std::find(list_.keys.begin(), list_.keys.end(), key);
    const auto at = static_cast<size_t>(known - list_.keys.begin());
    if (at >= kMostValues) return;
    if (known == list_.keys.end()) list_.keys.push_back(key);
    point_.values.resize(std::max(point_.values.size(), at + 1), kMissing);
    point_.values[at] = value;
  }

  PointList& list_;
  Point point_;
  bool timed_ = false;
};

// [{"Timestamp": …, "Average": …}, …]
bool take_objects(Array array, PointList& list) {
  PointReader reader(list);
  for (const Element element : array) {
    Object object;
    if (element.get(object) != simdjson::SUCCESS || !reader.read(object)) return false;
  }
  return list.points.size() >= kFewestPoints;
}

// The column of the rows that holds times which go on; their width if none does. Values in bytes
// may look like times, but do not rise with every row.
size_t clock_of(const std::vector<std::vector<Element>>& rows, size_t width) {
  for (size_t column = 0; column < width; ++column) {
    double last = 0;
    const bool goes_on = std::all_of(rows.begin(), rows.end(), [&](const auto& row) {
      const auto time = time_in(row[column]);
      const bool on = time && *time > last;
      last = time.value_or(last);
      return on;
    });
    if (goes_on) return column;
  }
  return width;
}

// [[1772532000000, 2.1e8], …], or the time behind the value.
bool take_rows(Array array, PointList& list) {
  std::vector<std::vector<Element>> rows;
  for (const Element element : array) {
    Array row;
    if (element.get(row) != simdjson::SUCCESS) return false;
    rows.emplace_back();
    for (const Element cell : row) {
      if (rows.back().size() < kMostValues) rows.back().push_back(cell);
    }
    if (rows.back().size() < 2 || rows.back().size() != rows.front().size()) return false;
  }
  if (rows.size() < kFewestPoints) return false;
  const size_t width = rows.front().size();
  const size_t clock = clock_of(rows, width);
  if (clock == width) return false;
  list.keys.resize(width);
  for (const std::vector<Element>& row : rows) {
    Point point;
    point.time_s = *time_in(row[clock]);
    for (size_t i = 0; i < width; ++i) {
      point.values.push_back(i == clock ? kMissing : number_in(row[i]).value_or(kMissing));
    }
    list.points.push_back(std::move(point));
  }
  return true;
}

// "Timestamps": […] beside "Values": […]
bool take_beside(Element one, Element other, PointList& list) {
  Array times;
  Array values;
  if (one.get(times) != simdjson::SUCCESS || other.get(values) != simdjson::SUCCESS) return false;
  auto value = values.begin();
  for (const Element element : times) {
    if (value == values.end()) return false;
    const auto time = time_in(element);
    const auto number = number_in(*value);
    if (!time) return false;
    if (number) list.points.push_back({*time, {*number}});
    ++value;
  }
  return value == values.end() && list.points.size() >= kFewestPoints;
}

class PointFinder {
 public:
  void look(Element element, const std::vector<Said>& around, int depth) {
    Object object;
    Array array;
    if (depth > kMostDepth || found.size() >= kMostLists) return;
    if (element.get(object) == simdjson::SUCCESS) look_into(object, around, depth);
    if (element.get(array) != simdjson::SUCCESS) return;
    PointList list{around, {}, {}};
    PointList rows{around, {}, {}};
    if (take_objects(array, list)) {
      found.push_back(std::move(list));
    } else if (take_rows(array, rows)) {
      found.push_back(std::move(rows));
    } else {
      for (const Element inner : array) look(inner, around, depth + 1);
    }
  }

  std::vector<PointList> found;

 private:
  void look_into(Object object, std::vector<Said> around, int depth) {
    hear(object, "", 0, around);
    std::vector<Element> arrays;
    std::vector<std::string> titles;
    for (const auto field : object) {
      Array array;
      Object inner;
      if (field.value.get(inner) == simdjson::SUCCESS) look(field.value, around, depth + 1);
      if (arrays.size() >= kMostArrays || field.value.get(array) != simdjson::SUCCESS) continue;
      arrays.push_back(field.value);
      if (lists("columns labels fields", " ", in_lower_case(field.key))) titles = texts_in(array);
    }
    for (const Element array : arrays) {
      const size_t before = found.size();
      look(array, around, depth + 1);
      if (found.size() == before + 1 && found.back().keys.size() == titles.size()) {
        found.back().keys = titles;
      }
      for (const Element other : arrays) {
        PointList beside{around, {""}, {}};
        if (take_beside(array, other, beside)) found.push_back(std::move(beside));
      }
    }
  }
};

}  // namespace

std::string in_lower_case(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), ascii_lower);
  return out;
}

std::string_view last_of(std::string_view path) {
  return path.substr(path.rfind('.') + 1);
}

std::vector<PointList> find_points(Element document) {
  PointFinder finder;
  finder.look(document, {}, 0);
  return std::move(finder.found);
}

}  // namespace plateau
