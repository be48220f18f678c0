// SPDX-License-Identifier: Apache-2.0
// Loads the tracer into a running process and takes it out again.
//
// In: at a safe point, dlopen of the library, then its plateau_tracer_attach(spec) and
// plateau_tracer_patch(), in one stop of one thread; the others run and begin to call the hooks as
// their slots change. Out: first the slots are given back. The thread that does it may itself stand
// inside a hook (the safe point is the real malloc that the hook has called), so it goes on. The
// library is unloaded when three things are sure: nobody is counted inside; no thread's program
// counter lies in it (the few instructions before and after the counting); and no word of the
// program's writable memory is the address of a hook (a program may take the address of free from
// its slot and keep it). Else it stays loaded, forwards what still comes, and the outcome says so.
#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <thread>

#include "base/files.h"
#include "base/proc_fields.h"
#include "inject/allocators.h"
#include "inject/inject.h"
#include "inject/own_filter.h"
#include "inject/safe_point.h"
#include "ptrace/memory.h"
#include "symbols/elf_file.h"

namespace plateau {
namespace {

constexpr std::string_view kTracerName = "libplateau_tracer";
constexpr auto kGrace = std::chrono::milliseconds(20);
constexpr auto kEmptyLimit = std::chrono::seconds(5);
constexpr auto kStopLimit = std::chrono::seconds(2);
constexpr size_t kMaxErrorBytes = 300;
constexpr uint64_t kScanBytes = uint64_t{1} << 20;
constexpr uint64_t kMostScanBytes = uint64_t{16} << 30;

Error failed(std::string text) {
  return {Error::Kind::not_found, std::move(text)};
}

struct LoaderDesk {
  uint64_t open = 0;
  uint64_t close = 0;
  uint64_t error = 0;  // dlerror; 0 if there is none.
  uint64_t flags = 0;  // That the open function wants beside RTLD_NOW.
};

Result<LoaderDesk> find_loader(pid_t pid, const RemoteNames& names) {
  LoaderDesk desk;
  // Since 2.34 these are in libc itself; before, libdl has them if the program has libdl.
  for (const char* library : {"/libc.so", "/libc-2", "/libdl"}) {
    const auto open = names.find(library, "dlopen");
    const auto close = names.find(library, "dlclose");
    if (!open || !close) continue;
    desk = {.open = *open, .close = *close, .error = names.find(library, "dlerror").value_or(0)};
    return desk;
  }
  const auto open = names.find("/libc", "__libc_dlopen_mode");
  const auto close = names.find("/libc", "__libc_dlclose");
  if (open && close) {
    constexpr uint64_t kInternalDlopen = 0x80000000;  // __RTLD_DLOPEN
    return LoaderDesk{.open = *open, .close = *close, .flags = kInternalDlopen};
  }
  return failed(
      fmt::format("process {} has no dlopen: a static program, or another C library", pid));
}

const MappedObject* find_tracer(const std::vector<MappedObject>& objects) {
  const auto found = std::ranges::find_if(objects, [](const MappedObject& object) {
    return object.path.find(kTracerName) != std::string::npos;
  });
  return found == objects.end() ? nullptr : &*found;
}

struct TracerDesk {
  uint64_t attach = 0, patch = 0, unpatch = 0, inside = 0, detach = 0;
};

// Where the functions stand in the file; add the bias.
Result<TracerDesk> find_entries(const std::string& path) {
  TracerDesk desk;
  for (const auto& [slot, name] : {std::pair{&desk.attach, "plateau_tracer_attach"},
                                   {&desk.patch, "plateau_tracer_patch"},
                                   {&desk.unpatch, "plateau_tracer_unpatch"},
                                   {&desk.inside, "plateau_tracer_inside"},
                                   {&desk.detach, "plateau_tracer_detach"}}) {
    const Result<ElfSymbol> symbol = elf_symbol(path, name);
    if (!symbol.ok()) return symbol.error();
    *slot = symbol.value().address;
  }
  return desk;
}

std::string loader_error(SafePoint& point, const LoaderDesk& desk) {
  if (desk.error == 0) return "the loader does not say why";
  const Result<uint64_t> text = point.call(desk.error, {});
  if (!text.ok() || text.value() == 0) return "the loader does not say why";
  const Result<std::string> bytes = point.read(text.value(), kMaxErrorBytes);
  // The text may end just before a page that is not there.
  const Result<std::string> less = bytes.ok() ? bytes : point.read(text.value(), 64);
  if (!less.ok()) return "the loader does not say why";
  return less.value().substr(0, less.value().find('\0'));
}

// True if a thread of the process stands in [begin, end), or if that cannot be seen.
bool some_thread_in(pid_t pid, uint64_t begin, uint64_t end) {
  for (const pid_t tid : threads_of(pid)) {
    std::optional<Tracee> thread = Tracee::seize(tid);
    if (!thread) continue;
    thread->interrupt();
    const ThreadStop stop = thread->wait(TraceClock::now() + kStopLimit);
    if (stop.kind == ThreadStop::Kind::gone) continue;
    if (stop.kind == ThreadStop::Kind::none) return true;
    const auto registers = thread->registers();
    const uint64_t at = registers ? program_counter(*registers) : begin;
    const bool inside = at >= begin && at < end;
    if (stop.kind == ThreadStop::Kind::interrupt) thread->mend_call();
    if (inside) return true;
  }
  return false;
}

// Its mapped range with the variables that have no bytes in the file.
void include_variables(MappedObject& object) {
  const Result<ElfFile> file = ElfFile::open(object.open_path);
  if (!file.ok()) return;
  for (const ElfSegment& segment : file.value().segments()) {
    object.end = std::max(object.end, object.bias + segment.address + segment.memory_bytes);
  }
}

// Where the library's functions begin in the process, sorted. Hooks are among them, and what it may
// have put in front of Python's allocator.
std::vector<uint64_t> function_addresses(const MappedObject& tracer) {
  std::vector<uint64_t> found;
  const Result<ElfFile> file = ElfFile::open(tracer.open_path);
  if (!file.ok()) return found;
  file.value().each_symbol(SHT_SYMTAB, [&](const ElfSymbolEntry& entry) {
    if (entry.type == STT_FUNC && entry.address != 0) {
      found.push_back(entry.address + tracer.bias);
    }
    return true;
  });
  std::ranges::sort(found);
  return found;
}

// Mapped segments of the tracer (DIRECTORY/PID-STAMP.segment).
std::vector<std::pair<uint64_t, uint64_t>> segments_of(pid_t pid) {
  std::vector<std::pair<uint64_t, uint64_t>> found;
  const std::string maps = text_of_file(fmt::format("/proc/{}/maps", pid));
  for (std::string_view rest = maps; !rest.empty();) {
    const auto line = split_maps_line(take_line(rest));
    if (line && line->name.find(".segment") != std::string_view::npos) {
      found.emplace_back(line->begin, line->end);
    }
  }
  return found;
}

// True if a word of writable memory outside the library is one of `functions`, or if there is too
// much memory to look at. The process runs meanwhile.
bool somebody_kept_one(pid_t pid, const MappedObject& tracer,
                       const std::vector<uint64_t>& functions) {
  const std::string maps = text_of_file(fmt::format("/proc/{}/maps", pid));
  uint64_t looked = 0;
  std::vector<uint64_t> words(kScanBytes / sizeof(uint64_t));
  for (std::string_view rest = maps; !rest.empty();) {
    const auto line = split_maps_line(take_line(rest));
    if (!line || line->perms.size() != 4 || line->perms[1] != 'w' || line->perms[3] != 'p')
      continue;
    uint64_t begin = line->begin;
    const uint64_t end = line->end;
    // The kernel may join the library's variables with a mapping behind them.
    if (begin >= tracer.begin && begin < tracer.end)
      begin = std::min(end, (tracer.end + 7) & ~uint64_t{7});
    for (uint64_t at = begin; at < end; at += kScanBytes) {
      const uint64_t count = std::min<uint64_t>(kScanBytes, end - at);
      looked += count;
      if (looked > kMostScanBytes) return true;
      if (!read_memory(pid, at, words.data(), count)) continue;
      for (size_t i = 0; i < count / sizeof(uint64_t); ++i) {
        if (words[i] < functions.front() || words[i] > functions.back()) continue;
        if (std::ranges::binary_search(functions, words[i])) return true;
      }
    }
  }
  return false;
}

Result<uint64_t> open_tracer(SafePoint& point, const LoaderDesk& desk, const std::string& path,
                             int flags) {
  const Result<uint64_t> text = point.place(path.c_str(), path.size() + 1);
  if (!text.ok()) return text.error();
  Result<uint64_t> handle =
      point.call(desk.open, {text.value(), desk.flags | static_cast<uint64_t>(flags)});
  if (!handle.ok()) return handle.error();
  if (handle.value() == 0) {
    return failed("the tracer could not be loaded: " + loader_error(point, desk));
  }
  return handle;
}

// It was loaded when the program began: its loader owns it.
bool is_preloaded(pid_t pid) {
  return text_of_file(fmt::format("/proc/{}/environ", pid)).find(kTracerName) != std::string::npos;
}

// Somebody reads what the tracer writes: a recorder takes its directory away when it ends.
bool is_recorded(pid_t pid) {
  const std::string maps = text_of_file(fmt::format("/proc/{}/maps", pid));
  for (std::string_view rest = maps; !rest.empty();) {
    const auto line = split_maps_line(take_line(rest));
    if (!line || line->name.find(".segment") == std::string_view::npos) continue;
    const std::string directory(line->name.substr(0, line->name.rfind('/')));
    if (::access(directory.c_str(), F_OK) == 0) return true;
  }
  return false;
}

// A tracer that an earlier watcher left in the process is given a new recorder.
Result<Intrusion> take_up(pid_t pid, const MappedObject& tracer, const AttachRequest& request,
                          const std::string& spec, const InjectOptions& options) {
  if (is_recorded(pid)) {
    return failed(
        fmt::format("process {} has a tracer already: it runs under 'plateau run "
                    "--heap', or another watcher has attached",
                    pid));
  }
  const Result<ElfFile> theirs = ElfFile::open(tracer.open_path);
  const Result<ElfFile> ours = ElfFile::open(request.tracer);
  if (!theirs.ok() || !ours.ok() || theirs.value().build_id() != ours.value().build_id()) {
    return failed(
        fmt::format("process {} has a tracer of another version of plateau in it, which "
                    "an earlier watcher left; this one cannot use it",
                    pid));
  }
  const Result<TracerDesk> entries = find_entries(tracer.open_path);
  if (!entries.ok()) return entries.error();
  Result<SafePoint> reached = SafePoint::reach(pid, options);
  if (!reached.ok()) return reached.error();
  SafePoint& point = reached.value();
  const Result<uint64_t> text = point.place(spec.c_str(), spec.size() + 1);
  if (!text.ok()) return text.error();
  const Result<uint64_t> begun = point.call(tracer.bias + entries.value().attach, {text.value()});
  if (!begun.ok()) return begun.error();
  if (static_cast<int>(begun.value()) != 0) {
    return failed(fmt::format("the tracer in process {} could not be started again", pid));
  }
  // What was given back is taken again; what was not, is as it was.
  if (!is_preloaded(pid)) {
    const Result<uint64_t> slots = point.call(tracer.bias + entries.value().patch, {});
    if (!slots.ok()) return slots.error();
  }
  return Intrusion{.stopped_s = point.stopped_s(), .how = point.how()};
}

}  // namespace

Result<Intrusion> attach_tracer(pid_t pid, const AttachRequest& request,
                                const InjectOptions& options) {
  if (const auto checked = check_enterable(pid, look_at_target(pid)); !checked) {
    return checked.error();
  }
  if (has_filter_of_its_own(pid)) {
    return failed(
        fmt::format("process {} is in a sandbox of its own (seccomp), which may kill it for what a "
                    "loader calls: start it with 'plateau run --heap' instead",
                    pid));
  }
  const Result<TracerDesk> entries = find_entries(request.tracer);
  if (!entries.ok()) return entries.error();
  const RemoteNames names(pid);
  if (names.objects().empty()) return explain_refusal(pid, look_at_target(pid));
  const std::string spec = fmt::format("{}:{}:{}", request.directory,
                                       request.exact ? "exact" : "sampled", request.interval_bytes);
  if (const MappedObject* tracer = find_tracer(names.objects())) {
    return take_up(pid, *tracer, request, spec, options);
  }
  const Result<LoaderDesk> loader = find_loader(pid, names);
  if (!loader.ok()) return loader.error();
  Result<SafePoint> reached = SafePoint::reach(pid, options);
  if (!reached.ok()) return reached.error();
  SafePoint& point = reached.value();
  const Result<uint64_t> handle =
      open_tracer(point, loader.value(), request.tracer, RTLD_NOW | RTLD_LOCAL);
  if (!handle.ok()) return handle.error();
  // The handle is the loader's record of the library, which begins with its bias.
  const Result<std::string> record = point.read(handle.value(), sizeof(uint64_t));
  if (!record.ok()) return record.error();
  const uint64_t bias = *reinterpret_cast<const uint64_t*>(record.value().data());
  const Result<uint64_t> text = point.place(spec.c_str(), spec.size() + 1);
  if (!text.ok()) return text.error();
  const Result<uint64_t> begun = point.call(bias + entries.value().attach, {text.value()});
  if (!begun.ok()) return begun.error();
  const Result<uint64_t> slots = static_cast<int>(begun.value()) == 0
                                     ? point.call(bias + entries.value().patch, {})
                                     : Result<uint64_t>(uint64_t{0});
  if (!slots.ok()) return slots.error();
  if (slots.value() == 0) {
    (void)point.call(bias + entries.value().detach, {});
    (void)point.call(loader.value().close, {handle.value()});
    return failed(fmt::format("the tracer found nothing to trace in process {}", pid));
  }
  return Intrusion{.stopped_s = point.stopped_s(), .how = point.how()};
}

namespace {

// Takes the tracer out of one process.
class Removal {
 public:
  Removal(pid_t pid, const InjectOptions& options, MappedObject tracer, TracerDesk entries,
          LoaderDesk loader)
      : pid_(pid),
        options_(options),
        tracer_(std::move(tracer)),
        entries_(entries),
        loader_(loader) {
    include_variables(tracer_);
  }

