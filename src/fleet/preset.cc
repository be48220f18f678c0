// SPDX-License-Identifier: Apache-2.0
#include "fleet/preset.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"

namespace plateau::fleet {
namespace {

constexpr double kMiB = 1.048576;

// The containers of Kubernetes. rss is the anonymous part; the working set also holds files in use
// and is no leak's figure.
Preset kubernetes() {
  return {
      .name = "kubernetes",
      .about = "containers, by cAdvisor and kube-state-metrics",
      .metric = "container_memory_rss",
      .matchers = R"(container!="",image!="")",
      .plus = "container_memory_swap",
      .kind = Metric::anon,
      .identity = {"cluster", "namespace", "pod", "container"},
      .workload = "pod",
      .started = "container_start_time_seconds",
      .limits =
          {R"(max by(cluster,namespace,pod,container)(kube_pod_container_resource_limits{resource="memory",$}))",
           R"(max by(cluster,namespace,pod,container)(container_spec_memory_limit_bytes{container!="",$} > 0))"},
      .load =
          R"(sum by(cluster,namespace,pod,container)(rate(container_cpu_usage_seconds_total{container!="",$}[@])))",
      .owner = "kube_pod_owner"};
}

const std::vector<Preset>& table() {
  static const std::vector<Preset> rows = {
      kubernetes(),
      {.name = "process",
       .about = "programs that export their own metrics (process_resident_memory_bytes)",
       .metric = "process_resident_memory_bytes",
       .matchers = "",
       .kind = Metric::rss,
       .started = "process_start_time_seconds",
       .load = "rate(process_cpu_seconds_total{$}[@])"},
      {.name = "process-exporter",
       .about = "groups of processes, by process-exporter",
       .metric = "namedprocess_namegroup_memory_bytes",
       .matchers = R"(memtype="proportionalResident")",
       .kind = Metric::pss,
       .identity = {"cluster", "job", "instance", "groupname"},
       .workload = "groupname",
       .load = "sum without(mode)(rate(namedprocess_namegroup_cpu_seconds_total{$}[@]))"},
      {.name = "node",
       .about = "whole machines, by node-exporter",
       .metric = "node_memory_MemAvailable_bytes",
       .matchers = "",
       .kind = Metric::memory,
       .counts_free = true,
       .workload = "job",
       .started = "node_boot_time_seconds",
       .limits = {"node_memory_MemTotal_bytes{$}"},
       .load = R"(sum without(cpu,mode)(rate(node_cpu_seconds_total{mode!="idle",$}[@])))"},
      {.name = "dcgm",
       .about = "GPU memory, by NVIDIA's DCGM exporter",
       .metric = "DCGM_FI_DEV_FB_USED",
       .matchers = "",
       .kind = Metric::gpu,
       .unit_mb = kMiB,
       .limits = {"DCGM_FI_DEV_FB_USED{$} + DCGM_FI_DEV_FB_FREE{$}"},
       .load = "DCGM_FI_DEV_GPU_UTIL{$}"},
      {.name = "windows",
       .about = "Windows processes, by windows_exporter",
       .metric = "windows_process_working_set_private_bytes",
       .matchers = "",
       .kind = Metric::rss,
       .identity = {"cluster", "job", "instance", "process", "process_id"},
       .workload = "process",
       .started = "windows_process_start_time",
       .load = "sum without(mode)(rate(windows_process_cpu_time_total{$}[@]))"},
      {.name = "plateau",
       .about = "jobs that plateau serves or pushes",
       .metric = "plateau_owned_memory_bytes",
       .matchers = "",
       .kind = Metric::pss_anon,
       .workload = "run",
       .limits = {"plateau_memory_limit_bytes{$}"},
       .load = "rate(plateau_last_step{$}[@])"},
  };
  return rows;
}

bool is_name_byte(char c) {
  return is_letter(c) || is_digit(c) || c == '_' || c == ':';
}

// In a regular expression these mean something else than themselves.
constexpr std::string_view kSpecial = "\\.+*?()|[]{}^$";

}  // namespace

std::span<const Preset> presets() {
  return table();
}

Result<Preset> preset_named(std::string_view name) {
  if (name == "cadvisor") name = "kubernetes";
  std::string names;
  for (const Preset& preset : table()) {
    if (preset.name == name) return preset;
    names += fmt::format("{}{}", names.empty() ? "" : ", ", preset.name);
  }
  return usage_error(fmt::format("there is no preset '{}'; there are {}, or --query", name, names));
}

Result<Selector> parse_selector(std::string_view text) {
  text = trim(text);
  size_t end = 0;
  while (end < text.size() && is_name_byte(text[end])) ++end;
  Selector selector{.metric = std::string(text.substr(0, end)), .matchers = ""};
  std::string_view rest = trim(text.substr(end));
  const bool braces = rest.size() >= 2 && rest.front() == '{' && rest.back() == '}';
  if (braces) selector.matchers = std::string(trim(rest.substr(1, rest.size() - 2)));
  if ((!rest.empty() && !braces) || (selector.metric.empty() && selector.matchers.empty()) ||
      (!selector.metric.empty() && is_digit(selector.metric.front()))) {
    return usage_error(
        fmt::format("--query '{}' is no selector; give a metric with matchers, such as "
                    "'my_heap_bytes{{job=\"api\"}}' "
                    "(raw samples are judged, so functions and sums cannot be)",
                    text.substr(0, 100)));
  }
  return selector;
}

std::string selector_text(std::string_view metric, std::span<const std::string_view> matchers) {
  std::string inside;
  for (std::string_view matcher : matchers) {
    if (matcher.ends_with(',')) matcher.remove_suffix(1);
    if (matcher.empty()) continue;
    if (!inside.empty()) inside += ',';
    inside += matcher;
  }
  return fmt::format("{}{{{}}}", metric, inside);
}

std::string matcher_of(std::string_view name, std::span<const std::string> values) {
  std::string pattern;
  for (const std::string& value : values) {
    if (!pattern.empty()) pattern += '|';
    for (const char c : value) {
      // Twice: once for the expression, once for the string that holds it.
      if (kSpecial.find(c) != std::string_view::npos) {
        pattern += c == '\\' ? "\\\\\\" : "\\\\";
      } else if (c == '"') {
        pattern += '\\';
      }
      if (c == '\n') {
        pattern += "\\n";
      } else {
        pattern += c;
      }
    }
  }
  return fmt::format("{}=~\"{}\"", name, pattern);
}

std::string expression_for(std::string_view expression, std::string_view matchers,
                           std::string_view range) {
  std::string text;
  for (const char c : expression) {
    if (c == '$') {
      text += matchers;
    } else if (c == '@') {
      text += range;
    } else {
      text += c;
    }
  }
  return text;
}

}  // namespace plateau::fleet
