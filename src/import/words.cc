// SPDX-License-Identifier: Apache-2.0
#include "import/words.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstring>

#include "base/text.h"

namespace plateau {
namespace {

// What words mean: those of a row, between blanks, all the same.
struct Meaning {
  WordBits bits = 0;
  std::string_view words;
};

constexpr Meaning kMeanings[] = {
    {kWordMemory, "ram mem memory heap footprint"},
    {kWordUsed, "used usage"},
    {kWordRss, "rss resident res"},
    {kWordPss, "pss"},
    {kWordUss, "uss"},
    {kWordAnon, "anon anonymous"},
    {kWordShmem, "shmem shm shared"},
    {kWordFile, "file"},
    {kWordSwap, "swap swapped"},
    {kWordGpu, "gpu gpus cuda device"},
    {kWordGpu | kWordMemory, "vram"},
    {kWordReserved, "reserved"},
    {kWordAllocated, "allocated alloc allocate"},
    {kWordSystem, "system host machine node"},
    {kWordCpu, "cpu"},
    {kWordNotUsage,
     "peak peaked max maximum maxrss min minimum limit available avail free cached cache buffers "
     "accumulated cumulative cumulatively delta diff change growth grew grows increase increased "
     "leak leaked "
     "percent pct virtual "
     "virt vms vsz vmem before freed released recommended required capacity threshold average "
     "avg mean std bandwidth"},
    {kWordNotUsage | kWordContext, "total"},
    {kWordOther,
     "download downloading downloaded size disk wrote writing loaded loading params parameters "
     "weights dataset samples images tokens loss lr"},
    {kWordStep, "step"},
    {kWordStep | kWordPlural | kWordContext, "steps"},
    {kWordIteration, "iter iteration it update"},
    {kWordIteration | kWordPlural, "iters iterations"},
    {kWordBatch | kWordContext, "batch"},
    {kWordBatch | kWordPlural, "batches"},
    {kWordEpoch, "epoch"},
    {kWordEpoch | kWordPlural, "epochs"},
    {kWordTensors, "tensors"},
    {kWordRank, "rank"},
    {kWordRank | kWordPid, "pid"},
    {kWordClock, "timestamp ts elapsed t"},
    {kWordEta, "eta remaining"},
    {kWordEval, "eval evaluation evaluating validation validating validate"},
    {kWordSave | kWordOther, "checkpoint saving saved"},
    {kWordOom, "oom outofmemoryerror"},
    {kWordRestart, "restarted restarting"},
    {kWordContext | kWordOther, "examples"},
    {kWordContext, "accumulation"},
    {kWordLevel, "info debug warning warn error notice utc"},
    {kWordUnit, "bytes kb mb gb tb kib mib gib tib"},
    {kWordPer, "per"},
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
  for (const auto& [bits, words] : kMeanings) {
    for (size_t at = 0; at < words.size();) {
      const std::string_view word = words.substr(at, words.find(' ', at) - at);
      const uint64_t key = key_of(word);
      size_t slot = slot_of(key, word.size());
      while (table[slot].size != 0) slot = (slot + 1) & (kSlots - 1);
      table[slot] = {key, word.size(), bits, word};
      at += word.size() + 1;
    }
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
