// SPDX-License-Identifier: Apache-2.0
#include "cli/prove_request.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <string_view>

#include "base/files.h"
#include "base/text.h"
#include "cli/shared_options.h"

namespace plateau {
namespace {

constexpr int64_t kUsualSteps = 120;
constexpr int64_t kFewestSteps = 30;  // A warm-up and two pairs of the shortest blocks.
constexpr int64_t kUsualRequests = 20;

struct Factor {
  std::string_view name;
  std::string_view what;
  std::string_view leaves_out = "";  // The calls that are left out.
};
// Those that are switched on and off within one run.
constexpr std::array<Factor, 5> kWithin = {{
    {"gc", "gc.collect() after each step"},
    {"trim", "malloc_trim(0) after each step"},
    {"no-eval", "evaluations left out", "Trainer.evaluate, Lightning's evaluation loops"},
    {"no-backward", "backward() left out", "Tensor.backward"},
    {"no-optimizer", "the optimizer's update left out", "step() of torch's optimizers"},
}};

constexpr std::string_view kFactors =
    "gc, trim, no-eval, no-backward, no-optimizer, batch, workers=N,M, malloc=jemalloc, "
    "malloc=glibc or malloc=MALLOC_ARENA_MAX=N";

Result<ChosenContrast> workers_contrast(const std::string& name) {
  std::string_view rest = std::string_view(name).substr(std::string_view("workers=").size());
  const std::optional<uint64_t> first = parse_digits(take_part(rest, ','), 10);
  const std::optional<uint64_t> second = parse_digits(rest, 10);
  if (!first || !second || *first == *second || *first > 256 || *second > 256) {
    return usage_error(fmt::format(
        "--contrast workers takes two different counts, as in workers=0,2, not '{}'", name));
  }
  const auto arm = [](uint64_t count) {
    return Arm{fmt::format("{} worker{}", count, count == 1 ? "" : "s"),
               fmt::format("workers={}", count),
               {}};
  };
  return ChosenContrast{name, "the number of DataLoader workers", {arm(*first), arm(*second)}};
}

Result<ChosenContrast> malloc_contrast(const std::string& name) {
  const std::string which = name.substr(std::string_view("malloc=").size());
  if (which.starts_with("MALLOC_") && which.find('=') != std::string::npos) {
    return ChosenContrast{
        name, "glibc's malloc with " + which, {{"as it is", "", {}}, {which, "", {which}}}};
  }
  if (which == "glibc") {
    return ChosenContrast{name,
                          "glibc's malloc, without what LD_PRELOAD brings",
                          {{"as it is", "", {}}, {"glibc", "", {"LD_PRELOAD="}}}};
  }
  if (which != "jemalloc") {
    return usage_error(fmt::format(
        "--contrast malloc takes jemalloc, glibc or MALLOC_ARENA_MAX=N, not '{}'", which));
  }
  for (const char* place :
       {"/usr/lib/x86_64-linux-gnu/libjemalloc.so.2", "/usr/lib/aarch64-linux-gnu/libjemalloc.so.2",
        "/usr/lib64/libjemalloc.so.2", "/usr/lib/libjemalloc.so.2",
        "/usr/local/lib/libjemalloc.so.2"}) {
    if (access(place, R_OK) != 0) continue;
    return ChosenContrast{
        name,
        "jemalloc in the place of malloc",
        {{"as it is", "", {}}, {"jemalloc", "", {fmt::format("LD_PRELOAD={}", place)}}}};
  }
  return usage_error(
      "--contrast malloc=jemalloc needs libjemalloc.so.2; install it (Debian: libjemalloc2)");
}

Result<ChosenContrast> contrast_of(const std::string& name) {
  if (name.empty()) return ChosenContrast{};
  for (const Factor& factor : kWithin) {
    if (name == factor.name)
      return ChosenContrast{name, std::string(factor.what), {}, std::string(factor.leaves_out)};
  }
  if (name == "batch") {
    return ChosenContrast{name,
                          "batches of half the size",
                          {{"as it is", "", {}}, {"half the batch", "halve=1", {}}}};
  }
  if (name.starts_with("workers=")) return workers_contrast(name);
  if (name.starts_with("malloc=")) return malloc_contrast(name);
  return usage_error(fmt::format("--contrast takes {}, not '{}'", kFactors, name));
}

}  // namespace

Options prove_options() {
  return together(
      {grouped(
           "Experiment",
           {option("steps", Takes::count, "N",
                   "Batches of the training loader to take at most (default 120); it ends sooner "
                   "when the odds are 99 to 1."),
            option("contrast", Takes::text, "FACTOR",
                   fmt::format("Vary one factor instead of the batches, to see whether growth "
                               "depends on it: {}.",
                               kFactors)),
            option("repeat", Takes::text, "CMD",
                   "For a server, or any program: run the shell command CMD against COMMAND "
                   "repeatedly, to see whether its memory grows."),
            option("other", Takes::text, "CMD",
                   "With --repeat: a request that is new each time; {i} in it is a number that "
                   "counts up. Without it, {i} in --repeat is 0 for the same request and counts "
                   "up for new ones."),
            option("requests", Takes::count, "N",
                   "With --repeat: requests per block (default 20).")}),
       grouped("Output",
               {flag("json", "Print one JSON object on standard output."),
                option("output", Takes::file, "FILE",
                       "Also write a recording to FILE (default: nothing is written).", 'o')}),
       grouped("Output", recording_options()),
       without("no-plot", look_options("Do not show the job's output."))});
}

Result<ProveRequest> prove_request(const Arguments& arguments) {
  ProveRequest request;
  request.job.command = arguments.positionals;
  request.job.recording_path = arguments.text("output").value_or("");
  take_recording_options(arguments, request.job);
  request.steps = static_cast<int64_t>(arguments.number("steps").value_or(kUsualSteps));
  if (request.steps < kFewestSteps) {
    return usage_error(fmt::format("--steps must be at least {}: a warm-up and two pairs of blocks",
                                   kFewestSteps));
  }
  const Result<ChosenContrast> contrast = contrast_of(arguments.text("contrast").value_or(""));
  if (!contrast) return contrast.error();
  request.contrast = contrast.value();
  request.repeat = arguments.text("repeat").value_or("");
  request.other = arguments.text("other").value_or("");
  request.requests = static_cast<int64_t>(arguments.number("requests").value_or(kUsualRequests));
  if (request.repeat.empty() && (arguments.has("other") || arguments.has("requests"))) {
    return usage_error("--other and --requests go with --repeat");
  }
  if (!request.repeat.empty() && !request.contrast.name.empty()) {
    return usage_error("--repeat and --contrast exclude each other");
  }
  if (!request.repeat.empty() && request.requests < 5) {
    return usage_error("--requests must be at least 5");
  }
  request.json = arguments.has("json");
  request.quiet = arguments.has("quiet");
  request.view = view_of(arguments, STDOUT_FILENO);
  return request;
}

}  // namespace plateau
