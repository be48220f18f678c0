// SPDX-License-Identifier: Apache-2.0
// The vocabulary of memory: which words in a key, a column name or a log line mean what.
//
// A word is a run of ASCII letters; "global_step", "memory/rss_mb" and "rssMB" are two, three and
// two words. Each word carries bits; the bits of all words of a key together say what its number
// is. One table serves text logs, CSV columns and JSON keys, so all read "cpu_mem_mb" alike.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "recording/run.h"

namespace plateau {

using WordBits = uint64_t;
inline constexpr WordBits kWordMemory = 1ull << 0;  // ram, mem, memory, heap
inline constexpr WordBits kWordUsed = 1ull << 1;    // used, usage, current
inline constexpr WordBits kWordRss = 1ull << 2;     // rss, resident, res
inline constexpr WordBits kWordPss = 1ull << 3;
inline constexpr WordBits kWordUss = 1ull << 4;
inline constexpr WordBits kWordAnon = 1ull << 5;
inline constexpr WordBits kWordShmem = 1ull << 6;  // shmem, shm, shared
inline constexpr WordBits kWordFile = 1ull << 7;
inline constexpr WordBits kWordSwap = 1ull << 8;
inline constexpr WordBits kWordGpu = 1ull << 9;  // gpu, cuda, vram
inline constexpr WordBits kWordReserved = 1ull << 10;
inline constexpr WordBits kWordAllocated = 1ull << 11;
inline constexpr WordBits kWordSystem = 1ull << 12;  // system, host, node
inline constexpr WordBits kWordCpu = 1ull << 13;
inline constexpr WordBits kWordNotUsage = 1ull << 14;  // peak, max, total, free, delta, percent …
inline constexpr WordBits kWordOther = 1ull << 15;     // checkpoint size, download, parameters …
inline constexpr WordBits kWordStep = 1ull << 16;
inline constexpr WordBits kWordIteration = 1ull << 17;
inline constexpr WordBits kWordBatch = 1ull << 18;
inline constexpr WordBits kWordEpoch = 1ull << 19;
inline constexpr WordBits kWordTensors = 1ull << 20;
inline constexpr WordBits kWordRank = 1ull << 21;   // rank, pid
inline constexpr WordBits kWordClock = 1ull << 22;  // timestamp, elapsed, t
inline constexpr WordBits kWordEta = 1ull << 23;    // eta, remaining: a time that is not now
inline constexpr WordBits kWordEval = 1ull << 24;
inline constexpr WordBits kWordSave = 1ull << 25;
inline constexpr WordBits kWordOom = 1ull << 26;
inline constexpr WordBits kWordContext = 1ull << 27;  // examples, accumulation …: worth a look
inline constexpr WordBits kWordLevel = 1ull << 28;    // INFO, DEBUG: says nothing
inline constexpr WordBits kWordUnit = 1ull << 29;     // mb, gib, bytes
inline constexpr WordBits kWordPlural = 1ull << 30;   // steps, iterations: a count, not a position
inline constexpr WordBits kWordPer = 1ull << 31;
inline constexpr WordBits kWordRestart = 1ull << 32;
inline constexpr WordBits kWordPid = 1ull << 33;

inline constexpr WordBits kWordHostMetric =
    kWordRss | kWordPss | kWordUss | kWordAnon | kWordShmem | kWordSwap;
inline constexpr WordBits kWordMemoryKey = kWordMemory | kWordUsed | kWordHostMetric | kWordFile |
                                           kWordGpu | kWordReserved | kWordAllocated;

// The bits of one word, whatever its case; 0 for a word without meaning here.
WordBits word_bits(std::string_view word);

// The end of the word that starts at `at`: letters, split where a lower-case letter is followed by
// an upper-case one and the part before has three letters ("rssMB", but "MiB" stays whole).
// Requires: a letter at `at`.
size_t word_end(std::string_view text, size_t at);

// The word at `at` and where it ends; the same as word_end() and word_bits(), faster.
// Requires: a letter at `at`.
struct ReadWord {
  WordBits bits;
  size_t end;
};
ReadWord read_word(std::string_view text, size_t at);

// What a number under a key with these bits counts; nullopt if it is no memory in use.
// `with_unit` says that a memory unit stands with it ("GPU: 6199 MB"), without which a lone device
// word means nothing.
std::optional<Metric> metric_of(WordBits bits, bool with_unit);

// A unit for memory figures that carry none, from their size: a training process has between 50 MB
// and 200 GB, and logs count bytes, KiB, MB or (small, with decimals) GB. In MB.
double guess_unit_mb(double first_value);
std::string_view guessed_unit_name(double unit_mb);

}  // namespace plateau
