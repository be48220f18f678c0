// SPDX-License-Identifier: Apache-2.0
// The shared memory in which a traced process tells the recorder about its heap.
//
// One file per process image (a fork or an exec makes a new one), created by the tracer in the
// directory that PLATEAU_HEAP names, mapped by both sides, unlinked by the recorder once it is
// mapped. The file is a header page and kLaneCount rings ("lanes") of 8-byte words. A process that
// finds no room for one leaves an empty file whose name ends in kUntracedEnding, and runs untraced.
//
// Spares. The recorder holds kSpareCount files ready, named kSpareName and a number, whole but for
// the process: to claim one takes no call but openat, mmap and close, and no time. Who sets `pid`
// from 0 to its own owns it, fills in the rest and sets the state to running. The recorder then
// takes the name away, and gives the file another owner once the process is gone. The first is for
// programs that begin; the others, for children that a fork makes, have the smallest lanes.
//
// Writing. A thread locks any lane by a single try (never a wait), writes whole records, publishes
// `written`, unlocks. A record that does not fit before `read` is dropped and counted; where every
// block is recorded, only after a wait for the recorder (tracer/patience.h). A writer
// that dies in between leaves a locked lane; the others go on, and a child made by fork has its own
// segment. Reading. The recorder alone moves `read`; it takes only what is published.
//
// Order. Records of one lane are in order. Across lanes the time stamp decides: it is taken before
// the block is given back (free) and after it was handed out (alloc), so for one address a free is
// always older than the alloc that reuses it.
//
// Everything is fixed-size, little-endian, naturally aligned; both sides are built together and
// `version` must match. C-like on purpose: this header is included by the tracer, which has neither
// libstdc++ nor a heap.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace plateau::trace {

inline constexpr uint64_t kSegmentMagic = 0x31504145484c5450;  // "PTLHEAP1"
inline constexpr uint32_t kSegmentVersion = 2;
inline constexpr uint32_t kLaneCount = 4;
// Where there is no room for lanes of the usual size they are made smaller, in steps; all are
// powers of two. SegmentHeader::lane_bytes has the size.
inline constexpr uint64_t kLaneBytes = uint64_t{2} * 1024 * 1024;
inline constexpr uint64_t kMinLaneBytes = uint64_t{128} * 1024;
inline constexpr uint64_t kLaneStep = 4;
inline constexpr uint64_t kHeaderBytes = 4096;
constexpr uint64_t segment_bytes(uint64_t lane_bytes) {
  return kHeaderBytes + kLaneCount * lane_bytes;
}
inline constexpr uint64_t kSegmentBytes = segment_bytes(kLaneBytes);

inline constexpr uint32_t kMaxNativeFrames = 128;
inline constexpr uint32_t kMaxPythonFrames = 128;
inline constexpr uint32_t kMaxTextBytes = 4096;        // Of one path or name.
inline constexpr uint32_t kMaxLineTableBytes = 16384;  // Longer ones are cut: later lines unknown.

inline constexpr char kSpareName[] = "spare-";
inline constexpr uint32_t kSpareCount = 16;
inline constexpr char kSegmentEnding[] = ".segment";
inline constexpr char kUntracedEnding[] = ".untraced";

enum class SegmentState : uint32_t {
  starting = 0,
  running = 1,
  ended = 2,     // The process exits in order.
  detached = 3,  // The tracer was taken out again.
};

// What a block is. The recorder sums kinds apart: an arena holds python blocks.
enum class BlockKind : uint8_t {
  heap = 0,     // malloc and its family, operator new.
  mapping = 1,  // Private anonymous mmap of kMinMappingBytes or more by the program.
  python = 2,   // A small object of CPython's own allocator (PyObject_Malloc, PyMem_Malloc).
  arena = 3,    // A mapping that CPython's allocator carves small objects from.
  shared = 4,   // Shared memory: mapped by the program, or a file in memory that it holds unmapped.
  stack = 5,    // The touched part of a thread's stack.
};
inline constexpr uint64_t kMinMappingBytes = uint64_t{64} * 1024;

enum class RecordType : uint8_t {
  padding = 0,  // Skip `words` words: to the end of the ring, where a record would not fit.
  alloc = 1,    // AllocRecord
  free = 2,     // FreeRecord
  unmap = 3,    // UnmapRecord: part of a mapping or several may go at once.
  stack = 4,    // StackRecord, before the first alloc that names it
  code = 5,     // CodeRecord, before the first stack that names it
  module = 6,   // ModuleRecord, before the first stack with an address in it
};

// First word of every record. `words` counts all words of the record, this one included.
struct RecordHead {
  RecordType type = RecordType::padding;
  uint8_t kind = 0;   // Of an alloc: BlockKind.
  uint16_t note = 0;  // Of an alloc: log2 of the sampling interval in bytes; 0 = every block.
  uint32_t words = 0;
};
static_assert(sizeof(RecordHead) == 8);

struct AllocRecord {
  RecordHead head;
  uint64_t address = 0;
  uint64_t bytes = 0;  // As asked for by the program; of one block, not scaled.
  uint64_t stack = 0;  // StackRecord::id; 0 = no stack could be taken.
  uint64_t stamp = 0;  // trace_stamp().
};

struct FreeRecord {
  RecordHead head;
  uint64_t address = 0;
  uint64_t stamp = 0;
};

struct UnmapRecord {
  RecordHead head;
  uint64_t address = 0;
  uint64_t bytes = 0;
  uint64_t stamp = 0;
};

