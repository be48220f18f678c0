// SPDX-License-Identifier: Apache-2.0
#include "import/words.h"

#include <array>
#include <cmath>

#include "base/text.h"

namespace plateau {
namespace {

struct Entry {
  std::string_view word;
  WordBits bits = 0;
};

constexpr Entry kEntries[] = {
    {"ram", kWordMemory},
    {"mem", kWordMemory},
    {"memory", kWordMemory},
    {"heap", kWordMemory},
    {"footprint", kWordMemory},
    {"used", kWordUsed},
    {"usage", kWordUsed},
    {"rss", kWordRss},
    {"resident", kWordRss},
    {"res", kWordRss},
    {"pss", kWordPss},
    {"uss", kWordUss},
    {"anon", kWordAnon},
    {"anonymous", kWordAnon},
    {"shmem", kWordShmem},
    {"shm", kWordShmem},
    {"shared", kWordShmem},
    {"file", kWordFile},
    {"swap", kWordSwap},
    {"swapped", kWordSwap},
    {"gpu", kWordGpu},
    {"gpus", kWordGpu},
    {"cuda", kWordGpu},
    {"device", kWordGpu},
    {"vram", kWordGpu | kWordMemory},
    {"reserved", kWordReserved},
    {"allocated", kWordAllocated},
    {"alloc", kWordAllocated},
    {"system", kWordSystem},
    {"host", kWordSystem},
    {"machine", kWordSystem},
    {"node", kWordSystem},
    {"cpu", kWordCpu},
    {"peak", kWordNotUsage},
    {"peaked", kWordNotUsage},
    {"max", kWordNotUsage},
    {"maximum", kWordNotUsage},
    {"maxrss", kWordNotUsage},
    {"min", kWordNotUsage},
    {"minimum", kWordNotUsage},
    {"limit", kWordNotUsage},
    {"total", kWordNotUsage | kWordContext},
    {"available", kWordNotUsage},
    {"avail", kWordNotUsage},
    {"free", kWordNotUsage},
    {"cached", kWordNotUsage},
    {"cache", kWordNotUsage},
    {"buffers", kWordNotUsage},
    {"delta", kWordNotUsage},
    {"diff", kWordNotUsage},
    {"change", kWordNotUsage},
    {"growth", kWordNotUsage},
    {"grew", kWordNotUsage},
    {"grows", kWordNotUsage},
    {"increase", kWordNotUsage},
    {"increased", kWordNotUsage},
    {"leak", kWordNotUsage},
    {"leaked", kWordNotUsage},
    {"percent", kWordNotUsage},
    {"pct", kWordNotUsage},
    {"virtual", kWordNotUsage},
    {"virt", kWordNotUsage},
    {"vms", kWordNotUsage},
    {"vsz", kWordNotUsage},
    {"vmem", kWordNotUsage},
    {"before", kWordNotUsage},
    {"freed", kWordNotUsage},
    {"released", kWordNotUsage},
    {"recommended", kWordNotUsage},
    {"required", kWordNotUsage},
    {"capacity", kWordNotUsage},
    {"threshold", kWordNotUsage},
    {"average", kWordNotUsage},
    {"avg", kWordNotUsage},
    {"mean", kWordNotUsage},
    {"std", kWordNotUsage},
    {"bandwidth", kWordNotUsage},
    {"download", kWordOther},
    {"downloading", kWordOther},
    {"downloaded", kWordOther},
    {"size", kWordOther},
    {"disk", kWordOther},
    {"wrote", kWordOther},
    {"writing", kWordOther},
    {"loaded", kWordOther},
    {"loading", kWordOther},
    {"params", kWordOther},
    {"parameters", kWordOther},
    {"weights", kWordOther},
    {"dataset", kWordOther},
    {"samples", kWordOther},
    {"images", kWordOther},
    {"tokens", kWordOther},
    {"loss", kWordOther},
    {"lr", kWordOther},
    {"step", kWordStep},
    {"steps", kWordStep | kWordPlural | kWordContext},
    {"iter", kWordIteration},
    {"iters", kWordIteration | kWordPlural},
    {"iteration", kWordIteration},
    {"iterations", kWordIteration | kWordPlural},
    {"it", kWordIteration},
    {"update", kWordIteration},
    {"batch", kWordBatch | kWordContext},
    {"batches", kWordBatch | kWordPlural},
    {"epoch", kWordEpoch},
    {"epochs", kWordEpoch | kWordPlural},
    {"tensors", kWordTensors},
    {"rank", kWordRank},
    {"pid", kWordRank | kWordPid},
    {"timestamp", kWordClock},
    {"ts", kWordClock},
    {"elapsed", kWordClock},
    {"t", kWordClock},
    {"eta", kWordEta},
    {"remaining", kWordEta},
    {"eval", kWordEval},
    {"evaluation", kWordEval},
    {"evaluating", kWordEval},
    {"validation", kWordEval},
    {"validating", kWordEval},
    {"validate", kWordEval},
    {"checkpoint", kWordSave | kWordOther},
    {"saving", kWordSave | kWordOther},
    {"saved", kWordSave | kWordOther},
    {"oom", kWordOom},
    {"outofmemoryerror", kWordOom},
    {"restarted", kWordRestart},
    {"restarting", kWordRestart},
    {"examples", kWordContext | kWordOther},
    {"accumulation", kWordContext},
    {"info", kWordLevel},
    {"debug", kWordLevel},
    {"warning", kWordLevel},
    {"warn", kWordLevel},
    {"error", kWordLevel},
    {"notice", kWordLevel},
    {"utc", kWordLevel},
    {"bytes", kWordUnit},
    {"kb", kWordUnit},
    {"mb", kWordUnit},
    {"gb", kWordUnit},
    {"tb", kWordUnit},
    {"kib", kWordUnit},
    {"mib", kWordUnit},
    {"gib", kWordUnit},
    {"tib", kWordUnit},
    {"per", kWordPer},
};

constexpr size_t kLongest = 16;
constexpr size_t kSlots = 1024;  // Some seven times the words, so probes are short.

constexpr size_t hash_of(const char* text, size_t size) {
  uint32_t hash = static_cast<uint32_t>(size) * 0x9e3779b1u;
  for (size_t i = 0; i < size; ++i) {
    hash = (hash ^ static_cast<unsigned char>(ascii_lower(text[i]))) * 0x01000193u;
  }
  return (hash ^ (hash >> 15)) & (kSlots - 1);
}

constexpr std::array<Entry, kSlots> make_table() {
  std::array<Entry, kSlots> table{};
  for (const Entry& entry : kEntries) {
    size_t slot = hash_of(entry.word.data(), entry.word.size());
    while (!table[slot].word.empty()) slot = (slot + 1) & (kSlots - 1);
    table[slot] = entry;
  }
  return table;
}

constexpr std::array<Entry, kSlots> kTable = make_table();

constexpr double kKi = 1024.0;

}  // namespace

WordBits word_bits(std::string_view word) {
  if (word.size() > kLongest) return 0;
  size_t slot = hash_of(word.data(), word.size());
  while (!kTable[slot].word.empty()) {
    if (equal_ignoring_case(kTable[slot].word, word)) return kTable[slot].bits;
    slot = (slot + 1) & (kSlots - 1);
  }
  return 0;
}

size_t word_end(std::string_view text, size_t at) {
  size_t end = at + 1;
  while (end < text.size() && is_letter(text[end])) {
    const bool upper = text[end] <= 'Z';
    const bool lower_before = text[end - 1] >= 'a';
    if (upper && lower_before && end - at >= 3) break;
    ++end;
  }
  return end;
}

std::optional<Metric> metric_of(WordBits bits, bool with_unit) {
  if ((bits & kWordNotUsage) != 0) return std::nullopt;
  const bool memory = (bits & (kWordMemory | kWordUsed)) != 0;
  if ((bits & kWordReserved) != 0 && (bits & kWordCpu) == 0) return Metric::gpu_reserved;
  if ((bits & kWordGpu) != 0) {
    const bool says_memory = memory || with_unit || (bits & kWordAllocated) != 0;
    return says_memory ? std::optional(Metric::gpu) : std::nullopt;
  }
  if ((bits & kWordPss) != 0) return (bits & kWordAnon) != 0 ? Metric::pss_anon : Metric::pss;
  if ((bits & kWordUss) != 0) return Metric::uss;
  if ((bits & kWordAnon) != 0) return Metric::anon;
  if ((bits & kWordShmem) != 0) return Metric::shmem;
  if ((bits & kWordSwap) != 0) return Metric::swap;
  if ((bits & kWordFile) != 0 && (memory || (bits & kWordRss) != 0 || with_unit)) {
    return Metric::file;
  }
  if ((bits & kWordRss) != 0) return Metric::rss;
  if ((bits & kWordAllocated) != 0) {
    return (bits & (kWordCpu | kWordSystem)) != 0 ? Metric::memory : Metric::gpu;
  }
  if (with_unit && (bits & kWordCpu) != 0) return Metric::memory;
  if (memory) return (bits & kWordSystem) != 0 ? Metric::system_used : Metric::memory;
  return std::nullopt;
}

double guess_unit_mb(double first_value) {
  if (first_value >= 5e7) return 1e-6;
  if (first_value >= 2e5) return kKi / 1e6;
  if (first_value < 64 && first_value != std::floor(first_value)) return 1e3;
  return 1.0;
}

std::string_view guessed_unit_name(double unit_mb) {
  if (unit_mb == 1e-6) return "bytes";
  if (unit_mb == 1.0) return "MB";
  return unit_mb > 1 ? "GB" : "KiB";
}

}  // namespace plateau
