// SPDX-License-Identifier: Apache-2.0
// The unit of figures that name none, from the figures themselves.
//
// A kernel hands out pages of 4096 bytes, and that shows: RSS in bytes is a multiple of 4096, in
// KiB of 4, in MiB of 1/256. A dozen figures that all are were not made by chance (one in 4^12 for
// KiB). What a heap counts is not in pages, so a column that shows no page takes the unit of one
// beside it that does. Only then the size decides, and the answer says that it is a guess.
//
// Worked: 23470080, 22827008, 22388736 are all multiples of 4096: bytes, 23.5 MB; as KiB (which
// they could be too, being multiples of 4) they would be 24 GB.
// Blind spot: figures rounded by the program that wrote them show no pages.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace plateau {

struct UnitFound {
  double mb = 0;          // Of one unit; 0: nothing was found.
  std::string_view name;  // "bytes", "KiB", "MiB"
  std::string_view why;   // "all are multiples of 4096"
  bool sure = false;      // By pages or by name, not by size.
};

// Shown for one percent of a total that nothing names: as if it were of 16 GB.
inline constexpr double kPercentMb = 160;

// From pages alone; mb is 0 if they show none.
UnitFound unit_by_pages(const std::vector<double>& values);

// From the usual size of a process, or of a machine: a guess.
UnitFound unit_by_size(const std::vector<double>& values, bool machine = false);

inline constexpr double kKbInMb = 1e-3;              // A kB at its word,
inline constexpr double kKernelKbInMb = 1024 / 1e6;  // and as the kernel means it.

// What figures written in kB say about that unit: the kernel's kB have 1024 bytes, and come in
// pages.
class KbEvidence {
 public:
  void see(double kb);
  // Multiples of 4 that chance would make one in 4^5 times; fewer suffice where the name is one of
  // /proc.
  [[nodiscard]] bool is_of_kernel(std::string_view name) const;

 private:
  size_t seen_ = 0;
  size_t changes_ = 0;
  bool pages_ = true;
  double last_ = 0;
};

}  // namespace plateau
