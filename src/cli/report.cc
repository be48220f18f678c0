// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "answer/answer.h"
#include "answer/job_answer.h"
#include "answer/job_run.h"
#include "base/text.h"
#include "cli/exit_code.h"
#include "cli/input.h"
#include "cli/shared_options.h"
#include "cli/verbs.h"
#include "cli/write_file.h"
#include "command/screen.h"
#include "page/page_data.h"
#include "page/page_file.h"
#include "report/terminal.h"
#include "report/text.h"
#include "share/markdown.h"
#include "share/svg_chart.h"
#include "words/phrases.h"

namespace plateau {
namespace {

// What is written: a page, or a part of it for where a page cannot go.
enum class Kind : uint8_t { html, md, svg };

struct ReportRequest {
  Kind kind = Kind::html;
  std::string chart;  // Beside Markdown, where the chart goes; empty: nowhere.
  std::vector<std::string> files;
  bool every_run = false;
  Context given;
  Policy policy;
};

bool to_standard_output(const Arguments& arguments) {
  return arguments.text("output").value_or("-") == "-";
}

// What other programs write under these endings no report is; any other name may be a page's.
constexpr std::array<std::string_view, 10> kForeignEndings = {
    ".png", ".jpg", ".jpeg", ".gif", ".webp", ".pdf", ".json", ".csv", ".xml", ".txt"};

// The foreign ending that OUT has without --as saying what to write there; empty if it has none.
std::string_view foreign_ending(const Arguments& arguments) {
  if (arguments.has("as")) return "";
  const std::string output = arguments.text("output").value_or("");
  const std::string_view ending =
      std::string_view(output).substr(std::min(output.rfind('.'), output.size()));
  const auto* found = std::ranges::find_if(kForeignEndings, [&](std::string_view foreign) {
    return equal_ignoring_case(ending, foreign);
  });
  return found == kForeignEndings.end() ? "" : *found;
}

// By --as, else by how OUT ends.
Kind kind_of(const Arguments& arguments) {
  const std::string output = arguments.text("output").value_or("");
  const std::string as = arguments.text("as").value_or("");
  if (as == "md" || (as.empty() && output.ends_with(".md"))) return Kind::md;
  if (as == "svg" || (as.empty() && output.ends_with(".svg"))) return Kind::svg;
  return Kind::html;
}

Result<ReportRequest> report_request(const Invocation& invocation) {
  const Arguments& arguments = invocation.arguments;
  const Result<std::vector<std::string>> files = files_of(invocation);
  if (!files) return files.error();
  const ReportRequest request = {.kind = kind_of(arguments),
                                 .chart = arguments.text("chart").value_or(""),
                                 .files = files.value(),
                                 .every_run = arguments.has("all-runs"),
                                 .given = given_facts(arguments),
                                 .policy = policy_of(arguments)};
  if (std::count(request.files.begin(), request.files.end(), "-") > 1) {
    return usage_error("standard input can be read only once");
  }
  if (!request.chart.empty() && request.kind != Kind::md) {
    return usage_error("--chart goes with Markdown: --as md");
  }
  if (const std::string_view ending = foreign_ending(arguments); !ending.empty()) {
    return usage_error(fmt::format(
        "a report is .html, .md or .svg, not {}; --as KIND writes one under any name", ending));
  }
  if (request.kind == Kind::html && to_standard_output(arguments) &&
      look_around(STDOUT_FILENO).is_terminal) {
    return usage_error("a page is no use on a terminal: give it a name with -o report.html");
  }
  if (request.given.rank && request.files.size() > 1) {
    return usage_error("--rank goes with one FILE");
  }
  if (request.every_run && request.files.size() > 1) {
    return usage_error("--all-runs goes with one FILE");
  }
  if (request.every_run && request.kind == Kind::svg) {
    return usage_error("a chart shows one run: --all-runs goes with a page or Markdown");
  }
  return request;
}

// Of each file its last run, as judge answers for it; with --all-runs every run of the one file.
Result<std::vector<Run>> runs_of(const Invocation& invocation, const ReportRequest& request) {
  std::vector<Run> chosen;
  for (const std::string& file : request.files) {
    Result<std::vector<Run>> runs = read_runs(invocation, file);
    if (!runs) return runs.error();
    const size_t first = request.every_run ? 0 : runs.value().size() - 1;
    for (size_t i = first; i < runs.value().size(); ++i) {
      Run& run = runs.value()[i];
      apply_facts(request.given, run.context);
      chosen.push_back(std::move(run));
    }
  }
  return chosen;
}

// "212 kB", "1.3 MB": of files, where three digits are enough.
std::string size_words(size_t bytes) {
  constexpr size_t kKilo = 1000, kMega = 1000 * kKilo;
  if (bytes < kMega) return fmt::format("{} kB", (bytes + kKilo / 2) / kKilo);
  return fmt::format("{:.1f} MB", static_cast<double>(bytes) / static_cast<double>(kMega));
}

// What readers without JavaScript see, and the words for the line on standard error.
struct PlainPage {
  std::string title;
  std::string text;
  std::string words;
};

PlainPage plain_page(std::span<const Answer> answers) {
  PlainPage plain;
  const bool several = answers.size() > 1;
  for (const Answer& answer : answers) {
    const Verdict& verdict = answer.verdict;
    if (several) plain.text += verdict.file + "\n";
    plain.text += render_verdict(verdict, View{});
    if (!plain.words.empty()) plain.words += ", ";
    plain.words += word_name(verdict.word);
    if (verdict.confidence != 0) plain.words += " " + percent_phrase(verdict.confidence);
  }
  plain.title =
      several ? fmt::format("{} runs compared", answers.size()) : answers.front().verdict.file;
  plain.title += ": " + plain.words + " · Plateau";
  return plain;
}

// What a report is made of.
struct Contents {
  std::vector<Run> runs;
  std::vector<Answer> answers;
  std::optional<Comparison> comparison;
  size_t told = 0;  // Of the answers, those that answer for what was asked.
};

// How the answer came about is for the page alone, and dear.
Contents answers_of(std::vector<Run> runs, const ReportRequest& request) {
  const Policy& policy = request.policy;
  const auto answer = request.kind == Kind::html ? detailed_answer : answer_run;
  Contents contents;
  for (const Run& run : runs) contents.answers.push_back(answer(run, {.policy = policy}));
  if (runs.size() > 1) contents.comparison = compare(std::span<const Run>(runs), policy);
  contents.told = runs.size();
  contents.runs = std::move(runs);
  return contents;
}

// All ranks as one run, and, behind it, the recording of the rank that is most worth a look.
Result<Contents> answers_of_job(std::vector<Run> ranks, const Policy& policy) {
  number_ranks(ranks);
  Result<Run> job = job_run(ranks);
  if (!job) return job.error();
  const AnswerOptions options{.policy = policy};
  Contents contents;
  contents.runs = {std::move(job.value())};
  contents.answers = {answer_job(contents.runs.front(), ranks, options)};
  contents.told = 1;
  KnownMoments none;
  add_detail(contents.runs.front(), options, none, contents.answers.front());
  if (const std::optional<size_t> odd = telling_recording(contents.answers.front(), ranks)) {
    contents.runs.push_back(ranks[*odd]);
    contents.answers.push_back(detailed_answer(contents.runs.back(), options));
  }
  return contents;
}

std::string page_of(const Contents& contents, const PlainPage& plain) {
  const Comparison* comparison = contents.comparison ? &*contents.comparison : nullptr;
  const std::string data = page_data_json(contents.runs, contents.answers, comparison);
  return report_page(plain.title, data, plain.text);
}

// What changed on top, then run by run. The chart, which shows one, is that of the last run.
std::string markdown_of(const Contents& contents, const std::string& chart) {
  std::string out;
  if (contents.comparison) out += comparison_markdown(*contents.comparison) + "\n";
  for (size_t i = 0; i < contents.told; ++i) {
    const bool last = i + 1 == contents.told;
    out += verdict_markdown(contents.answers[i].verdict, last ? chart : "");
    if (!last) out += '\n';
  }
  return out;
}

std::string document_of(const Contents& contents, const ReportRequest& request,
                        const PlainPage& plain) {
  if (request.kind == Kind::html) return page_of(contents, plain);
  if (request.kind == Kind::md) return markdown_of(contents, request.chart);
  return svg_chart(contents.answers[contents.told - 1].verdict);
}

bool names_a_job(const Run& run) {
  return run.context.job.has_value();
}

int write_report(const Invocation& invocation, const ReportRequest& request) {
  const Result<std::vector<Run>> runs = runs_of(invocation, request);
  if (!runs) return trouble(invocation, runs.error().message);
  const bool one_job = is_one_job(runs.value());
  if (request.kind == Kind::svg && runs.value().size() > 1 && !one_job) {
    return misused(invocation, usage_error("a chart shows one run: give one FILE"));
  }
  const Result<Contents> contents =
      one_job ? answers_of_job(runs.value(), request.policy) : answers_of(runs.value(), request);
  if (!contents) return trouble(invocation, contents.error().message);
  const Contents& all = contents.value();
  const PlainPage plain = plain_page(std::span(all.answers).first(all.told));
  const std::string document = document_of(all, request, plain);
  const Arguments& arguments = invocation.arguments;
  if (!request.chart.empty()) {
    const std::string chart = svg_chart(all.answers[all.told - 1].verdict);
    const auto error = write_file(request.chart, chart, arguments.has("force"));
    if (error) return trouble(invocation, error->message);
  }
  if (const int code = write_output(invocation, document); code != kExitFine) return code;
  if (!one_job && runs.value().size() > 1 && std::ranges::any_of(runs.value(), names_a_job)) {
    invocation.out.complain("report", "not all are of one job: they are compared");
  }
  if (!arguments.has("quiet") && (request.kind == Kind::html || !to_standard_output(arguments))) {
    const std::string where =
        to_standard_output(arguments) ? "standard output" : *arguments.text("output");
    invocation.out.remark(
        printable(fmt::format("{}: {}, {}", where, size_words(document.size()), plain.words)) +
        "\n");
  }
  return kExitFine;
}

int run_report(const Invocation& invocation) {
  const Result<ReportRequest> request = report_request(invocation);
  if (!request) return misused(invocation, request.error());
  return write_report(invocation, request.value());
}

Options report_options() {
  return together(
      {input_options(),
       grouped("Input", {flag("all-runs",
                              "Compare the runs of one FILE that holds several, the first being "
                              "the baseline.")}),
       context_options(),
       grouped("Output",
               {option("output", Takes::file, "OUT",
                       "Write the report to OUT, which must not exist (default: standard output, "
                       "unless that is a terminal and the report a page).",
                       'o'),
                choice("as", "KIND", {"html", "md", "svg"},
                       "Write a page (html), Markdown for an issue or a pull request (md), or only "
                       "the chart (svg). Default: by OUT's ending, .md or .svg, else html."),
                option("chart", Takes::file, "SVG",
                       "With Markdown: also write the chart to SVG, and refer to it."),
                flag("force", "Replace OUT, and SVG, if they exist."),
                flag("quiet", "Do not report what was written.", 'q')}),
       grouped("Answer", {strict_option()})});
}

}  // namespace

Verb report_verb() {
  Verb verb;
  verb.name = "report";
  verb.summary = "write everything about a run as one HTML page, Markdown or a chart, to share";
  verb.description = {
      "Writes one self-contained file: it opens from disk without network or server, follows the "
      "light or dark theme, and can be printed. The answer is at the top. Below it are memory over "
      "steps with phases, marks, forecast and limit, by kind of page and by process; the "
      "explanations that competed, and when the answer was known; the process tree; the causes; "
      "and call stacks if the heap was traced. A button copies the answer as Markdown for an "
      "issue.",
      "Where a page cannot be shown, --as md writes the answer as Markdown with the terminal's "
      "plot, and --as svg writes the chart as a picture.",
      "If a file holds several runs, the last one counts, as in judge. Several FILEs are compared "
      "with the first, as in compare; the page shows each of them too. Recordings of the ranks of "
      "one job (the same job id) are not compared: the page shows the job, with a small chart for "
      "each rank, the odd one marked, and each node against its limit.",
      "A long recording is drawn with at most 4,000 points in time, which keep the lowest and the "
      "highest value of every line in each stretch, so that no peak is lost."};
  verb.positional = input_positional();
  verb.options = report_options();
  verb.examples = {
      {"everything about a run, to look at", "plateau report train.log -o report.html"},
      {"with facts the log does not state",
       "plateau report train.log -o report.html --examples 663 --batch 8 --limit 20GB"},
      {"from a recording that 'plateau run' wrote",
       "plateau report job.plateau -o report.html --force"},
      {"all ranks of a job on one page", "plateau report rank*.plateau -o job.html"},
      {"did the fix work?", "plateau report before.log after.log -o fix.html"},
      {"for an issue or a pull request", "plateau report train.log --as md"},
      {"only the chart", "plateau report train.log -o train.svg"},
      {"from a pipe, into a pipe",
       "kubectl logs job/train | plateau report - | gzip >report.html.gz"},
  };
  verb.exits = {{"0", "the report was written, whatever it says"},
                {"2", "wrong usage, or input or output that failed"}};
  verb.run = run_report;
  return verb;
}

}  // namespace plateau
