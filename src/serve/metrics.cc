// SPDX-License-Identifier: Apache-2.0
// Which figures there are, and what they are called.
#include "serve/metrics.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <fstream>
#include <functional>

#include "base/units.h"
#include "base/version.h"

namespace plateau {
namespace {

using Type = MetricsSink::Type;
using Labels = MetricsSink::Labels;
using Runs = std::span<const RunFacts* const>;

// A process leaves a series of its own in every Prometheus that looks; the rest are in the sums.
constexpr size_t kMostProcesses = 64;
constexpr std::array<Word, 4> kWords = {Word::plateau, Word::warming, Word::leak, Word::undecided};

double bytes(double mb) {
  return std::round(mb * kBytesPerMb);
}

// What every sample of a run begins with, and what is its own.
Labels named(const RunFacts& run, Labels own = {}) {
  Labels labels = {{"run", run.name}};
  for (const auto& [name, value] : run.labels) labels.emplace_back(name, value);
  for (auto& label : own) labels.push_back(std::move(label));
  return labels;
}

// One gauge a run, of those that have a verdict; a nullopt is left out.
void gauge(MetricsSink& text, Runs runs, std::string_view name, std::string_view unit,
           std::string_view help, const std::function<std::optional<double>(const Verdict&)>& of) {
  text.family(name, Type::gauge, unit, help);
  for (const RunFacts* run : runs) {
    if (!run->verdict) continue;
    const std::optional<double> value = of(*run->verdict);
    if (value && std::isfinite(*value)) text.sample(named(*run), *value);
  }
}

std::optional<double> in_bytes(const std::optional<double>& mb) {
  return mb ? std::optional(bytes(*mb)) : std::nullopt;
}

void about_files(MetricsSink& text, Runs runs) {
  text.family("plateau_run", Type::info, "", "A run that is served, and how it is judged.");
  for (const RunFacts* run : runs) {
    const bool judged = run->verdict.has_value();
    text.sample(named(*run, {{"file", run->path},
                             {"clock", judged ? std::string(clock_unit(run->verdict->clock)) : ""},
                             {"component", judged ? run->verdict->component : ""}}),
                1);
  }
  text.family("plateau_run_readable", Type::gauge, "", "Whether the run's file could be read.");
  for (const RunFacts* run : runs) text.sample(named(*run), run->verdict ? 1 : 0);
  text.family("plateau_run_live", Type::gauge, "", "Whether somebody still writes the run's file.");
  for (const RunFacts* run : runs) text.sample(named(*run), run->live ? 1 : 0);
  text.family("plateau_run_changed_timestamp_seconds", Type::gauge, "seconds",
              "When the run's file last changed.");
  for (const RunFacts* run : runs) text.sample(named(*run), run->changed_unix_s);
}

void about_memory(MetricsSink& text, Runs runs) {
  gauge(text, runs, "plateau_owned_memory_bytes", "bytes",
        "What the job owns: memory that only its end gives back.",
        [](const Verdict& verdict) -> std::optional<double> {
          for (const ComponentVerdict& component : verdict.components) {
            if (component.name == "owned") return bytes(component.last_mb);
          }
          return std::nullopt;
        });
  text.family("plateau_memory_bytes", Type::gauge, "bytes",
              "The job's memory by kind, over all of its processes.");
  for (const RunFacts* run : runs) {
    if (!run->verdict) continue;
    for (const ComponentVerdict& component : run->verdict->components) {
      text.sample(named(*run, {{"component", component.name}}), bytes(component.last_mb));
    }
  }
  gauge(text, runs, "plateau_memory_limit_bytes", "bytes", "The limit that the job must not pass.",
        [](const Verdict& verdict) { return in_bytes(verdict.risk.limit_mb); });
  gauge(text, runs, "plateau_forecast_memory_bytes", "bytes",
        "Where growth is expected to end; absent if it is not, or has ended.",
        [](const Verdict& verdict) {
          return verdict.forecast ? std::optional(bytes(verdict.forecast->plateau_mb))
                                  : std::nullopt;
        });
}

Labels labels_of(const RunFacts& run, const ProcessGrowth& process) {
  const std::string role =
      process.role == Role::unknown ? "" : std::string(role_name(process.role));
  if (process.id == kAllOfRole) return named(run, {{"role", role}});
  return named(run, {{"pid", std::to_string(process.id)}, {"role", role}, {"name", process.name}});
}

void about_processes(MetricsSink& text, Runs runs) {
  const auto each = [&](double ProcessGrowth::* figure) {
    for (const RunFacts* run : runs) {
      if (!run->verdict) continue;
      const std::vector<ProcessGrowth>& all = run->verdict->processes;
      for (size_t i = 0; i < std::min(all.size(), kMostProcesses); ++i) {
        if (std::isfinite(all[i].*figure)) {
          text.sample(labels_of(*run, all[i]), bytes(all[i].*figure));
        }
      }
    }
  };
  text.family("plateau_process_memory_bytes", Type::gauge, "bytes",
              "What one process of the job owns, when it was last seen.");
  each(&ProcessGrowth::last_mb);
  text.family("plateau_process_growth_bytes", Type::gauge, "bytes",
              "By how much one process of the job has grown, spikes left out.");
  each(&ProcessGrowth::growth_mb);
}

void about_verdict(MetricsSink& text, Runs runs) {
  text.family("plateau_verdict", Type::stateset, "", "Leak or plateau: the word that holds is 1.");
  for (const RunFacts* run : runs) {
    if (!run->verdict) continue;
    for (const Word word : kWords) {
      text.sample(named(*run, {{"plateau_verdict", std::string(word_name(word))}}),
                  run->verdict->word == word ? 1 : 0);
    }
  }
  gauge(text, runs, "plateau_verdict_confidence_ratio", "ratio",
        "Probability that the verdict holds, given the models; absent if none can be given.",
        [](const Verdict& verdict) {
          return verdict.confidence > 0 ? std::optional(verdict.confidence) : std::nullopt;
        });
  gauge(text, runs, "plateau_oom_risk_ratio", "ratio",
        "Probability of passing the limit before the run ends; absent if its end is not known.",
        [](const Verdict& verdict) { return verdict.risk.oom; });
  for (const Clock clock : {Clock::steps, Clock::seconds, Clock::samples}) {
    const std::string unit = fmt::format("bytes_per_{}", clock_unit(clock));
    gauge(text, runs, "plateau_growth_" + unit, unit,
          fmt::format("Growth now, per {}; 0 when level.", clock_unit(clock)),
          [clock](const Verdict& verdict) -> std::optional<double> {
            if (verdict.clock != clock || verdict.samples < 2) return std::nullopt;
            return bytes(verdict.current_rate_mb_per_step);
          });
  }
}

void about_progress(MetricsSink& text, Runs runs) {
  gauge(text, runs, "plateau_samples", "", "Samples that the verdict rests on.",
        [](const Verdict& verdict) { return std::optional(static_cast<double>(verdict.samples)); });
  gauge(text, runs, "plateau_last_step", "", "The last optimizer step that was seen.",
        [](const Verdict& verdict) {
          const bool steps = verdict.clock == Clock::steps && verdict.samples > 0;
          return steps ? std::optional(verdict.last_step) : std::nullopt;
        });
  gauge(text, runs, "plateau_total_steps", "",
        "Optimizer steps that are planned, if that is known.",
        [](const Verdict& verdict) { return verdict.total_steps; });
  gauge(text, runs, "plateau_epoch_steps", "",
        "Optimizer steps in one pass over the data, if that is known.",
        [](const Verdict& verdict) { return verdict.epoch_steps; });
}

void about_server(MetricsText& text, const ServerFigures& server) {
  text.family("plateau_build", Type::info, "", "The version of Plateau.");
  text.sample({{"version", std::string(version())}}, 1);
  text.family("plateau_http_requests", Type::counter, "", "Requests answered, by status code.");
  for (const auto& [code, count] : server.requests) {
    text.sample({{"code", std::to_string(code)}}, static_cast<double>(count));
  }
  text.family("plateau_event_streams", Type::gauge, "", "Live pages that are connected.");
  text.sample({}, static_cast<double>(server.event_streams));
  text.family("process_cpu_seconds", Type::counter, "seconds", "CPU time of this server.");
  text.sample({}, server.cpu_s);
  text.family("process_resident_memory_bytes", Type::gauge, "bytes",
              "Resident memory of this server.");
  text.sample({}, server.resident_bytes);
  text.family("process_start_time_seconds", Type::gauge, "seconds", "When this server started.");
  text.sample({}, server.started_unix_s);
}

}  // namespace

void add_process_figures(ServerFigures& figures) {
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  figures.cpu_s = seconds(usage.ru_utime) + seconds(usage.ru_stime);
  std::ifstream statm("/proc/self/statm");
  double total_pages = 0;
  double resident_pages = 0;
  if (statm >> total_pages >> resident_pages) {
    figures.resident_bytes = resident_pages * static_cast<double>(sysconf(_SC_PAGESIZE));
  }
}

void tell_run(MetricsSink& sink, const RunFacts& run) {
  const RunFacts* const one = &run;
  const Runs runs(&one, 1);
  about_files(sink, runs);
  about_memory(sink, runs);
  about_processes(sink, runs);
  about_verdict(sink, runs);
  about_progress(sink, runs);
}

MetricsText run_metrics(const RunFacts& run, Dialect dialect) {
  MetricsText text(dialect);
  tell_run(text, run);
  return text;
}

std::string exposition(std::span<const MetricsText* const> runs, const ServerFigures& server,
                       Dialect dialect) {
  MetricsText text(dialect);
  about_server(text, server);
  const MetricsText* const own = &text;
  const std::string end = dialect == Dialect::open_metrics ? "# EOF\n" : "";
  return joined({&own, 1}) + joined(runs) + end;
}

}  // namespace plateau
