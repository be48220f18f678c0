// SPDX-License-Identifier: Apache-2.0
#include "recording/last_words.h"

#include <algorithm>
#include <array>

#include "base/printable.h"
#include "base/redact.h"
#include "base/text.h"
#include "base/units.h"
#include "base/utf8.h"

namespace plateau {
namespace {

using Kind = LastWordsKind;

struct Row {
  Kind kind;
  std::string_view phrase;     // At least six characters, as printed.
  std::string_view also = "";  // Must stand in the line as well.
  bool whole_line = false;     // Nothing else stands there.
};

// Special ones first: a CUDA error is also an "out of memory".
constexpr std::array kRows = std::to_array<Row>({
    {Kind::shared_memory, "out of shared memory"},
    {Kind::shared_memory, "insufficient shared memory"},
    {Kind::shared_memory, "killed by signal: Bus error"},
    {Kind::shared_memory, "unable to write to file </torch_"},
    {Kind::shared_memory, "unable to allocate shared memory(shm)"},
    {Kind::shared_memory, "No space left on device", "/dev/shm"},
    {Kind::worker_killed, "killed by signal: Killed"},
    {Kind::worker_killed, "exited unexpectedly", "DataLoader worker"},
    {Kind::gpu_memory, "CUDA out of memory"},
    {Kind::gpu_memory, "HIP out of memory"},
    {Kind::gpu_memory, "XPU out of memory"},
    {Kind::gpu_memory, "MPS backend out of memory"},
    {Kind::gpu_memory, "CUDA error: out of memory"},
    {Kind::gpu_memory, "CUDA driver error: out of memory"},
    {Kind::gpu_memory, "CUDA_ERROR_OUT_OF_MEMORY"},
    {Kind::gpu_memory, "cudaErrorMemoryAllocation"},
    {Kind::gpu_memory, "torch.OutOfMemoryError"},
    {Kind::gpu_memory, "torch.cuda.OutOfMemoryError"},
    {Kind::gpu_library, "CUBLAS_STATUS_ALLOC_FAILED"},
    {Kind::gpu_library, "CUDNN_STATUS_ALLOC_FAILED"},
    {Kind::gpu_library, "CUSOLVER_STATUS_ALLOC_FAILED"},
    {Kind::device_memory, "RESOURCE_EXHAUSTED", "memory"},
    {Kind::device_memory, "RESOURCE_EXHAUSTED", "allocat"},
    {Kind::device_memory, "ResourceExhaustedError"},
    {Kind::java_heap, "java.lang.OutOfMemoryError"},
    {Kind::node_heap, "JavaScript heap out of memory"},
    {Kind::cgroup_kill, "Memory cgroup out of memory"},
    {Kind::cgroup_kill, "oom-kill:", "CONSTRAINT_MEMCG"},
    {Kind::cgroup_kill, "oom-kill event", "Detected"},
    {Kind::cgroup_kill, "oom_kill event"},
    {Kind::cgroup_kill, "OOM Killed", "slurm"},
    {Kind::cgroup_kill, "Exceeded job memory limit"},
    {Kind::cgroup_kill, "memory limit", "being killed"},
    {Kind::cgroup_kill, "OOMKilled"},
    {Kind::kernel_kill, "Out of memory: Kill"},
    {Kind::kernel_kill, "invoked oom-killer"},
    {Kind::kernel_kill, "oom-kill:"},
    {Kind::kernel_kill, "oom_reaper: reaped"},
    {Kind::kernel_kill, "kernel OOM-killed"},
    {Kind::killed, "exit code 137"},
    {Kind::killed, "exited with code 137"},
    {Kind::killed, "exitcode: -9"},
    {Kind::killed, "exitcode : -9"},
    {Kind::killed, "SIGKILL", "signal 9"},
    {Kind::killed, "Killed", "", true},
    {Kind::host_memory, "DefaultCPUAllocator"},
    {Kind::host_memory, "ArrayMemoryError"},
    {Kind::host_memory, "Unable to allocate", "for an array"},
    {Kind::host_memory, "std::bad_alloc"},
    {Kind::host_memory, "Cannot allocate memory"},
    {Kind::host_memory, "memory allocation of", "failed"},
    {Kind::host_memory, "runtime: out of memory"},
    {Kind::host_memory, "MemoryError"},
    {Kind::host_memory, "out of memory"},
    {Kind::host_memory, "Out of memory"},
    {Kind::host_memory, "Out Of Memory"},
    {Kind::host_memory, "OUT OF MEMORY"},
    {Kind::host_memory, "OutOfMemory"},
});

constexpr size_t kLead = 6;  // Letters of a phrase that the jumps look at.
constexpr size_t kMostLooked = 8192;
constexpr size_t kMostLooks = 16;  // For `also` in one line, which may repeat its phrase for ever.

// Places of two letters, whatever their case; others may share one, which costs a look.
constexpr size_t kPlaces = 4096;
constexpr size_t place_of(char first, char second) {
  const auto a = static_cast<unsigned char>(first | 0x20);
  const auto b = static_cast<unsigned char>(second | 0x20);
  return (static_cast<size_t>(a) * 31 + b) % kPlaces;
}

// How far the next six letters may be that begin a phrase, when these two are the last of six.
constexpr std::array<uint8_t, kPlaces> jumps() {
  std::array<uint8_t, kPlaces> jump{};
  jump.fill(kLead - 1);
  for (const Row& row : kRows) {
    for (size_t i = 0; i + 1 < kLead; ++i) {
      uint8_t& at = jump[place_of(row.phrase[i], row.phrase[i + 1])];
      const size_t left = kLead - 2 - i;
      if (left < at) at = static_cast<uint8_t>(left);
    }
  }
  return jump;
}
constexpr std::array<uint8_t, kPlaces> kJumps = jumps();

// Where the rows of each first letter stand, chained: the next one of the same letter, or the end.
struct Chains {
  std::array<uint8_t, 256> first{};
  std::array<uint8_t, kRows.size()> next{};
};
constexpr Chains chains() {
  Chains made;
  made.first.fill(kRows.size());
  for (size_t row = kRows.size(); row-- > 0;) {
    uint8_t& first = made.first[static_cast<unsigned char>(kRows[row].phrase.front())];
    made.next[row] = first;
    first = static_cast<uint8_t>(row);
  }
  return made;
}
constexpr Chains kChains = chains();
static_assert(kRows.size() < 255);
static_assert(std::all_of(kRows.begin(), kRows.end(),
                          [](const Row& row) { return row.phrase.size() >= kLead; }));

// "raise MemoryError(…)" or "throw new Error(…)", as tracebacks show the source: what it says
// follows in a line of its own.
bool raises(std::string_view line) {
  line = trim(line);
  const bool python = line.starts_with("raise ");
  if (!python && !line.starts_with("throw ")) return false;
  line.remove_prefix(6);
  if (line.starts_with("new ")) line.remove_prefix(4);
  constexpr std::string_view kName =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._:";
  const size_t end = std::min(line.find_first_not_of(kName), line.size());
  return end > 0 && (end == line.size() ? python : line[end] == '(');
}

bool is_part_of_code(std::string_view line, size_t at) {
  // A handler that is shown in a traceback complains of nothing.
  return line.substr(0, at).ends_with("except ") || line.substr(0, at).ends_with("except (");
}

// `looks`: how often the line was searched as a whole.
bool fits(const Row& row, std::string_view line, size_t at, size_t& looks) {
  if (!line.substr(at).starts_with(row.phrase) || is_part_of_code(line, at)) return false;
  if (row.whole_line && trim(line) != row.phrase) return false;
  if (row.also.empty()) return true;
  return looks++ < kMostLooks && line.find(row.also) != std::string_view::npos;
}

// An amount that begins at the front of `text`: "2.00 GiB", "8589934592 bytes".
std::optional<double> amount_at_front(std::string_view text) {
  const size_t digits = std::min(text.find_first_not_of("0123456789.,"), text.size());
  size_t end = digits;
  while (end < text.size() && text[end] == ' ') ++end;
  while (end < text.size() && is_letter(text[end])) ++end;
  if (digits == 0 || !is_digit(text.front())) return std::nullopt;
  return parse_memory_mb(text.substr(0, end));
}

std::optional<double> amount_after(std::string_view text, std::string_view phrase) {
  const size_t at = text.find(phrase);
  if (at == std::string_view::npos) return std::nullopt;
  return amount_at_front(text.substr(at + phrase.size()));
}

// Number and unit are two words.
std::optional<double> amount_before(std::string_view text, std::string_view phrase) {
  const size_t end = text.find(phrase);
  if (end == std::string_view::npos || end == 0) return std::nullopt;
  const size_t unit = text.rfind(' ', end - 1);
  if (unit == std::string_view::npos || unit == 0) return std::nullopt;
  const size_t number = text.rfind(' ', unit - 1);
  const size_t from = number == std::string_view::npos ? 0 : number + 1;
  return amount_at_front(text.substr(from, end - from));
}

}  // namespace

std::string_view last_words_name(LastWordsKind kind) {
  constexpr std::array<std::string_view, kLastWordsKinds> kNames = {
      "gpu-memory",    "gpu-library", "device-memory", "shared-memory",
      "worker-killed", "host-memory", "address-limit", "java-heap",
      "node-heap",     "kernel-kill", "cgroup-kill",   "killed"};
  return kNames[static_cast<size_t>(kind)];
}

std::optional<LastWordsKind> last_words_from_name(std::string_view name) {
  for (size_t i = 0; i < kLastWordsKinds; ++i) {
    if (last_words_name(static_cast<Kind>(i)) == name) return static_cast<Kind>(i);
  }
  return std::nullopt;
}

std::optional<LastWords> find_last_words(std::string_view line) {
  line = line.substr(0, kMostLooked);
  size_t best = kRows.size();
  size_t where = 0;
  size_t looks = 0;
  // `end` is where the last two of six letters stand.
  for (size_t end = kLead - 2; end + 1 < line.size();) {
    const uint8_t jump = kJumps[place_of(line[end], line[end + 1])];
    if (jump > 0) {
      end += jump;
      continue;
    }
    const size_t begin = end + 2 - kLead;
    size_t row = kChains.first[static_cast<unsigned char>(line[begin])];
    for (; row < best; row = kChains.next[row]) {
      if (!fits(kRows[row], line, begin, looks)) continue;
      best = row;
      where = begin;
    }
    ++end;
  }
  if (best == kRows.size() || raises(line)) return std::nullopt;
  return LastWords{kRows[best].kind, where};
}

std::string_view worth_quoting(std::string_view line, const LastWords& words) {
  if (line.size() <= kMostQuoted) return line;
  // What stands before the phrase names the exception and the rank; a long log prefix does not.
  constexpr size_t kBefore = 80;
  const size_t from = words.at > kBefore ? words.at - kBefore : 0;
  return line.substr(from, kMostQuoted);
}

std::string quote_of(std::string_view text) {
  const std::string line = redacted(printable(text.substr(0, 2 * kMostQuoted)));
  std::string_view clean = trim(line);
  if (clean.size() <= kMostQuoted) return std::string(clean);
  size_t end = 0;
  while (end < kMostQuoted) {
    const size_t bytes = decode_utf8(clean.substr(end)).bytes;
    if (end + bytes > kMostQuoted) break;
    end += bytes;
  }
  return std::string(clean.substr(0, end)) + "…";
}

LastWordsFigures figures_of(std::string_view text) {
  LastWordsFigures figures;
  for (const std::string_view before :
       {"ried to allocate ", "nable to allocate ", "trying to allocate ", "allocating ",
        "memory allocation of "}) {
    if (!figures.asked_mb) figures.asked_mb = amount_after(text, before);
  }
  figures.capacity_mb = amount_after(text, "total capacity of ");
  figures.free_mb = amount_before(text, " is free");
  figures.unused_mb = amount_before(text, " is reserved by PyTorch but unallocated");
  // As PyTorch said it before version 2.1.
  if (!figures.capacity_mb) figures.capacity_mb = amount_before(text, " total capacity");
  if (!figures.free_mb) figures.free_mb = amount_before(text, " free;");
  return figures;
}

}  // namespace plateau
