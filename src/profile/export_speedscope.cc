// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "base/json_writer.h"
#include "base/version.h"
#include "profile/export.h"

namespace plateau {
namespace {

// Frames are shared between stacks by what a viewer shows of them.
class FrameTable {
 public:
  size_t index_of(const FrameName& frame) {
    // The place is a field of its own here; in the title it is only for frames without one.
    FrameName bare = frame;
    if (!bare.file.empty()) bare.module.clear();
    bare.file.clear();
    const std::string name = bare.function.empty() ? frame_title(frame) : frame_title(bare);
    const auto [found, fresh] = places_.try_emplace({name, frame.file, frame.line}, frames_.size());
    if (fresh) frames_.emplace_back(name, frame.file, frame.line);
    return found->second;
  }

  void write(JsonWriter& json) const {
    json.begin_array();
    for (const auto& [name, file, line] : frames_) {
      json.begin_object().key("name").value(name);
      if (!file.empty()) json.key("file").value(file);
      if (line > 0) json.key("line").value(line);
      json.end_object();
    }
    json.end_array();
  }

 private:
  using Place = std::tuple<std::string, std::string, int>;
  std::map<Place, size_t> places_;
  std::vector<Place> frames_;
};

struct Sampled {
  std::string name;
  std::vector<std::vector<size_t>> samples;
  std::vector<double> weights;
};

Sampled sampled_of(const ExportProfile& profile, const std::string& what,
                   double ExportStack::* value, FrameTable& table) {
  Sampled sampled{.name = profile.name.empty() ? what : profile.name + ": " + what};
  for (const ExportStack& stack : profile.stacks) {
    if (!(stack.*value > 0)) continue;
    std::vector<size_t> sample;
    sample.reserve(stack.frames.size());
    for (const FrameName& frame : stack.frames) sample.push_back(table.index_of(frame));
    if (sample.empty()) sample.push_back(table.index_of({.function = "(no stack)"}));
    sampled.samples.push_back(std::move(sample));
    sampled.weights.push_back(stack.*value);
  }
  return sampled;
}

void write(JsonWriter& json, const Sampled& sampled) {
  double total = 0;
  for (const double weight : sampled.weights) total += weight;
  json.value(json_object("type", "sampled", "name", sampled.name, "unit", "bytes", "startValue", 0,
                         "endValue", total, "samples", sampled.samples, "weights",
                         sampled.weights));
}

}  // namespace

std::string export_speedscope(const ExportProfile& profile) {
  FrameTable table;
  std::vector<Sampled> views{sampled_of(profile, "live memory", &ExportStack::bytes, table)};
  Sampled growth = sampled_of(profile, "growth", &ExportStack::growth_bytes, table);
  if (!growth.samples.empty()) views.push_back(std::move(growth));

  JsonWriter json;
  json.begin_object();
  json.members("$schema", "https://www.speedscope.app/file-format-schema.json");
  json.members("name", profile.name.empty() ? std::string("heap") : profile.name);
  json.members("exporter", "plateau@" + std::string(version()), "activeProfileIndex", 0);
  json.key("shared").begin_object().key("frames");
  table.write(json);
  json.end_object().members("profiles", json_list(views, write));
  return json.end_object().take();
}

}  // namespace plateau
