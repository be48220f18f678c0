// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "page/pack.h"
#include "share/ci_case.h"

namespace plateau {
namespace {

size_t count_of(const std::vector<CiCase>& cases, CaseOutcome outcome) {
  return static_cast<size_t>(std::ranges::count(cases, outcome, &CiCase::outcome));
}

std::string inside(const CiCase& told) {
  const std::string message = html_escaped(told.message);
  switch (told.outcome) {
    case CaseOutcome::failed:
      return fmt::format("<failure message=\"{}\" type=\"{}\">{}</failure>", message,
                         html_escaped(told.rule), html_escaped(told.report));
    case CaseOutcome::broken:
      return fmt::format("<error message=\"{}\" type=\"unreadable\"/>", message);
    case CaseOutcome::open:
      return fmt::format("<skipped message=\"{}\"/>", message);
    case CaseOutcome::passed:
      break;
  }
  return "";
}

}  // namespace

std::string junit_xml(const std::string& suite, const std::vector<CiCase>& cases) {
  std::string out = fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n<testsuite name=\"{}\" "
      "tests=\"{}\" "
      "failures=\"{}\" errors=\"{}\" skipped=\"{}\" time=\"0\">\n",
      html_escaped(suite), cases.size(), count_of(cases, CaseOutcome::failed),
      count_of(cases, CaseOutcome::broken), count_of(cases, CaseOutcome::open));
  for (const CiCase& told : cases) {
    out += fmt::format("<testcase classname=\"{}\" name=\"{}\" time=\"0\">{}", html_escaped(suite),
                       html_escaped(told.name), inside(told));
    if (told.outcome == CaseOutcome::passed || told.outcome == CaseOutcome::open) {
      out += fmt::format("<system-out>{}</system-out>", html_escaped(told.report));
    }
    out += "</testcase>\n";
  }
  return out + "</testsuite>\n</testsuites>\n";
}

}  // namespace plateau
