// SPDX-License-Identifier: Apache-2.0
#include "plan/memory_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/units.h"
#include "plan/activations.h"
#include "plan/host_lines.h"
#include "plan/step_bytes.h"

namespace plateau {
namespace {

std::string count(double number) {
  return format_count(static_cast<int64_t>(std::min(number, 9e18)));
}

std::string amount(double bytes) {
  return format_mb(bytes / kBytesPerMb);
}

// Lines of the device that computes: the GPU, or the host itself.
class DeviceLines {
 public:
  DeviceLines(const PlannedModel& model, const TrainingSetup& setup, const StepBytes& step)
      : model_(model), setup_(setup), step_(step) {}

  MemorySide make() {
    MemorySide side;
    add(side, "weights", step_.weights, step_.weights_formula);
    if (step_.adapters > 0) {
      add(side, "adapters", step_.adapters,
          fmt::format("{} values of rank {} in 32 bits", count(step_.trainable), setup_.rank));
    }
    if (step_.autocast > 0) {
      add(side, "autocast copies", step_.autocast, "16-bit copies of the linear layers' weights",
          true);
    }
    add(side, "optimizer", step_.optimizer, step_.optimizer_formula);
    add_step(side);
    if (step_.buckets > 0) {
      add(side, "communication", step_.buckets, step_.buckets_formula);
    }
    return side;
  }

 private:
  static void add(MemorySide& side, std::string name, double bytes, std::string formula,
                  bool is_in_step = false) {
    side.lines.push_back({std::move(name), bytes, std::move(formula), is_in_step});
  }

  std::string activations_formula() const {
    const auto tokens = static_cast<double>(setup_.batch) * static_cast<double>(setup_.tokens);
    const auto layers = model_.shape.text.layers;
    std::string out;
    if (setup_.checkpointing == Checkpointing::off) {
      out = fmt::format("{} layers x {} tokens x {} bytes", layers, count(tokens),
                        count(step_.layer.kept));
    } else {
      out = fmt::format("{} layers x {} tokens x {} bytes of input{}, and one layer again ({})",
                        layers, count(tokens), count(step_.layer.input),
                        setup_.checkpointing == Checkpointing::offload ? ", in host RAM" : "",
                        amount(step_.one_layer));
    }
    if (step_.vision_activations > 0) {
      out += fmt::format("; vision tower {}", amount(step_.vision_activations));
    }
    return out;
  }

  std::string logits_formula() const {
    return fmt::format("{} rows x {} ids x {} bytes: log-probabilities and two gradients",
                       count(logit_rows(setup_)),
                       count(static_cast<double>(model_.shape.vocabulary)),
                       count(logit_bytes(model_.shape)));
  }

  void add_gradients(MemorySide& side, double bytes) {
    const std::string later =
        bytes > 0 ? ""
                  : fmt::format(", made when activations are gone ({})", amount(step_.gradients));
    add(side, "gradients", bytes,
        fmt::format("{} values x {} bytes{}", count(step_.trainable), count(step_.gradient_width),
                    later),
        setup_.accumulation <= 1);
  }

  void add_step(MemorySide& side) {
    const bool is_cpu = setup_.device == TrainingDevice::cpu;
    // Gradients stay between the passes that are accumulated.
    const double early = setup_.accumulation > 1 ? step_.gradients : 0;
    const double in_layer = step_.one_layer + step_.working;
    // With checkpointing the inputs of layers make room for gradients, layer by layer.
    const double inputs = step_.one_layer > 0 ? step_.activations : 0;
    const double gradients = std::max(inputs, step_.gradients);
    const double begins = early + step_.activations + (is_cpu ? 0 : step_.logits);
    const double ends = gradients + in_layer + (is_cpu ? 0 : step_.optimizer_working);
    const bool at_begin = begins >= ends;
    side.moment = is_cpu     ? "with what the C library keeps"
                  : at_begin ? "when the backward pass begins"
                             : "when the backward pass ends";
    add_gradients(side, at_begin ? early : step_.gradients);
    if (at_begin) {
      add(side, "activations", step_.activations, activations_formula(), true);
    } else {
      add(side, "activations", step_.one_layer + std::max(0.0, inputs - step_.gradients),
          fmt::format("of one layer; {} when the backward pass begins, without gradients",
                      amount(step_.activations)),
          true);
      add(side, "working", step_.working + (is_cpu ? 0 : step_.optimizer_working),
          "gradients inside one layer, and the optimizer's temporaries", true);
    }
    if (is_cpu) {
      add_heap(side);
    } else if (at_begin) {
      add(side, "logits", step_.logits, logits_formula(), true);
    }
  }

