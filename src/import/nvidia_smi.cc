// SPDX-License-Identifier: Apache-2.0
// `nvidia-smi --query-gpu=… --format=csv` and `--query-compute-apps=…`: one line per device (or per
// process on a device) and sample. Units stand in the header ("memory.used [MiB]") or with each
// value; without either they are MiB. Each device becomes a process "GPU 0", told apart by its
// index, else its UUID, bus id or name. With compute apps the processes are the pids.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <unordered_map>

#include "base/text.h"
#include "base/units.h"
#include "import/csv_fields.h"
#include "import/each_line.h"
#include "import/timestamp.h"

namespace plateau {
namespace {

constexpr double kMib = 1.048576;
constexpr size_t kNowhere = static_cast<size_t>(-1);

struct SmiColumns {
  size_t time = kNowhere;
  size_t used = kNowhere;
  size_t total = kNowhere;
  size_t device = kNowhere;  // What tells devices apart.
  int device_rank = 0;
  size_t pid = kNowhere;
  size_t name = kNowhere;
  double unit_mb = kMib;

  bool read(const std::vector<std::string_view>& names) {
    *this = {};
    for (size_t i = 0; i < names.size(); ++i) {
      const std::string_view key = names[i].substr(0, names[i].find(" ["));
      if (key == "timestamp") time = i;
      if (key == "memory.total") total = i;
      if (key == "pid") pid = i;
      if (key == "process_name") name = i;
      if (key == "memory.used" || key == "used_gpu_memory" || key == "used_memory") {
        used = i;
        const size_t open = names[i].find('[');
        const size_t close = names[i].find(']');
        if (open != std::string_view::npos && close > open) {
          unit_mb = unit_in_mb(names[i].substr(open + 1, close - open - 1)).value_or(kMib);
        }
      }
      const int rank = key == "index"                               ? 4
                       : key == "uuid" || key == "gpu_uuid"         ? 3
                       : key == "pci.bus_id" || key == "gpu_bus_id" ? 2
                       : key == "name" || key == "gpu_name"         ? 1
                                                                    : 0;
      if (rank > device_rank) {
        device = i;
        device_rank = rank;
      }
    }
    return used != kNowhere;
  }
};

class SmiReader {
 public:
  explicit SmiReader(RunBuilder& builder) : builder_(builder) {}

  void line(std::string_view text, size_t number) {
    if (trim(text).empty()) return;
    const std::vector<std::string_view>& fields = cutter_.cut(without_bom(text));
    SmiColumns header;
    if (header.read(fields)) {
      columns_ = header;
      fresh_ = true;
      return;
    }
    if (columns_.used == kNowhere || fields.size() <= columns_.used) return;
    const std::string_view amount = fields[columns_.used];
    const auto mb = parse_memory_mb(amount, columns_.unit_mb);
    if (!mb) {
      // "[N/A]" is how the driver says that it does not know.
      if (!amount.starts_with('[')) builder_.bad(number, text.substr(0, 80));
      return;
    }
    const size_t process = process_of(fields);
    place(fields, process, number);
    builder_.set_mb(builder_.memory_column(process, Metric::gpu, "memory.used"), *mb);
    if (columns_.total < fields.size()) {
      const auto total = parse_memory_mb(fields[columns_.total], columns_.unit_mb);
      if (total && *total > 0 && total_mb_ == 0) {
        total_mb_ = *total;
        builder_.note(fmt::format("each device has {}", format_mb(*total)));
      }
    }
  }

 private:
  // Without times a device that comes again, or a repeated header, begins the next sample.
  void place(const std::vector<std::string_view>& fields, size_t process, size_t number) {
    if (process == RunBuilder::kNone) return;
    if (seen_.size() <= process) seen_.resize(process + 1, 0);
    Instant at;
    bool next = fresh_ || seen_[process] == sample_;
    if (columns_.time < fields.size()) {
      if (const auto stamp = parse_date_line(fields[columns_.time])) {
        // Devices are read one after another: their stamps differ by milliseconds.
        at.time_s = builder_.time_of(*stamp);
      }
    }
    if (next) {
      builder_.row(at, number);
      ++sample_;
      fresh_ = false;
    }
    seen_[process] = sample_;
  }

  size_t process_of(const std::vector<std::string_view>& fields) {
    if (columns_.pid < fields.size()) {
      if (const auto pid = parse_int(fields[columns_.pid]); pid && *pid >= 0) {
        const size_t process = builder_.process(*pid, true);
        if (columns_.name < fields.size()) builder_.describe(process, fields[columns_.name], -1);
        return process;
      }
    }
    const std::string key(columns_.device < fields.size() ? fields[columns_.device] : "0");
    const auto number = columns_.device_rank == 4 ? parse_int(key) : std::nullopt;
    const auto fallback = static_cast<int64_t>(devices_.size());
    const int64_t id = number && *number >= 0 ? *number : fallback;
    const auto [found, fresh] = devices_.try_emplace(key.substr(0, 100), id);
    const size_t process = builder_.process(found->second, false);
    if (fresh) builder_.describe(process, fmt::format("GPU {}", found->second), -1);
    return process;
  }

  RunBuilder& builder_;
  CsvFields cutter_{','};
  SmiColumns columns_;
  std::unordered_map<std::string, int64_t> devices_;
  std::vector<size_t> seen_;
  size_t sample_ = 1;
  bool fresh_ = true;
  double total_mb_ = 0;
};

}  // namespace

Result<Runs> read_nvidia_smi(LineReader& lines) {
  return read_each_line<SmiReader>(lines, "nvidia-smi", RunBuilder::Join::same_time);
}

}  // namespace plateau
