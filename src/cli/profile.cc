// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "base/json_writer.h"
#include "base/units.h"
#include "cli/exit_code.h"
#include "cli/find_recording.h"
#include "cli/input.h"
#include "cli/profile_attached.h"
#include "cli/profile_objects.h"
#include "cli/profile_request.h"
#include "cli/shared_options.h"
#include "cli/verbs.h"
#include "cli/write_file.h"
#include "ledger/ledger.h"
#include "profile/heap_choice.h"
#include "report/ledger.h"

namespace plateau {
namespace {

constexpr const char* kHowToRecord = "record one with 'plateau run --heap -- COMMAND'";

bool process_exists(int64_t pid) {
  return access(fmt::format("/proc/{}", pid).c_str(), F_OK) == 0;
}

std::string no_such_process(int64_t pid) {
  return fmt::format(
      "pid {}: no such process; `ps -eo pid,rss,args --sort=-rss | head` lists the largest "
      "processes",
      pid);
}

bool traces(const Run& run, int64_t pid) {
  return std::any_of(run.heaps.begin(), run.heaps.end(),
                     [pid](const HeapTrack& track) { return track.pid == pid; });
}

// The last run of a file of which a heap was recorded.
Result<Run> run_with_heaps(const Invocation& invocation, const std::string& file) {
  Result<std::vector<Run>> runs = read_runs(invocation, file);
  if (!runs && runs.error().kind == Error::Kind::no_samples) {
    return Error{Error::Kind::no_samples,
                 fmt::format("{} is not a recording with a heap; {}", file, kHowToRecord)};
  }
  if (!runs) return runs.error();
  for (auto run = runs.value().rbegin(); run != runs.value().rend(); ++run) {
    if (!run->heaps.empty()) return std::move(*run);
  }
  return Error{Error::Kind::no_samples,
               fmt::format("{}: no heap in this recording; {}", file, kHowToRecord)};
}

// The recording that a running plateau writes of the process.
Result<Run> run_of_pid(const Invocation& invocation, int64_t pid) {
  for (const std::string& file : open_recordings()) {
    const Result<Run> run = run_with_heaps(invocation, file);
    if (run && traces(run.value(), pid)) return run;
  }
  return Error{
      Error::Kind::not_found,
      fmt::format(
          "no running plateau traces the heap of process {}; trace it now with --for 30s, or "
          "{}",
          pid, kHowToRecord)};
}

// A recording, a process that a running plateau records, or one that is traced for this.
Result<Run> heaps_asked_for(const Invocation& invocation, const ProfileRequest& request) {
  if (!request.pid) return run_with_heaps(invocation, request.target);
  if (request.trace_s > 0) {
    return trace_process(static_cast<pid_t>(*request.pid), request.trace_s, invocation.out);
  }
  return run_of_pid(invocation, *request.pid);
}

Result<Run> run_to_profile(const Invocation& invocation, const ProfileRequest& request) {
  Result<Run> run = heaps_asked_for(invocation, request);
  if (!run) return run;
  apply_facts(request.given, run.value().context);
  add_sum_of_heaps(run.value());
  return run;
}

void add_other_processes(const Run& run, const HeapTrack& chosen, HeapProfile& profile) {
  std::vector<const HeapTrack*> others;
  for (const HeapTrack& track : run.heaps) {
    if (&track == &chosen || track.pid == 0 || chosen.pid == 0) continue;
    if (heap_growth_bytes(track) > 0) others.push_back(&track);
  }
  if (others.empty()) return;
  std::sort(others.begin(), others.end(), [](const HeapTrack* a, const HeapTrack* b) {
    return heap_growth_bytes(*a) > heap_growth_bytes(*b);
  });
  profile.notes.push_back(fmt::format(
      "{} other {} grew too, most of them {} ({}); --process {} "
      "shows it",
      others.size(), others.size() == 1 ? "heap" : "heaps", others.front()->pid,
      format_mb_signed(heap_growth_bytes(*others.front()) / kBytesPerMb), others.front()->pid));
}

std::string exported(const ExportProfile& profile, const std::string& format) {
  if (format == "speedscope") return export_speedscope(profile);
  return format == "pprof" ? export_pprof(profile) : export_folded(profile);
}

// Without the exit code of a verdict: who exports wants the file.
int export_heap(const Invocation& invocation, const HeapProfile& profile, const HeapTrack& track,
                const std::string& format) {
  return write_output(invocation, exported(export_of(profile, track), format));
}

// The growth of RSS over the rows that the profile compares.
Result<LedgerGrowth> rss_growth(const Run& run, const HeapTrack& track,
                                const HeapProfile& profile) {
  Result<LedgerGrowth> growth = ledger_growth(run, track, profile.from_row, profile.to_row);
  if (growth) return growth;
  return Error{growth.error().kind, fmt::format("{}: {}", run.source, growth.error().message)};
}

std::string growth_json(const LedgerGrowth& growth) {
  JsonWriter json;
  write_ledger_growth_json(json, growth);
  return json.take();
}

// What a live process's resident memory is made of; what its tracer knows, if there is one.
int print_resident(const Invocation& invocation, const ProfileRequest& request) {
  Output& out = invocation.out;
  const auto pid = static_cast<pid_t>(*request.pid);
  const Result<ResidentByMapping> resident = read_resident(pid);
  if (!resident) return trouble(invocation, resident.error().message);
  const Result<Run> run = run_of_pid(invocation, *request.pid);
  const HeapTrack* track = nullptr;
  if (run) {
    const Result<const HeapTrack*> chosen = choose_heap(run.value(), request.target);
    if (chosen) track = chosen.value();
  }
  const Ledger ledger = make_ledger(resident.value(), track);
  if (request.json) {
    JsonWriter json;
    write_ledger_json(json, ledger);
    out.print(json.take() + "\n");
  } else {
    out.print(ledger_text(ledger, request.view));
  }
  return kExitFine;
}

std::string text_of(const HeapProfile& profile, const ProfileRequest& request) {
  using Shape = ProfileRequest::Shape;
  if (request.quiet) return render_profile_line(profile, request.view);
  switch (request.shape) {
    case Shape::flat:
      return render_flat(profile, request.view, request.looks.top);
    case Shape::tree:
      return render_tree(profile, request.view, false);
    case Shape::inverted:
      return render_tree(profile, request.view, true);
    case Shape::peak:
      return render_peak(profile, request.view, request.looks.top);
    case Shape::temporary:
      return render_temporary(profile, request.view, request.looks.top);
    case Shape::around:
      return render_around(profile, request.view, *request.around, request.looks.top);
    case Shape::list:
      break;
  }
  return render_profile(profile, request.view, request.looks);
}

// As for a verdict: any leak is bad news, and the leading site decides otherwise.
int exit_code_for_profile(const HeapProfile& profile) {
  const auto word_of = [](const ProfileSite& site) { return site.verdict.word; };
  if (std::any_of(profile.sites.begin(), profile.sites.end(), [&](const ProfileSite& site) {
        return word_of(site) == GrowthWord::unbounded;
      })) {
    return kExitLeak;
  }
  const ProfileSite* site = growth_site(profile);
  if (site == nullptr && !profile.sites.empty()) site = &profile.sites.front();
  const bool open = site != nullptr && word_of(*site) == GrowthWord::undecided;
  return open ? kExitUndecided : kExitFine;
}

int print_profile(const Invocation& invocation, const Run& run, const HeapTrack& track,
                  const HeapProfile& profile, const ProfileRequest& request) {
  Output& out = invocation.out;
  if (!request.format.empty()) return export_heap(invocation, profile, track, request.format);
  if (request.rss && track.pid == 0) {
    return trouble(invocation, "--rss is about one process; name it with --process PID");
  }
  if (request.rss) {
    const Result<LedgerGrowth> growth = rss_growth(run, track, profile);
    if (!growth) return trouble(invocation, growth.error().message);
    out.print(request.json ? profile_json(profile, growth_json(growth.value())) + "\n"
                           : ledger_growth_text(growth.value(), request.view));
  } else {
    out.print(request.json ? profile_json(profile) + "\n" : text_of(profile, request));
  }
  return exit_code_for_profile(profile);
}

int profile_heap(const Invocation& invocation, const ProfileRequest& request) {
  const Result<Run> run = run_to_profile(invocation, request);
  if (!run) return trouble(invocation, run.error().message);
  const Result<const HeapTrack*> track =
      choose_heap(run.value(), request.pid ? request.target : request.process);
  if (!track) return trouble(invocation, track.error().message);
  Result<HeapProfile> profile = profile_heap(run.value(), *track.value(), request.options);
  if (!profile) {
    return trouble(invocation, fmt::format("{}: {}", run.value().source, profile.error().message));
  }
  add_other_processes(run.value(), *track.value(), profile.value());
  return print_profile(invocation, run.value(), *track.value(), profile.value(), request);
}

int run_profile(const Invocation& invocation) {
  const Result<ProfileRequest> request = profile_request(invocation);
  if (!request) return misused(invocation, request.error());
  if (request.value().pid && !process_exists(*request.value().pid)) {
    return trouble(invocation, no_such_process(*request.value().pid));
  }
  if (request.value().objects) {
    return profile_objects(invocation, static_cast<pid_t>(*request.value().pid));
  }
  if (request.value().rss && request.value().pid) {
    return print_resident(invocation, request.value());
  }
  return profile_heap(invocation, request.value());
}

}  // namespace

Verb profile_verb() {
  Verb verb;
  verb.name = "profile";
  verb.summary = "show which call stacks, Python types and tensors grow";
  verb.description = {
      "Reads the heap that 'plateau run --heap' recorded and lists the call stacks whose live "
      "memory grows with the steps, each judged: unbounded (a leak), filling (ends), grown (level "
      "now), one-off, churn, spike, level or undecided. Native and Python frames are shown in one "
      "stack. Stacks that differ only in allocator or interpreter frames are summed before they "
      "are judged.",
      "Instead of a recording, give the PID of a process whose heap a running plateau is tracing. "
      "With --from-step and --to-step the list is sorted by what changed between the two; the "
      "verdicts are still those on the whole run.",
      "With --for, the tracer is loaded into any process of yours for a while, at a safe point, "
      "and removed again; the list then shows what was allocated in that time.",
      "For any process of yours, --objects counts Python objects by type and --rss shows what its "
      "resident memory is made of."};
  verb.positional = {.placeholder = "FILE|PID",
                     .help = "A recording with heaps, or a process that is being recorded.",
                     .takes = Takes::file,
                     .required = true,
                     .many = false};
  verb.options = profile_options();
  verb.examples = {
      {"record the heap", "plateau run --heap -o job.plateau -- python3 train.py"},
      {"see what grows", "plateau profile job.plateau"},
      {"what was added between steps 100 and 200?",
       "plateau profile job.plateau --from-step 100 --to-step 200"},
      {"who holds it, by function and as a tree",
       "plateau profile job.plateau --flat && plateau profile job.plateau --tree"},
      {"only what the image library allocates", "plateau profile job.plateau --filter PIL/"},
      {"from a job that is still running", "plateau profile 4242"},
      {"from a process that was not started under plateau", "plateau profile 4242 --for 1m"},
      {"what is resident memory made of?", "plateau profile 4242 --rss"},
      {"which Python types grow in a process that was not started under plateau?",
       "plateau profile 4242 --objects --again 30s"},
      {"a flame graph in a browser",
       "plateau profile job.plateau --export speedscope -o heap.speedscope.json"},
      {"for a program", "plateau profile job.plateau --json | jq '.sites[0].title'"},
  };
  verb.exits = {{"0", "no site grows without bound"},
                {"1", "a site grows without bound (with --export and --objects: never)"},
                {"2", "wrong usage, no heap in the recording, or output that failed"},
                {"3", "the site that grows most cannot be decided yet"}};
  verb.run = run_profile;
  return verb;
}

}  // namespace plateau
