// SPDX-License-Identifier: Apache-2.0
#include "trainer/model/linear.h"

#include <ATen/OpMathType.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "trainer/device/products.h"

namespace plateau::train {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// Pointers travel to the way back as integers; the layer outlives the graph.
template <typename T>
int64_t as_integer(const T* pointer) {
  return static_cast<int64_t>(reinterpret_cast<intptr_t>(pointer));
}
template <typename T>
const T* as_pointer(int64_t integer) {
  return reinterpret_cast<const T*>(static_cast<intptr_t>(integer));
}

// Functions of this version take no undefined tensor: this one stands in.
at::Tensor present(const at::Tensor& tensor) {
  return tensor.defined() ? tensor : at::empty({0}, at::kFloat);
}

// In the type of `x`: itself, or a copy.
at::Tensor like(const at::Tensor& tensor, const at::Tensor& x) {
  return tensor.defined() ? tensor.to(x.scalar_type()) : tensor;
}

// x W' + bias, which may be undefined.
at::Tensor with_bias(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias) {
  at::Tensor out = at::empty({x.size(0), weight.size(0)}, x.options());
  matrix_product_into(out, x, weight.t(), bias);
  return out;
}

at::Tensor product(const Linear& layer, const at::Tensor& x) {
  if (!layer.weight.defined()) {
    return layer.stored.times_transposed(x, layer.bias);
  }
  return with_bias(x, like(layer.weight, x), like(layer.bias, x));
}

// What sums and parameters are in: fp32 where bf16 is computed in, else what is computed in.
at::ScalarType wide_type(const at::Tensor& x) {
  return at::toOpMathType(x.scalar_type());
}

// By a parameter: a' b, computed in their type.
at::Tensor gradient_of(const at::Tensor& a, const at::Tensor& b) {
  return matrix_product(a.t(), b).to(wide_type(b));
}

at::Tensor dropped(const at::Tensor& x, const at::Tensor& kept, double dropout) {
  return kept.defined() ? at::mul(x, kept).div_(1.0 - dropout) : x;
}

// What comes in, for the way back: kept, or the way to make it anew.
struct AgainHolder : torch::CustomClassHolder {
  explicit AgainHolder(std::function<at::Tensor()> held) : again(std::move(held)) {}
  std::function<at::Tensor()> again;
};
constexpr const char* kAgain = "again";

at::Tensor keep_or_remake(AutogradContext* ctx, const at::Tensor& x,
                          const std::function<at::Tensor()>& again) {
  if (!again) return x;
  ctx->saved_data[kAgain] = c10::IValue::make_capsule(c10::make_intrusive<AgainHolder>(again));
  return {};
}

// Requires: called once, for what `again` holds is let go.
at::Tensor kept_or_remade(AutogradContext* ctx, const at::Tensor& kept) {
  const auto found = ctx->saved_data.find(kAgain);
  if (found == ctx->saved_data.end()) return kept;
  const auto holder = c10::static_intrusive_pointer_cast<AgainHolder>(found->second.toCapsule());
  ctx->saved_data.erase(found);
  return holder->again();
}

// The layer with DoRA: z = x W' + scaling x A' B', y = z magnitude / length + bias.
struct DoraFunction : torch::autograd::Function<DoraFunction> {
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& x, const at::Tensor& /*lora_a*/,
                            const at::Tensor& /*lora_b*/, const at::Tensor& /*magnitude*/,
                            int64_t layer_address, const std::function<at::Tensor()>& again) {
    const Linear& layer = *as_pointer<Linear>(layer_address);
    ctx->saved_data["layer"] = layer_address;
    const at::Tensor lengths = layer.row_lengths();
    const at::Tensor inner = matrix_product(x, like(layer.lora_a, x).t());
    const at::Tensor product = layer.stored.times_transposed(x, at::Tensor());
    add_matrix_product(product, at::mul(inner, layer.scaling), like(layer.lora_b, x).t());
    at::Tensor y = at::mul(product, like(at::div(layer.magnitude, lengths), x));
    if (layer.bias.defined()) {
      y.add_(like(layer.bias, x));
    }
    ctx->save_for_backward({keep_or_remake(ctx, x, again), inner, product, lengths});
    return y;
  }

