// SPDX-License-Identifier: Apache-2.0
// What to ask of whom: one row for each exporter whose memory metrics are known.
//
// A row says which metric is judged and in which unit, which labels make a series the thing it is,
// and where the rest of what a verdict wants is found: when it was started, what it may hold, how
// much work it had. Expressions contain "$", in whose place the matchers of a shard are put.
// A new exporter is a new row here and one in docs/fleet.md.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "recording/run.h"

namespace plateau::fleet {

struct Preset {
  std::string_view name;
  std::string_view about;      // For --help.
  std::string_view metric;     // What is judged,
  std::string_view matchers;   // of which series: `container!="",image!=""`; may be empty.
  std::string_view plus = {};  // Another metric with the same labels that is added to it.
  Metric kind = Metric::memory;
  double unit_mb = 1e-6;
  // The metric counts what is free: what is in use is the limit less that.
  bool counts_free = false;
  std::vector<std::string_view> identity = {};  // Empty: all labels but those of scrapers.
  std::string_view workload = {};               // The label that names it; empty: by what there is.
  std::string_view started = {};                // Unix time at which a life began, same labels.
  std::vector<std::string_view> limits = {};    // In the metric's unit; the first that is there.
  std::string_view load = {};                   // Work per second, over "[@]".
  std::string_view owner = {};                  // Has labels owner_kind and owner_name.
};

std::span<const Preset> presets();
// Names the presets that there are if there is none of that name.
Result<Preset> preset_named(std::string_view name);

// `metric{...}` as a user writes it, taken apart. Fails for anything else: a function or a sum has
// no raw samples.
struct Selector {
  std::string metric;    // May be empty where the matchers name one.
  std::string matchers;  // Without braces; may be empty.
};
Result<Selector> parse_selector(std::string_view text);

// "a{b,c}" of a metric and the matchers that are not empty.
std::string selector_text(std::string_view metric, std::span<const std::string_view> matchers);

// `name=~"a|b"`, as PromQL wants it quoted and a regular expression escaped.
std::string matcher_of(std::string_view name, std::span<const std::string> values);

// The expression with the matchers of a shard in place of "$".
std::string expression_for(std::string_view expression, std::string_view matchers,
                           std::string_view range = "5m");

}  // namespace plateau::fleet
