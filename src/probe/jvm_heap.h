// SPDX-License-Identifier: Apache-2.0
// What lives in a JVM's heap: the one figure of a Java process that the kernel does not have.
//
// Question. A JVM takes memory for its heap ahead of need, and garbage fills it between two
// collections. RSS therefore says how much room the collector has been given, not what is kept: a
// program that keeps 0.4 MB more each second stands at a level 265 MB for as long as its first 384
// MB of heap last, and one that keeps nothing climbs to 870 MB. What does a Java process keep?
//
// Method. HotSpot publishes its counters in a small file that it maps, /tmp/hsperfdata_USER/PID,
// which is what jstat reads. The old generation's use is there, how often it was collected, and
// how often the young one was. Use of the old generation holds garbage as well, until a collection
// of it has run; what such a collection leaves is kept. Collectors that work beside the program
// free little by little, so what counts is the lowest use between one collection and the next.
// Nothing is said before two of them were seen. Each further one is one reading, however often the
// figure is repeated until then; they are counted, and the verdict takes each reading once.
//
// G1 counts two pauses to a cycle, and frees in the young collections that follow the second: a
// stretch without one is taken together with the next.
//
// Worked number. G1, use 40 MB and rising; cycles at 200, 420 and 600 s; between the first and the
// second it is never below 31 MB, between the second and the third never below 58. From 420 s on
// 31 MB are reported, from 600 s on 58.
//
// Nothing is asked of the program, and nothing is written. The file's bytes are the program's own
// and hostile: whatever they say, three numbers come of it or none.
//
// Blind spot. Other JVMs than HotSpot's, and those started with -XX:-UsePerfData or
// -XX:+PerfDisableSharedMem, have no such file; where there is none, nothing is reported. What
// lives only in the young generation is not seen.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/fd.h"
#include "probe/proc_dir.h"

namespace plateau {

struct JvmCounters {
  int64_t old_used_kb = 0;
  int64_t old_most_kb = 0;  // What the old generation may grow to; 0 if it does not say.
  int64_t young_collections = 0;
  int64_t old_collections = 0;  // As the JVM counts them: pauses.
};

// The counters in the bytes of such a file; nullopt if it is no such file, not yet complete, or
// lacks the old generation. Bytes may be anything.
std::optional<JvmCounters> parse_jvm_counters(std::string_view bytes);

// Where the file is that a process maps, by its /proc/PID/maps; "" if it maps none.
std::string jvm_counters_path(std::string_view maps);

// What collections left, from the counters of one process, taken again and again.
class JvmHeapFloor {
 public:
  void take(const JvmCounters& counters);
  // What the last collection but one left: the lowest use until the last. 0 until that is known.
  [[nodiscard]] int64_t kept_kb() const { return left_kb_; }
  // Stretches between two collections that were seen from end to end.
  [[nodiscard]] int64_t collections() const { return known_; }

 private:
  bool any_ = false;
  bool begun_ = false;     // A collection has been seen: what comes now is a whole stretch.
  int64_t lowest_kb_ = 0;  // Since the last collection.
  int64_t left_kb_ = 0;
  int64_t known_ = 0;
  int64_t old_ = 0;
  int64_t young_ = 0;  // When the stretch at hand began.
};

// Finds and reads the counters of one process. `now_s` is the caller's monotonic clock.
class JvmWatch {
 public:
  // Is there something to do at this moment? The file is looked for at once and a few times more,
  // ever less often, and read four times a second.
  [[nodiscard]] bool due(double now_s) const;
  // Reads what is due; gives the seconds for which the process's memory map was in use.
  double look(const PidDir& dir, double now_s);
  [[nodiscard]] bool present() const { return static_cast<bool>(file_); }
  [[nodiscard]] const JvmHeapFloor& floor() const { return floor_; }
  [[nodiscard]] int64_t most_kb() const { return most_kb_; }

 private:
  void find(const PidDir& dir);

  Fd file_;
  JvmHeapFloor floor_;
  int64_t most_kb_ = 0;
  double next_s_ = -1e300;
  double pause_s_ = 0.5;
};

}  // namespace plateau