// Followed by `native` return addresses, innermost first, then `python` PythonFrameWords,
// innermost first. The id is a hash of all of them; the tracer forgets which stacks it has sent
// when its table is full and sends them again, so the recorder takes a known id as known.
struct StackRecord {
  RecordHead head;
  uint64_t id = 0;
  uint16_t native = 0;
  uint16_t python = 0;
  uint16_t truncated = 0;  // 1: there were more native frames, 2: more Python frames, 3: both.
  uint16_t reserved = 0;
};

struct PythonFrameWords {
  uint64_t code = 0;         // CodeRecord::id
  int32_t instruction = -1;  // Byte offset into the bytecode of the current instruction; -1: none.
  uint32_t entry = 0;        // 1: this frame began a call of the C interpreter loop.
};
static_assert(sizeof(PythonFrameWords) == 16);

// Followed by file, function and line table, back to back, padded to whole words.
struct CodeRecord {
  RecordHead head;
  uint64_t id = 0;  // Hash of the address and what follows: an address is reused.
  int32_t first_line = 0;
  uint16_t minor = 0;  // Of CPython 3: 8 to 13. Tells how the line table is coded.
  uint16_t file_bytes = 0;
  uint16_t function_bytes = 0;
  uint16_t line_table_bytes = 0;
  uint32_t reserved = 0;
};

// Followed by the build id and the path, back to back, padded to whole words.
struct ModuleRecord {
  RecordHead head;
  uint64_t begin = 0;  // Mapped range that may hold code.
  uint64_t end = 0;
  uint64_t bias = 0;  // Address in memory minus address in the file.
  uint16_t build_id_bytes = 0;
  uint16_t path_bytes = 0;  // The main program's own path is read from /proc/self/exe.
  uint32_t reserved = 0;
};

struct alignas(64) Lane {
  std::atomic<uint32_t> locked{0};
  uint32_t reserved = 0;
  std::atomic<uint64_t> written{0};  // Bytes ever published; the place is that modulo lane_bytes.
  alignas(64) std::atomic<uint64_t> read{0};  // Bytes ever consumed, by the recorder.
};

// The allocator's own account, filled in by the tracer when `asked` is ahead of `answered`, at the
// next sampled allocation. Bytes; UINT64_MAX where the allocator does not say.
struct AllocatorAccount {
  std::atomic<uint32_t> asked{0};
  std::atomic<uint32_t> answered{0};
  std::atomic<uint32_t> allocator{0};  // AllocatorKind
  uint32_t reserved = 0;
  std::atomic<uint64_t> in_use{0};  // Handed out, with the allocator's own rounding.
  std::atomic<uint64_t> free{0};    // Held but not handed out: mapped, and may be resident.
  std::atomic<uint64_t> mapped{0};  // Of in_use: in mappings of their own (glibc's large blocks).
  std::atomic<uint64_t> system{0};  // Held from the kernel in all.
};
enum class AllocatorKind : uint32_t { unknown, glibc, jemalloc, tcmalloc, mimalloc };

struct SegmentHeader {
  uint64_t magic = kSegmentMagic;
  uint32_t version = kSegmentVersion;
  uint32_t header_bytes = kHeaderBytes;
  uint32_t lane_count = kLaneCount;
  std::atomic<uint32_t> pid{0};  // As the process knows itself: of its own namespace.
  uint32_t exact = 0;            // 1: every block; 0: sampled.
  uint64_t lane_bytes = kLaneBytes;
  uint64_t interval_bytes = 0;  // Mean bytes between samples at the start.
  uint64_t started_stamp = 0;
  uint64_t mapped_at = 0;      // In the process.
  uint64_t pid_namespace = 0;  // Its inode; 0: not known.
  int32_t filters = 0;  // On system calls, of the recorder; in a spare. See tracer/sandbox.h.
  uint32_t small = 0;   // 1: the lanes are small on purpose, not for want of room.
  std::atomic<SegmentState> state{SegmentState::starting};
  std::atomic<uint32_t> interval_log2{0};   // In force now; rises if too many samples are live.
  std::atomic<uint64_t> dropped_allocs{0};  // Ring full, or all lanes taken.
  std::atomic<uint64_t> dropped_frees{0};
  std::atomic<uint64_t> dropped_others{0};
  std::atomic<uint64_t> samples{0};  // Allocs sent or dropped.
  std::atomic<uint64_t> waits{0};    // For room, in exact mode: tracer/patience.h.
  // Children that could not have a segment: a sandbox took away the directory or the calls.
  std::atomic<uint64_t> silent_children{0};
  std::atomic<uint32_t> python_minor{0};   // Once an interpreter was seen; 0 before.
  std::atomic<uint32_t> python_hooked{0};  // 1: small Python objects are traced too.
  AllocatorAccount account;
  Lane lanes[kLaneCount];
};
static_assert(sizeof(SegmentHeader) <= kHeaderBytes);

// A clock that all cores share and that costs next to nothing: the time stamp counter on x86-64,
// the virtual counter on arm64. Its unit is the recorder's business.
inline uint64_t trace_stamp() noexcept {
#if defined(__x86_64__)
  uint32_t low = 0;
  uint32_t high = 0;
  asm volatile("rdtsc" : "=a"(low), "=d"(high)::"memory");
  return (uint64_t{high} << 32) | low;
#elif defined(__aarch64__)
  uint64_t now = 0;
  asm volatile("mrs %0, cntvct_el0" : "=r"(now)::"memory");
  return now;
#else
#error "the tracer knows x86-64 and arm64"
#endif
}

}  // namespace plateau::trace
