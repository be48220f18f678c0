// SPDX-License-Identifier: Apache-2.0
#include "plan/host_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/units.h"

namespace plateau {
namespace {

// Measured with torch 2.13 and transformers 5.22 (bench/plan_check.py): resident memory after the
// imports, and what the first step touches besides, code of kernels and buffers of threads.
constexpr double kImports = 485e6;
constexpr double kFirstStep = 40e6;
constexpr double kTrlImports = 120e6;
constexpr double kPeftImports = 15e6;
// Not measured: what CUDA's libraries and driver keep on the host.
constexpr double kCudaOnHost = 900e6;
// A forked worker of a DataLoader: pages of Python objects that counting references unshares.
constexpr double kWorker = 60e6;
constexpr double kPillowPixel = 4;        // Pillow keeps RGB in four bytes.
constexpr double kPythonExample = 2'000;  // Dicts, lists and strings around an example's text.
constexpr double kShard = 50e9;           // save_pretrained()'s default of transformers 5.

double power_of_two(double bytes) {
  return bytes <= 0 ? 0 : std::exp2(std::ceil(std::log2(bytes)));
}

std::string counted_pictures(const TrainingSetup& setup) {
  return fmt::format("{} x {} x {:.1f} Mpixel x 4 bytes",
                     counted(static_cast<uint64_t>(setup.batch), "example"),
                     counted(static_cast<uint64_t>(setup.pictures), "picture"),
                     static_cast<double>(setup.picture_pixels) / 1e6);
}

class HostCount {
 public:
  HostCount(const PlannedModel& model, const TrainingSetup& setup, const StepBytes& step)
      : model_(model), setup_(setup), step_(step), here_(static_cast<double>(setup.ranks_here)) {}

  HostBytes make() {
    add_runtime();
    add_batches();
    add_dataset();
    add_from_gpu();
    if (setup_.saves_checkpoints) stage_checkpoint();
    return std::move(out_);
  }

 private:
  void add(std::string name, double bytes, std::string formula, bool is_in_step = false) {
    if (bytes <= 0) return;
    if (setup_.ranks_here > 1) formula += fmt::format(", x {} ranks", setup_.ranks_here);
    out_.lines.push_back({std::move(name), bytes * here_, std::move(formula), is_in_step});
  }

  void add_runtime() {
    double bytes = kImports + kFirstStep;
    std::string formula = "Python with torch and transformers imported 485 MB, first step 40 MB";
    if (setup_.method != TrainingMethod::full) {
      bytes += kPeftImports;
      formula += ", peft 15 MB";
    }
    if (setup_.stack != TrainingStack::transformers) {
      bytes += kTrlImports;
      formula += ", TRL 120 MB (assumed)";
    }
    if (setup_.device == TrainingDevice::cuda) {
      bytes += kCudaOnHost;
      formula += ", CUDA's libraries 0.9 GB (assumed)";
    }
    add("runtime", bytes, formula);
  }

  void add_batches() {
    const double batch = batch_bytes(model_, setup_);
    const auto workers = static_cast<double>(setup_.workers);
    // Each worker, or the program itself, holds the pictures of the batch that it prepares:
    // decoded, and resized in 32 bits.
    const double pictures =
        static_cast<double>(setup_.batch) * static_cast<double>(setup_.pictures);
    const double preparing = pictures * (kPillowPixel * static_cast<double>(setup_.picture_pixels) +
                                         12.0 * static_cast<double>(setup_.resized_pixels));
    add("batch", batch, "ids, labels, mask and pixels of one batch", true);
    if (setup_.workers > 0) {
      add("workers", workers * kWorker,
          fmt::format("{} x 60 MB of unshared pages", setup_.workers));
      add("prefetched", workers * static_cast<double>(setup_.prefetch) * batch,
          fmt::format("{} workers x {} batches x {} in /dev/shm", setup_.workers, setup_.prefetch,
                      format_mb(batch / kBytesPerMb)));
    }
    add("decoding", std::max(1.0, workers) * preparing,
        fmt::format("{} x {}, and resized", std::max<int64_t>(1, setup_.workers),
                    counted_pictures(setup_)),
        setup_.workers == 0);
    if (setup_.pins_memory && setup_.device == TrainingDevice::cuda) {
      add("pinned", 2 * power_of_two(batch), "2 batches, each rounded up to a power of two");
    }
  }

  void add_dataset() {
    if (setup_.dataset == DatasetPlace::mapped) return;
    const auto examples = static_cast<double>(setup_.examples);
    add("dataset", setup_.dataset_bytes + examples * kPythonExample,
        fmt::format("{} of text and {} examples x 2 kB of Python objects",
                    format_mb(setup_.dataset_bytes / kBytesPerMb), format_count(setup_.examples)));
    if (setup_.dataset != DatasetPlace::decoded) return;
    const double all = setup_.decoded_bytes > 0
                           ? setup_.decoded_bytes
                           : examples * static_cast<double>(setup_.pictures) *
                                 static_cast<double>(setup_.picture_pixels) * kPillowPixel;
    add("kept pictures", all,
        "every picture stays decoded once touched: full after the first epoch");
  }

  void add_from_gpu() {
    add("paged optimizer", step_.optimizer_on_host, "states that left the GPU");
    add("offloaded inputs", power_of_two(step_.offloaded),
        "inputs of layers, pinned, rounded up to a power of two");
  }

  // safetensors makes bytes of a whole shard before it writes it; optimizer states go one by one.
  void stage_checkpoint() {
    const bool is_lora = setup_.method != TrainingMethod::full;
    const double saved = is_lora ? step_.adapters : step_.parameters * bytes_of(setup_.dtype);
    out_.staging = std::min(saved, kShard);
    const bool gathers =
        setup_.sharding == ShardingKind::zero3 || setup_.sharding == ShardingKind::fsdp;
    if (gathers && !is_lora) {
      out_.staging += saved;
      out_.staging_formula = ": the first rank gathers all weights";
    }
  }

  const PlannedModel& model_;
  const TrainingSetup& setup_;
  const StepBytes& step_;
  double here_;
  HostBytes out_;
};

}  // namespace

double batch_bytes(const PlannedModel& model, const TrainingSetup& setup) {
  const auto rows = static_cast<double>(setup.batch);
  // Ids, labels and mask are 64-bit.
  double bytes = rows * static_cast<double>(setup.tokens) * 24;
  if (model.shape.vision) {
    const VisionShape& vision = *model.shape.vision;
    const double patch = 3.0 * static_cast<double>(vision.frames * vision.patch * vision.patch);
    bytes += rows * static_cast<double>(setup.patches) * patch * 4;
  }
  return bytes;
}

HostBytes host_lines(const PlannedModel& model, const TrainingSetup& setup, const StepBytes& step) {
  return HostCount(model, setup, step).make();
}

}  // namespace plateau