  static variable_list backward(AutogradContext* ctx, const variable_list& grad_outputs) {
    const variable_list saved = ctx->get_saved_variables();
    const Linear& layer = *as_pointer<Linear>(ctx->saved_data["layer"].toInt());
    const at::Tensor& lengths = saved[3];
    variable_list grads(6);
    const at::Tensor x = kept_or_remade(ctx, saved[0]);
    grads[3] =
        at::mul(grad_outputs[0], saved[2]).sum(0, false, wide_type(grad_outputs[0])).div_(lengths);
    const at::Tensor grad = at::mul(grad_outputs[0], like(at::div(layer.magnitude, lengths), x));
    const at::Tensor grad_inner = matrix_product(grad, like(layer.lora_b, x)).mul_(layer.scaling);
    grads[1] = gradient_of(grad_inner, x);
    grads[2] = gradient_of(grad, saved[1]).mul_(layer.scaling);
    if (ctx->needs_input_grad(0)) {
      grads[0] = layer.stored.times(grad);
      add_matrix_product(grads[0], grad_inner, like(layer.lora_a, x));
    }
    return grads;
  }
};

struct LinearFunction : torch::autograd::Function<LinearFunction> {
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& x, const at::Tensor& /*weight*/,
                            const at::Tensor& /*bias*/, const at::Tensor& /*lora_a*/,
                            const at::Tensor& /*lora_b*/, int64_t layer_address, bool is_training,
                            const std::function<at::Tensor()>& again) {
    const Linear& layer = *as_pointer<Linear>(layer_address);
    ctx->saved_data["layer"] = layer_address;
    const at::Tensor y = product(layer, x);
    at::Tensor kept;
    at::Tensor inner;
    if (layer.lora_a.defined()) {
      if (is_training && layer.dropout > 0) {
        kept = at::empty(x.sizes(), x.options().dtype(at::kBool)).bernoulli_(1.0 - layer.dropout);
      }
      inner = matrix_product(dropped(x, kept, layer.dropout), like(layer.lora_a, x).t());
      add_matrix_product(y, at::mul(inner, layer.scaling), like(layer.lora_b, x).t());
    }
    const bool needs_x = layer.weight.defined() || layer.lora_a.defined();
    ctx->save_for_backward({needs_x ? keep_or_remake(ctx, x, again) : at::Tensor(), inner, kept});
    return y;
  }

  static variable_list backward(AutogradContext* ctx, const variable_list& grad_outputs) {
    const variable_list saved = ctx->get_saved_variables();
    const Linear& layer = *as_pointer<Linear>(ctx->saved_data["layer"].toInt());
    const at::Tensor x = kept_or_remade(ctx, saved[0]);
    const at::Tensor& inner = saved[1];
    const at::Tensor& kept = saved[2];
    const at::Tensor grad = grad_outputs[0].contiguous();
    variable_list grads(8);
    if (ctx->needs_input_grad(0)) {
      grads[0] = layer.weight.defined() ? matrix_product(grad, like(layer.weight, grad))
                                        : layer.stored.times(grad);
    }
    if (layer.weight.defined() && ctx->needs_input_grad(1)) {
      grads[1] = gradient_of(grad, x);
    }
    if (layer.bias.defined() && ctx->needs_input_grad(2)) {
      grads[2] = grad.sum(0, false, wide_type(grad_outputs[0]));
    }
    if (layer.lora_a.defined()) {
      const at::Tensor lora_a = like(layer.lora_a, grad);
      const at::Tensor grad_inner =
          matrix_product(grad, like(layer.lora_b, grad)).mul_(layer.scaling);
      grads[3] = gradient_of(grad_inner, dropped(x, kept, layer.dropout));
      grads[4] = gradient_of(grad, inner).mul_(layer.scaling);
      if (grads[0].defined() && kept.defined()) {
        grads[0].add_(dropped(matrix_product(grad_inner, lora_a), kept, layer.dropout));
      } else if (grads[0].defined()) {
        add_matrix_product(grads[0], grad_inner, lora_a);
      }
    }
    return grads;
  }
};

