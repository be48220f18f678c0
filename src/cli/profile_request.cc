// SPDX-License-Identifier: Apache-2.0
#include "cli/profile_request.h"

#include <fmt/format.h>
#include <unistd.h>

#include "base/pid.h"
#include "cli/profile_objects.h"
#include "cli/shared_options.h"

namespace plateau {
namespace {

Options what_options() {
  return grouped(
      "What",
      {option("process", Takes::text, "PID|NAME|all",
              "The process to look at; 'all' sums them (default: the one whose heap grows most, or "
              "all if the number of processes grows)."),
       option(
           "for", Takes::seconds, "TIME",
           "For a PID that no plateau is tracing: load the tracer into it for this long (30s, 5m), "
           "then remove it again. Ctrl-C ends it early."),
       option("from-step", Takes::index, "A",
              "Show what changed from step A on; seconds where the job has no steps."),
       option("to-step", Takes::index, "B", "Show what changed until step B."),
       option("filter", Takes::text, "REGEX",
              "Show only stacks with a frame whose function, file or both match REGEX, as in "
              "'load|decode' or 'PIL/'."),
       option("exclude", Takes::text, "REGEX", "Leave out stacks with a frame that matches REGEX."),
       choice("kind", "KIND", {"heap", "mapping", "python", "shared", "stack", "device"},
              "Show only blocks from malloc (heap), from the program's own mmap (mapping), small "
              "Python objects (python), shared memory (shared), thread stacks (stack), or memory "
              "of a GPU (device).")});
}

Options shown_options() {
  return grouped(
      "How it is shown",
      {choice("by", "WHAT", {"stack", "function", "module", "kind"},
              "Sum and judge by stack (default), function, module or kind."),
       option("top", Takes::count, "N",
              "Show at most N sites or functions (default 10; 30 in views with a line for each)."),
       choice("show", "WHICH", {"growing", "all"},
              "Show the sites that grew (growing, default), or all sites."),
       flag("full",
            "Show whole stacks, including frames of allocators, the C++ library and the "
            "interpreter."),
       flag("flat",
            "Sum by function: what it allocated itself, and including everything it called."),
       flag("tree", "Show a call tree, outermost call first."),
       flag("inverted", "Show a caller tree, from the allocating call outwards."),
       flag("peak", "Show what was alive when the heap was largest."),
       flag("temporary",
            "Show which sites make blocks that are freed within the step, or second, they are "
            "made in."),
       option("around", Takes::text, "REGEX",
              "Show the callers and callees of a function, with what is alive below them."),
       flag("rss",
            "Show what resident memory is made of, in parts that add up: its growth in a "
            "recording, its size in a live PID."),
       flag("json",
            "Print all sites as one JSON object; docs/report-fields.md explains the keys.")});
}

Options export_options() {
  return grouped(
      "For other viewers",
      {choice(
           "export", "FORMAT", {"folded", "speedscope", "pprof"},
           "Write the live heap for another viewer: folded (flame graphs), speedscope, or pprof."),
       option("output", Takes::file, "OUT",
              "Write it to OUT instead of standard output; OUT must not exist.", 'o'),
       flag("force", "Replace OUT if it exists.")});
}

Result<std::optional<Pattern>> pattern_of(const Arguments& arguments, const std::string& option) {
  const std::optional<std::string> text = arguments.text(option);
  if (!text) return std::optional<Pattern>();
  std::optional<Pattern> pattern = Pattern::of(*text);
  if (pattern) return pattern;
  return usage_error(fmt::format("--{} takes a regular expression, not '{}'", option, *text));
}

ProfileBy by_of(const std::string& name) {
  if (name == "function") return ProfileBy::function;
  if (name == "module") return ProfileBy::module;
  return name == "kind" ? ProfileBy::kind : ProfileBy::stack;
}

std::optional<HeapKind> kind_of(const std::optional<std::string>& name) {
  for (const HeapKind kind : {HeapKind::heap, HeapKind::mapping, HeapKind::python, HeapKind::shared,
                              HeapKind::stack, HeapKind::device}) {
    if (name && *name == heap_kind_name(kind)) return kind;
  }
  return std::nullopt;
}

Result<ProfileRequest::Shape> shape_of(const Arguments& arguments) {
  using Shape = ProfileRequest::Shape;
  const int others =
      int{arguments.has("peak")} + int{arguments.has("temporary")} + int{arguments.has("around")};
  const int asked = others + int{arguments.has("flat")} + int{arguments.has("tree")} +
                    int{arguments.has("inverted")};
  if (others > 0 && asked > 1) {
    return usage_error("--peak, --temporary and --around are views of their own: give one");
  }
  if (asked > 1 && !(arguments.has("tree") && arguments.has("inverted") && asked == 2)) {
    return usage_error("--flat does not go with --tree or --inverted");
  }
  if (asked > 0 && arguments.has("by")) {
    return usage_error("--by goes with the list, not with --flat, --tree or --inverted");
  }
  if (arguments.has("peak")) return Shape::peak;
  if (arguments.has("temporary")) return Shape::temporary;
  if (arguments.has("around")) return Shape::around;
  if (arguments.has("flat")) return Shape::flat;
  if (arguments.has("inverted")) return Shape::inverted;
  return arguments.has("tree") ? Shape::tree : Shape::list;
}

// A number is a process, unless there is a file of that name.
std::optional<int64_t> pid_of(const std::string& target) {
  const std::optional<pid_t> number = parse_pid(target);
  if (!number || access(target.c_str(), F_OK) == 0) return std::nullopt;
  return number;
}

Result<ProfileOptions> options_of(const Arguments& arguments) {
  ProfileOptions options;
  Result<std::optional<Pattern>> filter = pattern_of(arguments, "filter");
  if (!filter) return filter.error();
  Result<std::optional<Pattern>> exclude = pattern_of(arguments, "exclude");
  if (!exclude) return exclude.error();
  options.filter = std::move(filter.value());
  options.exclude = std::move(exclude.value());
  options.by = by_of(arguments.text("by").value_or("stack"));
  options.kind = kind_of(arguments.text("kind"));
  options.full = arguments.has("full");
  options.from_step = arguments.number("from-step");
  options.to_step = arguments.number("to-step");
  options.at_peak = arguments.has("peak");
  if (options.at_peak && (options.from_step || options.to_step)) {
    return usage_error(
        "--peak chooses its moment itself: it goes without --from-step and --to-step");
  }
  options.policy = policy_of(arguments);
  if (options.from_step && options.to_step && *options.from_step >= *options.to_step) {
    return usage_error("--from-step must lie before --to-step");
  }
  return options;
}

// What does not go together, in words.
std::optional<Error> contradiction(const ProfileRequest& request, const Arguments& arguments) {
  if (request.objects && !request.pid) {
    return usage_error("--objects needs the PID of a running process");
  }
  if (!request.objects && (arguments.has("again") || arguments.has("max-stop"))) {
    return usage_error("--again and --max-stop go with --objects");
  }
  if (arguments.has("for") && (!request.pid || request.objects || request.rss)) {
    return usage_error(
        "--for needs the PID of a running process, and goes without --objects and --rss");
  }
  if (request.format.empty() && arguments.has("output")) {
    return usage_error("--output goes with --export");
  }
  if (request.format.empty()) return std::nullopt;
  if (request.json || request.rss || arguments.has("by") ||
      request.shape != ProfileRequest::Shape::list) {
    return usage_error("--export goes alone: it holds whole stacks");
  }
  if (request.format == "pprof" && arguments.text("output").value_or("-") == "-" &&
      isatty(STDOUT_FILENO) == 1) {
    return usage_error("pprof is not text; give a file with -o OUT");
  }
  return std::nullopt;
}

}  // namespace

Options profile_options() {
  return together({what_options(), shown_options(), export_options(), objects_options(),
                   without("limit", context_options()),
                   without("no-plot", look_options("Print only the first line: where it grows."))});
}

Result<ProfileRequest> profile_request(const Invocation& invocation) {
  const Arguments& arguments = invocation.arguments;
  ProfileRequest request;
  request.target = arguments.positionals.front();
  request.pid = pid_of(request.target);
  request.process = arguments.text("process").value_or("");
  request.given = given_facts(arguments);
  Result<ProfileOptions> options = options_of(arguments);
  if (!options) return options.error();
  request.options = std::move(options.value());
  const Result<ProfileRequest::Shape> shape = shape_of(arguments);
  if (!shape) return shape.error();
  request.shape = shape.value();
  Result<std::optional<Pattern>> around = pattern_of(arguments, "around");
  if (!around) return around.error();
  request.around = std::move(around.value());
  const bool list = request.shape == ProfileRequest::Shape::list;
  request.looks.top = static_cast<size_t>(arguments.number("top").value_or(list ? 10 : 30));
  request.looks.all = arguments.text("show") == "all";
  request.looks.full = arguments.has("full");
  request.format = arguments.text("export").value_or("");
  request.rss = arguments.has("rss");
  request.objects = arguments.has("objects");
  request.trace_s = arguments.seconds("for").value_or(0);
  request.json = arguments.has("json");
  request.quiet = arguments.has("quiet");
  request.view = view_of(arguments, STDOUT_FILENO);
  if (const std::optional<Error> error = contradiction(request, arguments)) return *error;
  return request;
}

}  // namespace plateau
