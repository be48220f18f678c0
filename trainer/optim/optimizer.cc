// SPDX-License-Identifier: Apache-2.0
#include "trainer/optim/optimizer.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "trainer/device/kernels.h"

namespace plateau::train {
namespace {

// One parameter with its states: two tensors of its shape, or codes with their scales.
struct Slot {
  std::string name;
  at::Tensor parameter;
  bool decays = false;
  bool is_8bit = false;
  at::Tensor first;
  at::Tensor second;
  State8 first8;
  State8 second8;
};

Slot make_slot(const NamedTensor& named, OptimizerKind kind) {
  Slot slot;
  slot.name = named.name;
  slot.parameter = *named.tensor;
  slot.parameter.mutable_grad() = at::zeros_like(slot.parameter, at::MemoryFormat::Contiguous);
  slot.decays = slot.parameter.dim() >= 2;
  const int64_t elements = slot.parameter.numel();
  const at::TensorOptions beside = slot.parameter.options().requires_grad(false);
  slot.is_8bit = kind == OptimizerKind::adamw_8bit && elements >= kMin8BitElements;
  if (!slot.is_8bit) {
    slot.first = at::zeros(slot.parameter.sizes(), beside);
    slot.second = at::zeros(slot.parameter.sizes(), beside);
    return slot;
  }
  const int64_t blocks = (elements + kStateBlock - 1) / kStateBlock;
  for (State8* state : {&slot.first8, &slot.second8}) {
    // Codes mean nothing while absmax is 0.
    state->codes = at::zeros(slot.parameter.sizes(), beside.dtype(at::kByte));
    state->absmax = at::zeros({blocks}, beside);
  }
  return slot;
}

// A gradient whose memory can be read in a row; autograd may have replaced ours.
at::Tensor gradient_of(Slot& slot) {
  at::Tensor& gradient = slot.parameter.mutable_grad();
  if (gradient.defined() && !gradient.is_contiguous()) gradient = gradient.contiguous();
  return gradient;
}

StateTensor state_tensor(std::string name, const at::Tensor& tensor) {
  return {.name = std::move(name), .tensor = std::make_shared<at::Tensor>(tensor)};
}

void add_8bit(std::vector<StateTensor>& out, const std::string& name, const State8& state) {
  out.push_back(state_tensor(name, state.codes));
  out.push_back(state_tensor(name + ".absmax", state.absmax));
}

std::string shape_text(const at::Tensor& tensor) {
  return fmt::format("{} [{}]", std::string(tensor.dtype().name()),
                     fmt::join(tensor.sizes(), ", "));
}

}  // namespace

struct Optimizer::State {
  OptimizerOptions options;
  std::vector<Slot> slots;
  int64_t steps = 0;
};

Optimizer::Optimizer(std::vector<NamedTensor> parameters, const OptimizerOptions& options)
    : state_(std::make_unique<State>()) {
  state_->options = options;
  state_->slots.reserve(parameters.size());
  for (const NamedTensor& named : parameters) {
    state_->slots.push_back(make_slot(named, options.kind));
  }
}
Optimizer::~Optimizer() = default;
Optimizer::Optimizer(Optimizer&&) noexcept = default;

void Optimizer::zero_grad() {
  for (Slot& slot : state_->slots) {
    const at::Tensor gradient = gradient_of(slot);
    if (gradient.defined()) gradient.zero_();
  }
}

void Optimizer::scale_gradients(double factor) {
  for (Slot& slot : state_->slots) {
    const at::Tensor gradient = gradient_of(slot);
    if (gradient.defined()) gradient.mul_(factor);
  }
}

double Optimizer::clip() {
  std::vector<at::Tensor> gradients;
  for (Slot& slot : state_->slots) {
    const at::Tensor gradient = gradient_of(slot);
    if (gradient.defined()) gradients.push_back(gradient);
  }
  if (gradients.empty()) return 0;
  const Kernels& kernels = kernels_for(gradients.front().device());
  const double norm = std::sqrt(kernels.sum_of_squares(gradients));
  const double limit = state_->options.max_grad_norm;
  if (limit <= 0 || !std::isfinite(norm)) return norm;
  // The small number is that of torch.nn.utils.clip_grad_norm_.
  const double factor = limit / (norm + 1e-6);
  if (factor < 1) scale_gradients(factor);
  return norm;
}

void Optimizer::step(double learning_rate) {
  const at::NoGradGuard without_graph;
  const OptimizerOptions& options = state_->options;
  Adam8Step settings{.learning_rate = learning_rate,
                     .beta1 = options.beta1,
                     .beta2 = options.beta2,
                     .epsilon = options.epsilon,
                     .step = ++state_->steps};
  for (Slot& slot : state_->slots) {
    const at::Tensor gradient = gradient_of(slot);
    if (!gradient.defined()) continue;
    const Kernels& kernels = kernels_for(slot.parameter.device());
    settings.weight_decay = slot.decays ? options.weight_decay : 0;
    if (slot.is_8bit) {
      kernels.adamw_8bit(slot.parameter, gradient, slot.first8, slot.second8, settings);
    } else {
      kernels.adamw(slot.parameter, gradient, slot.first, slot.second, settings);
    }
  }
}

int64_t Optimizer::steps() const {
  return state_->steps;
}

int64_t Optimizer::state_bytes() const {
  int64_t bytes = 0;
  for (const StateTensor& state : state()) bytes += static_cast<int64_t>(state.tensor->nbytes());
  return bytes;
}

std::vector<StateTensor> Optimizer::state() const {
  std::vector<StateTensor> out;
  for (const Slot& slot : state_->slots) {
    const std::string first = slot.name + ".exp_avg";
    const std::string second = slot.name + ".exp_avg_sq";
    if (slot.is_8bit) {
      add_8bit(out, first, slot.first8);
      add_8bit(out, second, slot.second8);
    } else {
      out.push_back(state_tensor(first, slot.first));
      out.push_back(state_tensor(second, slot.second));
    }
  }
  return out;
}

Result<std::monostate> Optimizer::restore(std::vector<StateTensor> state, int64_t steps) {
  const std::vector<StateTensor> own = this->state();
  if (own.size() != state.size()) {
    return Error{Error::Kind::bad_input,
                 fmt::format("the optimizer has {} states, the checkpoint {}: another optimizer, "
                             "or other trained modules",
                             own.size(), state.size())};
  }
  for (size_t i = 0; i < own.size(); ++i) {
    const at::Tensor& mine = *own[i].tensor;
    const at::Tensor& theirs = *state[i].tensor;
    if (own[i].name != state[i].name || mine.dtype() != theirs.dtype() ||
        mine.sizes() != theirs.sizes() || !theirs.is_contiguous()) {
      return Error{Error::Kind::bad_input,
                   fmt::format("optimizer state {} is {}, the checkpoint has {}, {}", own[i].name,
                               shape_text(mine), state[i].name, shape_text(theirs))};
    }
  }
  for (size_t i = 0; i < own.size(); ++i) {
    own[i].tensor->copy_(*state[i].tensor);
    state[i].tensor.reset();
  }
  state_->steps = steps;
  return std::monostate{};
}

}  // namespace plateau::train