  Result<Intrusion> run() {
    if (is_preloaded(pid_)) {
      const Result<uint64_t> stopped = call(entries_.detach);
      if (!stopped.ok()) return stopped.error();
      cost_.left_behind = "the tracer stays loaded, switched off: the program began with it";
      return cost_;
    }
    const Result<uint64_t> given_back = call(entries_.unpatch);
    if (!given_back.ok()) return given_back.error();
    const Result<bool> empty = await_empty();
    if (!empty.ok()) return empty.error();
    const std::vector<uint64_t> functions = function_addresses(tracer_);
    if (!empty.value()) {
      cost_.left_behind = "the tracer stays loaded, switched off: a call is still inside it";
    } else if (functions.empty()) {
      cost_.left_behind =
          "the tracer stays loaded, switched off: its file has no table of names, by which one "
          "could tell whether the program holds the address of one of its functions";
    } else if (somebody_kept_one(pid_, tracer_, functions)) {
      cost_.left_behind =
          "the tracer stays loaded, switched off: the program holds the address of one of its "
          "functions";
    }
    if (!cost_.left_behind.empty()) {
      const Result<uint64_t> stopped = call(entries_.detach);
      if (!stopped.ok()) return stopped.error();
      return cost_;
    }
    return unload();
  }

 private:
  Result<uint64_t> call(uint64_t address) {
    Result<SafePoint> point = SafePoint::reach(pid_, options_);
    if (!point.ok()) return point.error();
    Result<uint64_t> result = point.value().call(tracer_.bias + address, {});
    cost_.stopped_s += point.value().stopped_s();
    if (cost_.how.empty()) cost_.how = point.value().how();
    return result;
  }

