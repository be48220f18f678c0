// SPDX-License-Identifier: Apache-2.0
#include "fleet/fleet_report.h"

#include <array>

namespace plateau::fleet {
namespace {

using Type = MetricsText::Type;

// One family at a time, because the format wants all samples of a family together.
class FleetMetrics {
 public:
  FleetMetrics(const FleetAnswer& answer, MetricsText& text) : answer_(answer), text_(text) {}

  void write() {
    text_.family("plateau_fleet_verdict", Type::stateset, "",
                 "What a workload was found to be; those that are level are not listed.");
    each([this](const Finding& finding, MetricsText::Labels labels) {
      labels.emplace_back("plateau_fleet_verdict", "");
      for (const Word word : {Word::leak, Word::undecided}) {
        labels.back().second = word_name(word);
        text_.sample(labels, finding.word == word ? 1 : 0);
      }
    });
    figure("plateau_fleet_leak_probability", "", "Probability that the workload leaks.",
           [](const Finding& f) { return std::optional(f.leak_probability); });
    figure("plateau_fleet_growth_bytes_per_second", "",
           "Growth of one of its members, the median over those that grow.",
           [](const Finding& f) { return std::optional(f.growth_mb_per_hour * 1e6 / 3600); });
    figure("plateau_fleet_limit_eta_seconds", "seconds",
           "Until the first of its members reaches its limit at this rate.",
           [](const Finding& f) { return f.limit_in_s; });
    figure("plateau_fleet_pods", "", "Members of the workload.",
           [](const Finding& f) { return std::optional(static_cast<double>(f.members)); });
    figure("plateau_fleet_pods_affected", "", "Members that grow.",
           [](const Finding& f) { return std::optional(static_cast<double>(f.affected)); });
    whole("plateau_fleet_fdr", "Share of false findings that was asked for at most.",
          answer_.most_false);
    whole("plateau_fleet_expected_fdr", "Share of the findings that is expected to be false.",
          answer_.expected_false_share);
    whole("plateau_fleet_series_judged", "Series that were judged in the last round.",
          static_cast<double>(answer_.series_judged));
    whole("plateau_fleet_series_failed", "Series that could not be read in the last round.",
          static_cast<double>(answer_.series_failed));
    whole("plateau_fleet_workloads", "Workloads, by version, in the last round.",
          static_cast<double>(answer_.workloads));
  }

 private:
  template <typename Write>
  void each(const Write& write) {
    size_t told = 0;
    for (const Finding& finding : answer_.findings) {
      if (++told > kMostWorkloadsTold) return;
      write(finding, MetricsText::Labels{{"cluster", finding.cluster},
                                         {"namespace", finding.space},
                                         {"workload", finding.workload},
                                         {"container", finding.container},
                                         {"version", finding.version}});
    }
  }

  template <typename Of>
  void figure(std::string_view name, std::string_view unit, std::string_view help, const Of& of) {
    text_.family(name, Type::gauge, unit, help);
    each([&](const Finding& finding, const MetricsText::Labels& labels) {
      if (const std::optional<double> value = of(finding)) text_.sample(labels, *value);
    });
  }

  void whole(std::string_view name, std::string_view help, double value) {
    text_.family(name, Type::gauge, "", help);
    text_.sample({}, value);
  }

  const FleetAnswer& answer_;
  MetricsText& text_;
};

}  // namespace

std::string fleet_metrics(const FleetAnswer* answer, const ServiceFigures& figures,
                          Dialect dialect) {
  MetricsText text(dialect);
  text.family("plateau_fleet_rounds", Type::counter, "", "Rounds over the fleet that ended.");
  text.sample({}, static_cast<double>(figures.rounds));
  text.family("plateau_fleet_rounds_failed", Type::counter, "",
              "Rounds in which the database could not be asked.");
  text.sample({}, static_cast<double>(figures.failed_rounds));
  text.family("plateau_fleet_round_duration_seconds", Type::gauge, "seconds",
              "How long the last round took.");
  text.sample({}, figures.last_round_s);
  if (figures.last_success_s > 0) {
    text.family("plateau_fleet_last_success_timestamp_seconds", Type::gauge, "seconds",
                "When the last round succeeded, since 1970.");
    text.sample({}, figures.last_success_s);
  }
  if (answer != nullptr) FleetMetrics(*answer, text).write();
  const std::array<const MetricsText*, 1> all = {&text};
  std::string body = joined(all);
  if (dialect == Dialect::open_metrics) body += "# EOF\n";
  return body;
}

}  // namespace plateau::fleet
