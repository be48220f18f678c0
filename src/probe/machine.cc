// SPDX-License-Identifier: Apache-2.0
#include "probe/machine.h"

#include <fcntl.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "base/fd.h"
#include "base/files.h"
#include "base/proc_fields.h"
#include "probe/cgroup.h"
#include "probe/gpus.h"
#include "probe/loader.h"
#include "probe/proc_dir.h"

namespace plateau {
namespace {

constexpr int kCapSysPtrace = 19;        // linux/capability.h
constexpr size_t kMostPathEntries = 64;  // Of $PATH; longer ones have been seen to be accidents.

bool exists(const std::string& path) {
  return access(path.c_str(), F_OK) == 0;
}

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

void look_at_memory(const std::string& proc, MachineFacts& facts) {
  const std::string status = text_of_file(proc + "/self/status");
  facts.proc = !status.empty();
  const std::string rollup = text_of_file(proc + "/self/smaps_rollup");
  facts.rollup = !field_of(rollup, "Rss").empty();
  facts.pss = !field_of(rollup, "Pss_Anon").empty();
  facts.smaps = !text_of_file(proc + "/self/smaps", 256).empty();
  std::string_view users = field_of(status, "Uid");  // The real one, then the effective one.
  take_number(users);
  if (const auto effective = take_number(users)) facts.user = static_cast<int64_t>(*effective);
  facts.may_trace_all = ((bits_field(status, "CapEff") >> kCapSysPtrace) & 1U) != 0;
  const std::string_view seccomp = field_of(status, "Seccomp");
  if (!seccomp.empty()) facts.seccomp = static_cast<int>(number_field(status, "Seccomp"));
  const std::string yama = text_of_file(proc + "/sys/kernel/yama/ptrace_scope");
  std::string_view scope = yama;
  if (const auto number = take_number(scope)) facts.yama = static_cast<int>(*number);
}

void look_at_mounts(const std::string& proc, MachineFacts& facts) {
  const std::string mounts = text_of_file(proc + "/self/mounts", size_t{1} << 20);
  for (std::string_view rest = mounts; !rest.empty();) {
    const std::string_view line = take_line(rest);
    if (!contains(line, " /proc proc ")) continue;
    facts.hides_others = contains(line, "hidepid=") && !contains(line, "hidepid=0") &&
                         !contains(line, "hidepid=off");
  }
}

// By the files that the common ones leave, and by what the group is named after.
std::string container_of(const MachinePlaces& places) {
  const std::string groups =
      text_of_file(places.proc + "/self/cgroup") + text_of_file(places.proc + "/1/cgroup");
  if (contains(groups, "kubepods")) return "kubernetes";
  if (exists(places.root + "/.dockerenv") || contains(groups, "/docker")) return "docker";
  if (exists(places.root + "/run/.containerenv") || contains(groups, "libpod")) return "podman";
  if (contains(groups, "/lxc")) return "lxc";
  return exists(places.root + "/run/secrets/kubernetes.io") ? "kubernetes" : "";
}

// Where a job's group would be made (session/job_cgroup.h). In version 2 the memory controller must
// be handed down there, which a group that holds processes cannot do: so its parent counts too.
bool may_make_groups(const std::string& root, const CgroupSample& group) {
  const auto writable = [](const std::string& path) { return access(path.c_str(), W_OK) == 0; };
  if (group.version == 1) return writable(root + "/memory" + group.path);
  const std::string own = root + group.path;
  const std::string parent = root + group.path.substr(0, group.path.rfind('/'));
  return std::ranges::any_of(std::array{own, parent}, [&](const std::string& place) {
    return writable(place) && contains(text_of_file(place + "/cgroup.subtree_control"), "memory");
  });
}

void look_at_cgroup(const MachinePlaces& places, MachineFacts& facts) {
  const Fd proc(open(places.proc.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!proc) return;
  const pid_t self = own_pid_in(proc.get());
  if (self == 0) return;
  ProcBuffer buffer;
  CgroupReader reader(places.cgroup, proc.get());
  reader.follow(self, buffer);
  facts.cgroup = reader.read(true, buffer);
  if (facts.cgroup.version == 0) return;
  facts.may_make_groups = may_make_groups(places.cgroup, facts.cgroup);
}

void look_at_shm(const std::string& shm, MachineFacts& facts) {
  struct statvfs room = {};
  if (statvfs(shm.c_str(), &room) != 0) return;
  const uint64_t block = room.f_frsize;
  facts.shm_kb = static_cast<int64_t>(room.f_blocks * block / 1024);
  facts.shm_free_kb = static_cast<int64_t>(room.f_bavail * block / 1024);
}

// "python3.11" is 11; "python3" and "python" say it by what they link to; -1 for all else.
int minor_of(std::string_view name) {
  constexpr std::string_view kStem = "python3.";
  if (!name.starts_with(kStem)) return -1;
  name.remove_prefix(kStem.size());
  int minor = -1;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), minor);
  return error == std::errc() && end == name.data() + name.size() ? minor : -1;
}

void look_in(const std::string& folder, MachineFacts& facts) {
  for (const char* name : {"python3", "python"}) {
    const std::string path = folder + "/" + name;
    std::error_code error;
    const std::filesystem::path real = std::filesystem::canonical(path, error);
    if (!error) facts.pythons.push_back({path, minor_of(real.filename().string())});
  }
  std::error_code error;
  for (std::filesystem::directory_iterator each(folder, error), end; !error && each != end;
       each.increment(error)) {
    const int minor = minor_of(each->path().filename().string());
    if (minor >= 0) facts.pythons.push_back({each->path().string(), minor});
  }
}

// The first of each version, in the order of the path; those whose name does not tell are left out.
void look_for_pythons(std::string_view path, MachineFacts& facts) {
  for (size_t entries = 0; !path.empty() && entries < kMostPathEntries; ++entries) {
    const size_t colon = std::min(path.find(':'), path.size());
    if (colon > 0) look_in(std::string(path.substr(0, colon)), facts);
    path.remove_prefix(std::min(colon + 1, path.size()));
  }
  std::vector<PythonFound> first;
  for (const PythonFound& found : facts.pythons) {
    const auto same = [&](const PythonFound& known) { return known.minor == found.minor; };
    if (found.minor >= 0 && std::ranges::none_of(first, same)) first.push_back(found);
  }
  std::ranges::sort(first, {}, &PythonFound::minor);
  facts.pythons = std::move(first);
}

void look_for_names(const MachinePlaces& places, MachineFacts& facts) {
  std::error_code error;
  facts.debug_files = std::filesystem::directory_iterator(places.debug + "/.build-id", error) !=
                      std::filesystem::directory_iterator();
  for (std::filesystem::directory_iterator each(places.maps, error), end; !error && each != end;
       each.increment(error)) {
    const std::string name = each->path().filename().string();
    facts.perf_maps += name.starts_with("perf-") && name.ends_with(".map") ? 1 : 0;
  }
}

}  // namespace

MachineFacts look_at_machine(const MachinePlaces& places) {
  MachineFacts facts;
  look_at_memory(places.proc, facts);
  look_at_mounts(places.proc, facts);
  facts.container = container_of(places);
  look_at_cgroup(places, facts);
  look_at_shm(places.shm, facts);
  if (!places.nvml.empty()) {
    Gpus gpus(places.nvml);
    facts.nvml = gpus.present();
    if (facts.nvml) gpus.read();
    facts.gpus = gpus.devices();
  }
  facts.glibc = exists(places.root + kGlibcLoader);
  facts.nvidia = exists(places.root + "/dev/nvidiactl");
  look_for_pythons(places.path, facts);
  look_for_names(places, facts);
  return facts;
}

}  // namespace plateau
