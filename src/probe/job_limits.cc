// SPDX-License-Identifier: Apache-2.0
#include "probe/job_limits.h"

#include <fmt/format.h>
#include <sys/statvfs.h>

#include "base/files.h"
#include "base/text.h"

namespace plateau {
namespace {

constexpr size_t kMostLimits = 8192;

int64_t kb_of(fsblkcnt_t blocks, unsigned long block_bytes) {
  return static_cast<int64_t>(blocks * (block_bytes / 512) / 2);
}

}  // namespace

std::optional<int64_t> address_limit_of(std::string_view limits) {
  constexpr std::string_view kName = "Max address space";
  const size_t at = limits.find(kName);
  if (at == std::string_view::npos) return std::nullopt;
  std::string_view rest = limits.substr(at + kName.size());
  rest = rest.substr(0, rest.find('\n'));
  const std::optional<uint64_t> bytes = parse_digits(next_word(rest), 10);
  if (!bytes) return std::nullopt;
  return static_cast<int64_t>(*bytes / 1024);
}

void read_job_limits(const std::string& proc, Snapshot& snapshot) {
  if (snapshot.processes.empty()) return;
  const ProcessSample* main = &snapshot.processes.front();
  for (const ProcessSample& process : snapshot.processes) {
    if (process.role == Role::main) main = &process;
  }
  const std::string directory = fmt::format("{}/{}", proc, main->key.pid);
  // Through the process: a container has a /dev/shm of its own.
  struct statvfs shm = {};
  if (statvfs((directory + "/root/dev/shm").c_str(), &shm) == 0 && shm.f_blocks > 0) {
    snapshot.shm_size_kb = kb_of(shm.f_blocks, shm.f_frsize);
    snapshot.shm_used_kb = kb_of(shm.f_blocks - shm.f_bfree, shm.f_frsize);
  }
  const auto limit = address_limit_of(text_of_file(directory + "/limits", kMostLimits));
  if (limit) snapshot.address_limit_kb = *limit;
}

}  // namespace plateau
