// SPDX-License-Identifier: Apache-2.0
#include "import/words.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstring>

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

// The table is keyed by the first eight letters, lower-cased, as one integer, and the length; a
// word in a log costs a load, a multiplication and a comparison.
constexpr size_t kSlots = 1024;  // Some seven times the words, so probes are short.
constexpr uint64_t kCaseBits = 0x2020202020202020ull;

struct Slot {
  uint64_t key = 0;
  size_t size = 0;
  WordBits bits = 0;
  std::string_view word;
};

constexpr uint64_t key_of(std::string_view word) {
  uint64_t key = 0;
  for (size_t i = 0; i < word.size() && i < 8; ++i) {
    const auto letter = static_cast<unsigned char>(ascii_lower(word[i]));
    key |= static_cast<uint64_t>(letter) << (8 * i);
  }
  return key;
}

constexpr size_t slot_of(uint64_t key, size_t size) {
  return static_cast<size_t>(((key + size) * 0x9e3779b97f4a7c15ull) >> 54);
}

constexpr std::array<Slot, kSlots> make_table() {
  std::array<Slot, kSlots> table{};
  for (const Entry& entry : kEntries) {
    const uint64_t key = key_of(entry.word);
    size_t slot = slot_of(key, entry.word.size());
    while (table[slot].size != 0) slot = (slot + 1) & (kSlots - 1);
    table[slot] = {key, entry.word.size(), entry.bits, entry.word};
  }
  return table;
}

constexpr std::array<Slot, kSlots> kTable = make_table();

WordBits look_up(uint64_t key, std::string_view word) {
  size_t slot = slot_of(key, word.size());
  while (kTable[slot].size != 0) {
    if (kTable[slot].key == key && kTable[slot].size == word.size() &&
        (word.size() <= 8 || equal_ignoring_case(kTable[slot].word.substr(8), word.substr(8)))) {
      return kTable[slot].bits;
    }
    slot = (slot + 1) & (kSlots - 1);
  }
  return 0;
}

constexpr double kKi = 1024.0;

}  // namespace

WordBits word_bits(std::string_view word) {
  return look_up(key_of(word), word);
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

ReadWord read_word(std::string_view text, size_t at) {
  if (text.size() - at >= 8) {
    // Eight letters at once. In each byte: bit 7 of `letters` is set for an ASCII letter.
    uint64_t raw = 0;
    std::memcpy(&raw, text.data() + at, 8);
    const uint64_t lower = raw | kCaseBits;
    const uint64_t low7 = lower & 0x7f7f7f7f7f7f7f7full;
    const uint64_t from_a = low7 + 0x1f1f1f1f1f1f1f1full;  // Bit 7: at least 'a'.
    const uint64_t past_z = low7 + 0x0505050505050505ull;  // Bit 7: beyond 'z'.
    const uint64_t letters = from_a & ~past_z & ~raw & 0x8080808080808080ull;
    const uint64_t others = ~letters & 0x8080808080808080ull;
    const size_t size = others == 0 ? 8 : static_cast<size_t>(std::countr_zero(others)) / 8;
    // An upper-case letter from the fourth on may split the word; that path is the slow one.
    const uint64_t mask = size == 8 ? ~0ull : (1ull << (8 * size)) - 1;
    const bool may_split = (~raw & kCaseBits & mask & ~0xffffffull) != 0;
    if (size < 8 && !may_split) {
      return {look_up(lower & mask, text.substr(at, size)), at + size};
    }
  }
  const size_t end = word_end(text, at);
  return {word_bits(text.substr(at, end - at)), end};
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
