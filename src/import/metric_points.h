// SPDX-License-Identifier: Apache-2.0
// Finds the points that a JSON document lists, whatever product wrote it: an array whose elements
// have a time each. Inside metric_document.cc and this only.
#pragma once

#include <simdjson.h>

#include <string>
#include <string_view>
#include <vector>

namespace plateau {

struct Said {
  std::string key;  // In lower case, with those of the objects inside: "metric.type".
  std::string text;
};

struct Point {
  double time_s = 0;
  std::vector<double> values;  // In the order of PointList::keys; NaN: none.
};

// Points that stand in one array.
struct PointList {
  std::vector<Said> around;  // What the objects around it say, the nearest last.
  std::vector<std::string> keys;
  std::vector<Point> points;
};

// Every list of three points or more, at most 256.
std::vector<PointList> find_points(simdjson::dom::element document);

std::string in_lower_case(std::string_view text);
// "type" of "metric.type".
std::string_view last_of(std::string_view path);

}  // namespace plateau
