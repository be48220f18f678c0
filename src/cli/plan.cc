// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "base/units.h"
#include "cli/exit_code.h"
#include "cli/plan_request.h"
#include "cli/shared_options.h"
#include "cli/trainer_program.h"
#include "cli/verbs.h"
#include "plan/plan_json.h"
#include "report/text.h"

namespace plateau {
namespace {

constexpr size_t kNameColumns = 18;
constexpr size_t kAmountColumns = 9;

std::string amount(double bytes) {
  return format_mb(bytes / kBytesPerMb);
}

std::string row(const std::string& name, double bytes, const std::string& text, const View& view) {
  std::string out = "  " + pad_right(name, kNameColumns) + pad_left(amount(bytes), kAmountColumns);
  if (text.empty()) return out + "\n";
  const size_t indent = 2 + kNameColumns + kAmountColumns + 2;
  bool first = true;
  for (const std::string& line : wrap(text, std::max<size_t>(view.width, indent + 30) - indent)) {
    out += (first ? "  " : "\n" + std::string(indent, ' ')) + line;
    first = false;
  }
  return out + "\n";
}

std::string side_text(const std::string& title, const MemorySide& side, bool explains,
                      const View& view) {
  std::string out = "\n" + paint(view, Ink::bold, title) + "\n";
  for (const MemoryLine& line : side.lines) {
    if (line.bytes == 0 && !explains) continue;
    out += row(line.name, line.bytes, explains ? line.formula : "", view);
  }
  out += row("between steps", side.resident, "", view);
  out += row("peak", side.peak, side.moment, view);
  return out;
}

std::string stack_name(TrainingStack stack) {
  switch (stack) {
    case TrainingStack::transformers:
      return "transformers' Trainer";
    case TrainingStack::trl:
      return "TRL's SFTTrainer";
    case TrainingStack::unsloth:
      return "Unsloth";
  }
  return "";
}

// Which program and which memory.
std::string first_line(const PlanRequest& request) {
  const TrainingSetup& setup = request.setup;
  const std::string name = stack_name(setup.stack);
  if (setup.device == TrainingDevice::cpu) return name + " on the CPU: host RAM, planned\n";
  if (setup.ranks == 1) return name + " on a GPU: GPU memory and host RAM, planned\n";
  return fmt::format("{} on GPUs: memory of each of {}, host RAM of {}, planned\n", name,
                     setup.ranks, counted(static_cast<uint64_t>(setup.ranks_here), "rank"));
}

std::string summary(const PlanRequest& request, const MemoryPlan& plan) {
  const TrainingSetup& setup = request.setup;
  const bool from_files = request.model.stored && !request.model.stored->is_packed;
  return fmt::format(
      "{}: {} parameters ({}), {} of them trained: {}, {}, {}; {} x {} tokens a pass",
      printable(request.model.shape.model_type),
      format_count(static_cast<int64_t>(std::min(plan.parameters, 9e18))),
      from_files ? "from the weight files" : "from config.json",
      format_count(static_cast<int64_t>(std::min(plan.trainable, 9e18))), word_of(setup.method),
      word_of(setup.dtype), word_of(setup.optimizer), setup.batch, format_count(setup.tokens));
}

std::string fit_text(const MemoryPlan& plan, double limit, const std::vector<MemoryChange>& changes,
                     const View& view) {
  const double peak = limited_peak(plan);
  const char* of = plan.gpu ? "of GPU memory" : "of host RAM";
  if (peak <= limit) {
    return fmt::format("\n{} {} {}: {} are left at the peak\n", paint(view, Ink::green, "FITS"),
                       amount(limit), of, amount(limit - peak));
  }
  std::string out =
      fmt::format("\n{} {} {}: {} too much. What to change, cheapest first:\n",
                  paint(view, Ink::red, "DOES NOT FIT"), amount(limit), of, amount(peak - limit));
  for (const MemoryChange& change : changes) {
    out += fmt::format("  {} peak {}  ({})\n", pad_right(change.what, 58),
                       pad_left(amount(change.peak), 8), change.cost);
  }
  if (changes.empty() || changes.back().peak > limit) {
    out += "  all of it together is not enough: a smaller model, or more ranks that share it\n";
  }
  return out;
}

std::string screen(const PlanRequest& request, const MemoryPlan& plan, bool explains,
                   const View& view) {
  std::string out = first_line(request) + wrapped(summary(request, plan), view.width);
  if (plan.gpu) {
    out += side_text(request.setup.ranks > 1 ? "GPU memory, each rank" : "GPU memory", *plan.gpu,
                     explains, view);
  }
  out += side_text("host RAM", plan.host, explains, view);
  for (const std::string& note : plan.notes) out += wrapped("note: " + printable(note), view.width);
  for (const std::string& each : request.assumptions)
    out += wrapped("assumed: " + printable(each), view.width);
  return out;
}

int run_plan(const Invocation& invocation) {
  const Arguments& arguments = invocation.arguments;
  if (arguments.text("for") == "plateau") {
    const Result<std::vector<std::string>> words = trainer_words(arguments);
    if (!words) return misused(invocation, words.error());
    return become_trainer(invocation, words.value());
  }
  const Result<PlanRequest> request = plan_request_of(arguments);
  if (!request) {
    return request.error().kind == Error::Kind::usage
               ? misused(invocation, request.error())
               : trouble(invocation, request.error().message);
  }
  const PlannedModel& model = request.value().model;
  const TrainingSetup& setup = request.value().setup;
  const MemoryPlan plan = make_memory_plan(model, setup);
  std::optional<double> limit;
  std::vector<MemoryChange> changes;
  if (const std::optional<double> mb = arguments.memory_mb("fit")) {
    limit = *mb * kBytesPerMb;
    changes = changes_to_fit(model, setup, *limit);
  }
  const bool fits = !limit || limited_peak(plan) <= *limit;
  if (arguments.has("json")) {
    invocation.out.print(plan_json(model, setup, plan, limit, changes));
    return fits ? kExitFine : kExitLeak;
  }
  const View view = view_of(arguments, STDOUT_FILENO);
  std::string text = screen(request.value(), plan, arguments.has("explain"), view);
  if (limit) text += fit_text(plan, *limit, changes, view);
  invocation.out.print(view.utf8 ? text : to_ascii(text));
  return fits ? kExitFine : kExitLeak;
}

}  // namespace

Verb plan_verb() {
  Verb verb;
  verb.name = "plan";
  verb.summary = "predict the memory of a training run, line by line, before it starts";
  verb.description = {
      "Computes the peak memory of GPU and host from config.json and, if present, the headers of "
      "the weight files; it reads no weights and runs nothing. It knows decoders and "
      "vision-language models: Llama, Mistral, Qwen2, Qwen3, Gemma 2 and 3, Qwen2-VL, Qwen2.5-VL, "
      "Qwen3-VL; others are planned as a Llama, with a note.",
      "Host RAM, which is easily forgotten, is planned too: workers x prefetched batches x picture "
      "size, pinned memory, a dataset whose pictures stay decoded, and what a checkpoint takes "
      "while it is written. docs/plan.md derives every line and compares plans with measured and "
      "published figures."};
  verb.positional = {
      .placeholder = "MODEL", .help = "A model's directory, or its config.json.", .required = true};
  verb.options =
      together({plan_options(),
                grouped("Output", {flag("explain", "Show the terms of each line."),
                                   option("fit", Takes::memory, "SIZE",
                                          "Check whether the peak fits SIZE (of the GPU; with "
                                          "--device cpu, of the host), and list what to change, "
                                          "cheapest first."),
                                   flag("json", "Print one JSON object: docs/formats/plan.md.")}),
                without("no-plot", without("quiet", look_options()))});
  verb.examples = {
      {"does QLoRA of this model fit a 24 GB card?",
       "plateau plan ./Qwen2.5-VL-7B --method qlora --tokens 4096 --fit 24GB"},
      {"full fine-tuning over 8 GPUs",
       "plateau plan config.json --ranks 8 --sharding zero3 --batch 4 --explain"},
      {"what the host needs, with real data",
       "plateau plan ./model --for trl -d train.jsonl --workers 8 --dataset decoded"},
      {"on the CPU", "plateau plan ./model --device cpu --dtype fp32 --batch 4 --tokens 512"},
      {"plateau's own trainer",
       "plateau plan ./model --for plateau --device cpu --tokens 2048 --fit 16GB"}};
  verb.exits = {{"0", "planned; with --fit, it fits"},
                {"1", "it does not fit"},
                {"2", "wrong usage, or no model that can be read"}};
  verb.run = run_plan;
  return verb;
}

}  // namespace plateau
