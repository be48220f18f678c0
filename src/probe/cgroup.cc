// SPDX-License-Identifier: Apache-2.0
#include "probe/cgroup.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>

#include "base/text.h"
#include "probe/proc_files.h"

namespace plateau {
namespace {

constexpr const char* kUsage1 = "/memory.usage_in_bytes";
constexpr const char* kUsage2 = "/memory.current";
constexpr const char* kLimit1 = "/memory.limit_in_bytes";
constexpr const char* kLimit2 = "/memory.max";

Fd open_file(const std::string& path) {
  return Fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
}

bool readable(const std::string& path) {
  return access(path.c_str(), R_OK) == 0;
}

int64_t in_kb(std::string_view bytes, std::string_view key) {
  const auto figure = keyed_figure(bytes, key);
  return figure ? *figure / 1024 : kUnread;
}

int64_t without(int64_t whole_kb, int64_t part_kb) {
  if (whole_kb == kUnread || part_kb == kUnread) return whole_kb;
  return std::max<int64_t>(0, whole_kb - part_kb);
}

}  // namespace

CgroupReader::CgroupReader(std::string cgroup_root, int proc)
    : root_(std::move(cgroup_root)), proc_(proc) {}

void CgroupReader::follow(pid_t pid, ProcBuffer& buffer) {
  dir_.clear();
  limits_.clear();
  usage_ = Fd();
  sample_ = CgroupSample();
  const PidDir dir(proc_, pid, false);
  const ProcRead text = dir.read_once("cgroup", buffer);
  std::string unified;
  for (const CgroupLine& line : parse_cgroup(text.bytes)) {
    if (lists(line.controllers, ",", "memory")) {
      const std::string path(line.path);
      find(root_ + "/" + std::string(line.controllers), path, 1);
      if (dir_.empty()) find(root_ + "/memory", path, 1);
    }
    if (line.controllers.empty()) unified = line.path;
  }
  if (dir_.empty() && !unified.empty()) find(root_, unified, 2);
  if (dir_.empty() && !unified.empty()) find(root_ + "/unified", unified, 2);
}

void CgroupReader::find(const std::string& mount, const std::string& path, int version) {
  const char* usage = version == 1 ? kUsage1 : kUsage2;
  const char* limit = version == 1 ? kLimit1 : kLimit2;
  // The root of version 2 has no usage of its own: then there is no group to speak of.
  std::string inside = path == "/" ? "" : path;
  if (inside.find("/..") != std::string::npos || !readable(mount + inside + usage)) inside.clear();
  if (!readable(mount + inside + usage)) return;
  dir_ = mount + inside;
  sample_.path = path;
  sample_.version = version;
  usage_ = open_file(dir_ + usage);
  stat_ = open_file(dir_ + "/memory.stat");
  events_ = open_file(dir_ + (version == 1 ? "/memory.oom_control" : "/memory.events"));
  for (std::string at = inside;; at.resize(at.rfind('/'))) {
    Fd file = open_file(mount + at + limit);
    if (file) limits_.push_back(std::move(file));
    if (at.empty() || at.rfind('/') == std::string::npos) break;
  }
}

const CgroupSample& CgroupReader::read(bool all, ProcBuffer& buffer) {
  if (dir_.empty()) return sample_;
  sample_.usage_kb = parse_cgroup_amount_kb(read_kept(usage_.get(), buffer).bytes);
  if (all) read_parts(buffer);
  return sample_;
}

void CgroupReader::read_parts(ProcBuffer& buffer) {
  const std::string_view stat = read_kept(stat_.get(), buffer).bytes;
  const bool first = sample_.version == 1;
  // Version 1 counts a group alone and, with "total_", with all below it.
  sample_.anon_kb = in_kb(stat, first ? "total_rss" : "anon");
  sample_.shmem_kb = in_kb(stat, first ? "total_shmem" : "shmem");
  // Both versions count shared memory as file pages too; here the three add up.
  sample_.file_kb = without(in_kb(stat, first ? "total_cache" : "file"), sample_.shmem_kb);
  sample_.limit_kb = kUnread;
  for (const Fd& file : limits_) {
    const int64_t limit = parse_cgroup_amount_kb(read_kept(file.get(), buffer).bytes);
    if (limit == kUnread) continue;
    sample_.limit_kb = sample_.limit_kb == kUnread ? limit : std::min(sample_.limit_kb, limit);
  }
  sample_.oom_kills =
      keyed_figure(read_kept(events_.get(), buffer).bytes, "oom_kill").value_or(kUnread);
}

}  // namespace plateau
