// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/units.h"
#include "fleet/closeup.h"
#include "fleet/fleet_report.h"
#include "fleet/fleet_words.h"
#include "page/pack.h"

namespace plateau::fleet {
namespace {

constexpr double kSparkWidth = 180;
constexpr double kSparkHeight = 36;
constexpr size_t kMostReports = 50;  // Of 30 kB each, the worst findings first.

// Readable in light and dark, on a phone and on paper; nothing is loaded from elsewhere.
constexpr std::string_view kStyle = R"(
:root{color-scheme:light dark;--leak:#b3261e;--undecided:#8a5a00;--dim:#667}
@media(prefers-color-scheme:dark){:root{--leak:#ff8a80;--undecided:#ffc46b;--dim:#99a}}
body{font:16px/1.5 system-ui,sans-serif;max-width:70rem;margin:2rem auto;padding:0 1rem}
h1{font-size:1.4rem;margin:0}p{margin:.4rem 0}.dim{color:var(--dim)}
article{border-top:1px solid color-mix(in srgb,currentColor 20%,transparent);padding:1rem 0;
display:grid;grid-template-columns:12rem 1fr;gap:0 1.5rem}
article h2{font-size:1.05rem;margin:0;overflow-wrap:anywhere}.word{font-weight:700}
.leak .word,.leak polyline{color:var(--leak)}.undecided .word,.undecided polyline{color:var(--undecided)}
svg{width:100%;height:auto}polyline{fill:none;stroke:currentColor;stroke-width:2}
img{width:100%;max-width:60rem;height:auto;margin:.6rem 0}pre{font-size:.85rem;overflow-x:auto}
table{border-collapse:collapse;font-size:.9rem}td{padding:.1rem 1rem .1rem 0;vertical-align:top}
td:first-child{color:var(--dim)}@media(max-width:40rem){article{grid-template-columns:1fr}}
)";

std::string escaped(std::string_view text) {
  return html_escaped(printable(text));
}

std::string curve_of(const Finding& finding) {
  float low = INFINITY, high = -INFINITY;
  for (const float mb : finding.spark) {
    if (std::isfinite(mb)) low = std::min(low, mb), high = std::max(high, mb);
  }
  std::string points;
  for (size_t i = 0; i < kSparkPoints; ++i) {
    if (!std::isfinite(finding.spark[i])) continue;
    const double x = kSparkWidth * static_cast<double>(i) / (kSparkPoints - 1);
    const double share = high > low ? (finding.spark[i] - low) / (high - low) : 0.5;
    points += fmt::format("{:.1f},{:.1f} ", x, kSparkHeight * (0.95 - 0.9 * share));
  }
  return fmt::format(
      "<svg viewBox=\"0 0 {:.0f} {:.0f}\" role=\"img\" aria-label=\"memory from {} to {}\">"
      "<polyline points=\"{}\"/></svg>",
      kSparkWidth, kSparkHeight, format_mb(static_cast<double>(low)),
      format_mb(static_cast<double>(high)), points);
}

std::string row(std::string_view name, std::string_view value) {
  if (value.empty()) return "";
  return fmt::format("<tr><td>{}</td><td>{}</td></tr>", name, escaped(value));
}

std::string evidence_of(const Finding& f) {
  std::string rows = row("probability of a leak", fmt::format("{:.4f}", f.leak_probability));
  rows += row("holds under any dependence too", f.bounded ? "yes (e-BH)" : "no");
  rows += row("version", f.version);
  rows += row("since", f.since ? *f.since + ", " + format_utc(f.since_s.value_or(0)) : "");
  rows += row("fastest", fmt::format("{}", fmt::join(f.examples, ", ")));
  rows += row("memory of one", format_mb(f.last_mb));
  rows += row("growth of one", format_mb_signed(f.growth_mb_per_hour) + "/h");
  rows += row("first at its limit in", f.limit_in_s ? format_seconds(*f.limit_in_s) : "");
  rows += row("started anew in the window", std::to_string(f.restarts));
  rows += row("of them at the limit, after a climb", f.deaths > 0 ? std::to_string(f.deaths) : "");
  rows += row("load known from", load_source_name(f.load));
  return fmt::format("<details><summary>Evidence</summary><table>{}</table></details>", rows);
}

// What its fastest member's curve says by itself. Charts are images, so that their styles stay
// their own.
std::string report_behind(const Finding& finding, const Asked& asked) {
  if (!finding.closeup) return "";
  const CloseReport report = report_of(*finding.closeup);
  const std::string& member = finding.closeup->judged.name.member;
  const std::string differs =
      report.word == finding.word
          ? ""
          : fmt::format(
                "<p>By its own curve alone it is {}; what else is known of it stands "
                "above.</p>",
                word_name(report.word));
  return fmt::format(
      "<details><summary>Report of the {} that grows fastest: {}</summary>{}"
      "<img alt=\"memory of {} over the window\" src=\"data:image/svg+xml;base64,{}\">"
      "<pre>{}</pre></details>",
      escaped(asked.member), escaped(member), differs, escaped(member), base64_of(report.chart),
      html_escaped(report.text));
}

std::string article_of(const Finding& finding, const Asked& asked, bool with_report) {
  const std::string_view word = word_name(finding.word);
  return fmt::format(
      "<article class=\"{}\"><div>{}</div><div><h2><span class=\"word\">{}</span> {}</h2>"
      "<p>{}</p><p class=\"dim\">{}</p>{}{}</div></article>\n",
      word, curve_of(finding), word, escaped(title_of(finding)),
      escaped(what_happens(finding, asked.member)),
      escaped(fmt::format("{}", fmt::join(what_else(finding), "; "))), evidence_of(finding),
      with_report ? report_behind(finding, asked) : "");
}

}  // namespace

std::string fleet_page(const FleetAnswer& answer, const Asked& asked) {
  std::string body;
  size_t reports = 0;
  for (const Finding& finding : answer.findings) {
    body += article_of(finding, asked, reports < kMostReports);
    reports += finding.closeup ? 1 : 0;
  }
  std::string caveats;
  for (const std::string& caveat : caveats_of(answer)) {
    caveats += fmt::format("<p class=\"dim\">{}</p>", escaped(caveat));
  }
  return fmt::format(
      "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
      "content=\"width=device-width\"><meta http-equiv=\"Content-Security-Policy\" "
      "content=\"default-src 'none'; style-src 'unsafe-inline'; img-src data:\"><title>Plateau: "
      "fleet</title>"
      "<style>{}</style></head><body><h1>{}</h1><p class=\"dim\">{} of {}, {} until {}</p>{}{}"
      "</body></html>\n",
      kStyle, escaped(summary_of(answer)), escaped(asked.what), escaped(asked.origin),
      format_seconds(answer.window_s), format_utc(answer.end_s), body, caveats);
}

}  // namespace plateau::fleet
