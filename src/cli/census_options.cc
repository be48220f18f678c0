// SPDX-License-Identifier: Apache-2.0
#include "cli/census_options.h"

#include <fmt/format.h>

#include "base/printable.h"
#include "base/text.h"

namespace plateau {

Options census_options() {
  return {flag("no-census",
               "Never stop the job to see who holds its Python objects (default: a Python job "
               "that grows is stopped twice for a few milliseconds, see --census-share)."),
          option("census-share", Takes::text, "PERCENT",
                 "Share of the job's time that it may be stopped to see who holds its objects, "
                 "besides 0.5 s once (default 0.1, at most 10); a larger share answers sooner.")};
}

Result<double> census_share(const Arguments& arguments) {
  const std::optional<std::string> text = arguments.text("census-share");
  if (arguments.has("no-census")) {
    if (text) return usage_error("--census-share and --no-census exclude each other");
    return 0.0;
  }
  if (!text) return CensusWatch::kDefaultShare;
  const std::optional<double> percent = parse_double(*text);
  if (!percent || !(*percent > 0 && *percent <= 10)) {
    return usage_error(fmt::format("--census-share takes a percentage up to 10, not '{}'", *text));
  }
  return *percent / 100;
}

namespace {

// Why the holders are not known though the job grew.
std::string missing_holders(const CensusWatch::Cost& cost) {
  if (!cost.trouble.empty()) return printable(cost.trouble);
  if (cost.awaited_s > 0) {
    return fmt::format("a look would stop the job for about {:.0f} ms, more than is allowed by now",
                       cost.awaited_s * 1000);
  }
  if (cost.empty > 0) return "nothing that Python holds had grown by ten items between the looks";
  return cost.looks == 1 ? "it takes two looks with growth between them, and one came"
                         : "the look that was taken came before the work had begun";
}

}  // namespace

std::string census_sentence(const CensusWatch::Cost& cost, bool over) {
  const int looks = cost.looks + cost.early + cost.empty;
  const bool stopped = looks > 0 || cost.stopped_s > 0;
  if (!stopped && cost.trouble.empty() && cost.awaited_s == 0) return "";
  if (!stopped && !cost.trouble.empty()) {
    return fmt::format("plateau: did not look at who holds its Python objects: {}\n",
                       printable(cost.trouble));
  }
  std::string sentence;
  if (stopped) {
    const std::string times = looks == 0   ? "without a result"
                              : looks == 1 ? "once"
                              : looks == 2 ? "twice"
                                           : fmt::format("{} times", looks);
    sentence = fmt::format(
        "plateau: the job was stopped {} to see who holds its Python objects, for {}{:.0f} ms in "
        "all (--no-census turns that off)\n",
        times, cost.trouble.empty() ? "" : "at most ", cost.stopped_s * 1000);
  }
  if (cost.looks < CensusWatch::kLooks) {
    sentence += fmt::format(
        "plateau: who holds the growth is not known: {}. More time: --census-share 10{}\n",
        missing_holders(cost),
        over ? "" : ", or 'plateau profile PID --objects --max-stop 1s' while it runs");
  }
  return sentence;
}

}  // namespace plateau
