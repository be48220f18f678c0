// SPDX-License-Identifier: Apache-2.0
// What is known of the runs, for a Prometheus to scrape: OpenMetrics 1.0, or the older text format.
//
// One serializer, two dialects. They differ in the names of types (an old reader knows neither info
// nor stateset, and takes both as gauges), in the name that heads a counter or an info, in `# UNIT`
// and in the `# EOF` that ends OpenMetrics. Names end in their base unit: bytes, seconds, ratio.
// A figure that is not known is left out, never 0: a verdict that cannot be given is no 0 %.
// docs/serve.md lists the names. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "serve/run_facts.h"

namespace plateau {

enum class Dialect : uint8_t { prometheus_text, open_metrics };

// By the Accept header: OpenMetrics if it is wanted at least as much as plain text.
Dialect dialect_for(std::string_view accept);
std::string_view content_type_of(Dialect dialect);

// The server about itself.
struct ServerFigures {
  std::map<unsigned, uint64_t> requests;  // By status code.
  size_t event_streams = 0;
  double started_unix_s = 0;
  double cpu_s = 0;
  double resident_bytes = 0;
};
// Fills in what the kernel knows of this process.
void add_process_figures(ServerFigures& figures);

// Who is told figures, family by family.
class MetricsSink {
 public:
  using Labels = std::vector<std::pair<std::string_view, std::string>>;
  enum class Type : uint8_t { gauge, counter, info, stateset };

  virtual ~MetricsSink() = default;
  // Begins a family; `unit` ("bytes") must be the end of `name`, or empty. The names of counters
  // and infos come without _total and _info. A family without samples leaves no trace.
  virtual void family(std::string_view name, Type type, std::string_view unit,
                      std::string_view help) = 0;
  virtual void sample(const Labels& labels, double value) = 0;

 protected:
  MetricsSink() = default;
  MetricsSink(const MetricsSink&) = default;
  MetricsSink& operator=(const MetricsSink&) = default;
  MetricsSink(MetricsSink&&) = default;
  MetricsSink& operator=(MetricsSink&&) = default;
};

// The text format itself.
class MetricsText : public MetricsSink {
 public:
  explicit MetricsText(Dialect dialect) : dialect_(dialect) {}

  void family(std::string_view name, Type type, std::string_view unit,
              std::string_view help) override;
  void sample(const Labels& labels, double value) override;

 private:
  friend std::string joined(std::span<const MetricsText* const> texts);
  struct Family {
    std::string head;
    std::string lines;
  };
  Dialect dialect_;
  std::vector<Family> families_;
  std::string sample_name_;
};

// The same figures as a plain list, for those who have another format: remote write.
struct MetricSample {
  std::string name;                                         // With its suffix.
  std::vector<std::pair<std::string, std::string>> labels;  // None of them empty.
  double value = 0;
};
class MetricsList : public MetricsSink {
 public:
  void family(std::string_view name, Type type, std::string_view unit,
              std::string_view help) override;
  void sample(const Labels& labels, double value) override;
  std::vector<MetricSample> samples;

 private:
  std::string name_;
};

// Texts with the same families in the same order as one: the format wants all samples of a family
// together.
std::string joined(std::span<const MetricsText* const> texts);

// What is told of one run.
void tell_run(MetricsSink& sink, const RunFacts& run);

// The same as text. Made once per change of the run, because 500 of them take 50 ms.
MetricsText run_metrics(const RunFacts& run, Dialect dialect);

// The whole answer: the server about itself, then the runs.
std::string exposition(std::span<const MetricsText* const> runs, const ServerFigures& server,
                       Dialect dialect);

// As a label's value may stand between quotes: backslash, quote and line end escaped, bad
// UTF-8 and other control characters replaced.
std::string escaped_label(std::string_view text);

}  // namespace plateau