  // Blocks below 32 MB come from a heap that does not shrink: what its fullest moment took stays,
  // with holes. Larger ones, of logits or of the optimizer, come on top and go.
  void add_heap(MemorySide& side) {
    constexpr double kHoles = 0.3;
    if (step_.logits >= step_.optimizer_working) {
      add(side, "logits", step_.logits, logits_formula(), true);
    } else {
      add(side, "working", step_.optimizer_working, "temporaries of the optimizer", true);
    }
    add(side, "heap", kHoles * (step_.activations + step_.one_layer) + step_.adapter_outputs,
        "holes that the C library keeps: 0.3 of the activations, and results of adapted products",
        true);
  }

  const PlannedModel& model_;
  const TrainingSetup& setup_;
  const StepBytes& step_;
};

void sum_up(MemorySide& side, double staging) {
  for (const MemoryLine& line : side.lines) {
    side.peak += line.bytes;
    if (!line.is_in_step) side.resident += line.bytes;
  }
  if (side.resident + staging > side.peak) {
    side.peak = side.resident + staging;
    side.moment = "while a checkpoint is written";
  }
}

// Context, libraries' workspaces, and what the caching allocator keeps beyond what is asked for.
constexpr double kCudaContext = 500e6;
constexpr double kFragmentation = 0.04;

MemorySide gpu_side(MemorySide side) {
  double step = 0;
  for (const MemoryLine& line : side.lines) step += line.is_in_step ? line.bytes : 0;
  side.lines.push_back({.name = "allocator",
                        .bytes = kFragmentation * step,
                        .formula = "4 % of what comes and goes within a step, kept in pieces",
                        .is_in_step = true});
  side.lines.push_back(
      {.name = "CUDA context",
       .bytes = kCudaContext,
       .formula = "driver, kernels and workspaces: an assumption, 0.3 to 0.7 GB by GPU"});
  sum_up(side, 0);
  return side;
}

}  // namespace

double limited_peak(const MemoryPlan& plan) {
  return plan.gpu ? plan.gpu->peak : plan.host.peak;
}

MemoryPlan make_memory_plan(const PlannedModel& model, const TrainingSetup& setup) {
  const StepBytes step = count_step(model, setup);
  MemoryPlan plan;
  plan.parameters = step.parameters;
  plan.trainable = step.trainable;
  plan.notes = model.shape.notes;
  plan.notes.insert(plan.notes.end(), step.notes.begin(), step.notes.end());
  const HostBytes host = host_lines(model, setup, step);
  MemorySide device = DeviceLines(model, setup, step).make();
  if (setup.device == TrainingDevice::cpu) {
    // Each rank on this host has all of it.
    plan.host.moment = device.moment;
    for (MemoryLine& line : device.lines) {
      line.bytes *= static_cast<double>(setup.ranks_here);
      plan.host.lines.push_back(line);
    }
  } else {
    plan.gpu = gpu_side(std::move(device));
    plan.host.moment = "in a step";
  }
  plan.host.lines.insert(plan.host.lines.end(), host.lines.begin(), host.lines.end());
  sum_up(plan.host, host.staging);
  if (host.staging > 0) {
    plan.notes.push_back(
        fmt::format("writing a checkpoint takes {} of host RAM besides, between steps{}",
                    amount(host.staging), host.staging_formula));
  }
  return plan;
}

}  // namespace plateau
