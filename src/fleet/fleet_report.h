// SPDX-License-Identifier: Apache-2.0
// A fleet's answer for a terminal, as JSON lines, as a page, and for a Prometheus to scrape.
#pragma once

#include <string>
#include <string_view>

#include "fleet/findings.h"
#include "report/text.h"
#include "serve/metrics.h"

namespace plateau::fleet {

// What was asked, for headings.
struct Asked {
  std::string origin;  // Of the database, without secrets.
  std::string what;    // "kubernetes", or the query.
  std::string member;  // What one is called: "pod", "process", "series".
};

// `most_undecided`: so many of them are shown; the rest are counted.
std::string render_fleet(const FleetAnswer& answer, const Asked& asked, const View& view,
                         size_t most_undecided);

// One object a line for each finding, and last the summary; docs/fleet.md lists the keys.
std::string fleet_json(const FleetAnswer& answer);

// One HTML file without scripts: a curve for each finding, the evidence behind it, and the report
// of its fastest member as far as the round kept closeups.
std::string fleet_page(const FleetAnswer& answer, const Asked& asked);

// How the service fared, for its own metrics.
struct ServiceFigures {
  uint64_t rounds = 0;
  uint64_t failed_rounds = 0;
  double last_success_s = 0;  // Since 1970; 0: never yet.
  double last_round_s = 0;    // How long it took.
};
// Workloads only, at most `most_workloads` of them: what is scraped is bounded, whatever the fleet
// is.
inline constexpr size_t kMostWorkloadsTold = 1000;
std::string fleet_metrics(const FleetAnswer* answer, const ServiceFigures& figures,
                          Dialect dialect);

}  // namespace plateau::fleet