// Turns logits into probabilities in place, less one at the targets, and returns the loss.
double to_gradient(at::Tensor& logits, const at::Tensor& targets) {
  const at::Tensor column = targets.unsqueeze(1);
  logits.sub_(logits.amax(1, true));
  const double at_targets = logits.gather(1, column).sum(at::kDouble).item<double>();
  logits.exp_();
  const at::Tensor sums = logits.sum(1, true);
  logits.div_(sums);
  logits.scatter_add_(1, column, at::full_like(sums, -1));
  return sums.log_().sum(at::kDouble).item<double>() - at_targets;
}

// The same sum, without the rest.
double loss_of(at::Tensor& logits, const at::Tensor& targets) {
  logits.sub_(logits.amax(1, true));
  const double at_targets = logits.gather(1, targets.unsqueeze(1)).sum(at::kDouble).item<double>();
  return logits.exp_().sum(1).log_().sum(at::kDouble).item<double>() - at_targets;
}

struct HeadLoss : torch::autograd::Function<HeadLoss> {
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& hidden,
                            const at::Tensor& /*weight*/, int64_t head_address,
                            const at::Tensor& targets, int64_t chunk, bool wants_gradient) {
    const Linear& head = *as_pointer<Linear>(head_address);
    const bool now = wants_gradient && !head.weight.defined();
    at::Tensor grad_hidden = now ? at::empty(hidden.sizes(), hidden.options()) : at::Tensor();
    double sum = 0;
    for (int64_t first = 0; first < hidden.size(0); first += chunk) {
      const int64_t count = std::min(chunk, hidden.size(0) - first);
      at::Tensor logits = product(head, hidden.narrow(0, first, count)).to(wide_type(hidden));
      const at::Tensor wanted = targets.narrow(0, first, count);
      if (now) {
        sum += to_gradient(logits, wanted);
        grad_hidden.narrow(0, first, count).copy_(head.stored.times(like(logits, hidden)));
      } else {
        sum += loss_of(logits, wanted);
      }
    }
    ctx->saved_data["head"] = head_address;
    ctx->saved_data["chunk"] = chunk;
    ctx->save_for_backward({head.weight.defined() ? hidden : at::Tensor(), grad_hidden, targets});
    return at::full({}, sum, hidden.options().dtype(wide_type(hidden)));
  }

  static variable_list backward(AutogradContext* ctx, const variable_list& grad_outputs) {
    const variable_list saved = ctx->get_saved_variables();
    const Linear& head = *as_pointer<Linear>(ctx->saved_data["head"].toInt());
    const int64_t chunk = ctx->saved_data["chunk"].toInt();
    variable_list grads(6);
    if (!head.weight.defined()) {
      grads[0] = at::mul(saved[1], grad_outputs[0]);
      return grads;
    }
    const at::Tensor& hidden = saved[0];
    grads[0] = at::empty(hidden.sizes(), hidden.options());
    grads[1] = at::zeros(head.weight.sizes(), head.weight.options());
    for (int64_t first = 0; first < hidden.size(0); first += chunk) {
      const int64_t count = std::min(chunk, hidden.size(0) - first);
      const at::Tensor part = hidden.narrow(0, first, count);
      at::Tensor logits = product(head, part).to(wide_type(hidden));
      to_gradient(logits, saved[2].narrow(0, first, count));
      logits = like(logits.mul_(grad_outputs[0]), part);
      grads[0].narrow(0, first, count).copy_(matrix_product(logits, like(head.weight, part)));
      if (part.scalar_type() == wide_type(part)) {
        add_matrix_product(grads[1], logits.t(), part);
      } else {
        grads[1].add_(matrix_product(logits.t(), part));
      }
    }
    return grads;
  }
};

}  // namespace

StoredMatrix::StoredMatrix(at::Tensor dense)
    : dense_(std::move(dense)), rows_(dense_.size(0)), columns_(dense_.size(1)) {}