  // False if somebody stays inside.
  Result<bool> await_empty() {
    const auto until = TraceClock::now() + kEmptyLimit;
    while (TraceClock::now() < until) {
      std::this_thread::sleep_for(kGrace);
      const Result<uint64_t> inside = call(entries_.inside);
      if (!inside.ok()) return inside.error();
      if (inside.value() == 0 && !some_thread_in(pid_, tracer_.begin, tracer_.end)) return true;
    }
    return false;
  }

  Result<Intrusion> unload() {
    Result<SafePoint> reached = SafePoint::reach(pid_, options_);
    if (!reached.ok()) return reached.error();
    SafePoint& point = reached.value();
    const Result<uint64_t> stopped = point.call(tracer_.bias + entries_.detach, {});
    if (!stopped.ok()) return stopped.error();
    // A second handle of the same library; closing both is closing the first.
    const Result<uint64_t> handle =
        open_tracer(point, loader_, tracer_.path, RTLD_NOW | RTLD_NOLOAD);
    if (!handle.ok()) return handle.error();
    for (int i = 0; i < 2; ++i) {
      const Result<uint64_t> closed = point.call(loader_.close, {handle.value()});
      if (!closed.ok()) return closed.error();
    }
    // The ring it wrote to is not part of the library.
    for (const auto& [begin, end] : segments_of(pid_)) (void)point.unkeep(begin, end - begin);
    cost_.stopped_s += point.stopped_s();
    return cost_;
  }

  pid_t pid_;
  InjectOptions options_;
  MappedObject tracer_;
  TracerDesk entries_;
  LoaderDesk loader_;
  Intrusion cost_;
};

}  // namespace

Result<Intrusion> detach_tracer(pid_t pid, const InjectOptions& options) {
  if (const auto checked = check_enterable(pid, look_at_target(pid)); !checked) {
    return checked.error();
  }
  const RemoteNames names(pid);
  if (names.objects().empty()) return explain_refusal(pid, look_at_target(pid));
  const MappedObject* tracer = find_tracer(names.objects());
  if (tracer == nullptr) return failed(fmt::format("process {} has no tracer", pid));
  const Result<TracerDesk> entries = find_entries(tracer->open_path);
  if (!entries.ok()) return entries.error();
  const Result<LoaderDesk> loader = find_loader(pid, names);
  if (!loader.ok()) return loader.error();
  return Removal(pid, options, *tracer, entries.value(), loader.value()).run();
}

}  // namespace plateau