StoredMatrix::StoredMatrix(std::shared_ptr<const Nf4Matrix> packed)
    : packed_(std::move(packed)), rows_(packed_->rows()), columns_(packed_->columns()) {}

int64_t StoredMatrix::bytes() const {
  if (packed_ != nullptr) {
    return packed_->bytes();
  }
  return dense_.defined() ? dense_.numel() * static_cast<int64_t>(dense_.element_size()) : 0;
}

at::Tensor StoredMatrix::widen(int64_t first, int64_t last, at::ScalarType type) const {
  return (packed_ == nullptr ? dense_.narrow(0, first, last - first) : packed_->widen(first, last))
      .to(type);
}

at::Tensor StoredMatrix::times_transposed(const at::Tensor& x, const at::Tensor& bias) const {
  const at::ScalarType type = x.scalar_type();
  const at::Tensor added = like(bias, x);
  if (packed_ == nullptr && dense_.scalar_type() == type) {
    return with_bias(x, dense_, added);
  }
  at::Tensor out = at::empty({x.size(0), rows_}, x.options());
  const int64_t step = std::max<int64_t>(1, kPieceValues / columns_);
  for (int64_t first = 0; first < rows_; first += step) {
    const int64_t last = std::min(first + step, rows_);
    matrix_product_into(out.narrow(1, first, last - first), x, widen(first, last, type).t(),
                        added.defined() ? added.narrow(0, first, last - first) : added);
  }
  return out;
}

at::Tensor StoredMatrix::times(const at::Tensor& y) const {
  const at::ScalarType type = y.scalar_type();
  if (packed_ == nullptr && dense_.scalar_type() == type) {
    return matrix_product(y, dense_);
  }
  const int64_t step = std::max<int64_t>(1, kPieceValues / columns_);
  if (step >= rows_ && type != wide_type(y)) {
    return matrix_product(y, widen(0, rows_, type));
  }
  // A sum of several pieces is added up in fp32: in bf16 each piece would round it.
  at::Tensor out = at::zeros({y.size(0), columns_}, y.options().dtype(wide_type(y)));
  for (int64_t first = 0; first < rows_; first += step) {
    const int64_t last = std::min(first + step, rows_);
    const at::Tensor part = y.narrow(1, first, last - first);
    if (type == wide_type(y)) {
      add_matrix_product(out, part, widen(first, last, type));
    } else {
      out.add_(matrix_product(part, widen(first, last, type)));
    }
  }
  return out.to(type);
}

at::Tensor StoredMatrix::pick(const at::Tensor& row_ids, at::ScalarType type) const {
  return dense_.index_select(0, row_ids).to(type);
}

at::Tensor Linear::row_lengths() const {
  const at::NoGradGuard without_graph;
  at::Tensor out = at::empty({stored.rows()}, lora_b.options());
  const int64_t step = std::max<int64_t>(1, StoredMatrix::kPieceValues / stored.columns());
  for (int64_t first = 0; first < stored.rows(); first += step) {
    const int64_t count = std::min(step, stored.rows() - first);
    const at::Tensor rows = at::addmm(stored.widen(first, first + count, at::kFloat),
                                      lora_b.narrow(0, first, count), lora_a, 1, scaling);
    out.narrow(0, first, count).copy_(at::linalg_vector_norm(rows, 2, {1}));
  }
  return out;
}

at::Tensor Linear::apply(const Remade& x, bool is_training) const {
  if (magnitude.defined()) {
    return DoraFunction::apply(x.value, lora_a, lora_b, magnitude, as_integer(this), x.again);
  }
  return LinearFunction::apply(x.value, present(weight), present(bias), present(lora_a),
                               present(lora_b), as_integer(this), is_training, x.again);
}

at::Tensor head_loss(const at::Tensor& hidden, const Linear& head, const at::Tensor& targets,
                     int64_t chunk) {
  const bool wants_gradient = at::GradMode::is_enabled() && hidden.requires_grad();
  return HeadLoss::apply(hidden, present(head.weight), as_integer(&head), targets, chunk,
                         wants_gradient);
}

}  // namespace plateau::train
