// SPDX-License-Identifier: Apache-2.0
#include "trainer/model/reference_check.h"

#include <torch/csrc/autograd/autograd.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <utility>

#include "base/json_writer.h"
#include "trainer/model/tensor.h"
#include "trainer/store/weight_names.h"

namespace plateau::train {
namespace {

constexpr double kLossTolerance = 1e-5;
constexpr double kGradientTolerance = 1e-4;

Error bad(const std::filesystem::path& file, const std::string& message) {
  return Error{Error::Kind::bad_input, file.string() + ": " + message};
}

// A copy, because views may be at odd addresses.
at::Tensor tensor_of(const TensorView& view) {
  const at::ScalarType type = view.dtype == DType::i64   ? at::kLong
                              : view.dtype == DType::f64 ? at::kDouble
                                                         : at::kFloat;
  at::Tensor out = at::empty(view.shape, type);
  std::memcpy(out.data_ptr(), view.bytes.data(), view.bytes.size());
  return out;
}

bool is_readable(const TensorView& view) {
  return view.dtype == DType::i64 || view.dtype == DType::f64 || view.dtype == DType::f32;
}

template <typename T>
std::vector<T> values_of(const at::Tensor& tensor) {
  const at::Tensor flat = tensor.contiguous();
  return {flat.data_ptr<T>(), flat.data_ptr<T>() + flat.numel()};
}

// Tensors of a case by name; all of a type that can be read.
struct Case {
  std::map<std::string, at::Tensor> tensors;

  [[nodiscard]] const at::Tensor* find(const std::string& name) const {
    const auto found = tensors.find(name);
    return found == tensors.end() ? nullptr : &found->second;
  }
};

Result<Case> read_case(const std::filesystem::path& file) {
  auto opened = SafetensorsFile::open(file);
  if (!opened) {
    return opened.error();
  }
  Case out;
  for (const TensorView& view : opened.value().tensors()) {
    if (!is_readable(view)) {
      return bad(file, view.name + " is " + std::string(name_of(view.dtype)) +
                           ", cases have F32, F64 and I64 only");
    }
    out.tensors[view.name] = tensor_of(view);
  }
  return out;
}

Result<std::monostate> add_pictures(const Case& stored, const std::filesystem::path& file,
                                    Batch& batch) {
  const at::Tensor* images = stored.find("in/pixel_values");
  const at::Tensor* videos = stored.find("in/pixel_values_videos");
  if (images != nullptr && videos != nullptr) {
    return bad(file, "a case with both images and videos is not supported");
  }
  const at::Tensor* pixels = images != nullptr ? images : videos;
  if (pixels == nullptr) {
    return std::monostate{};
  }
  const at::Tensor* grids =
      stored.find(images != nullptr ? "in/image_grid_thw" : "in/video_grid_thw");
  if (grids == nullptr || grids->dim() != 2 || grids->size(1) != 3 || pixels->dim() != 2 ||
      grids->scalar_type() != at::kLong || pixels->scalar_type() != at::kFloat) {
    return bad(file, "pixel values without a grid of three sides for each");
  }
  batch.patches = values_of<float>(*pixels);
  batch.patch_values = pixels->size(1);
  const std::vector<int64_t> sides = values_of<int64_t>(*grids);
  for (size_t i = 0; i + 2 < sides.size(); i += 3) {
    batch.grids.push_back({sides[i], sides[i + 1], sides[i + 2]});
  }
  if (const at::Tensor* seconds = stored.find("in/second_per_grid_ts"); seconds != nullptr) {
    batch.seconds_per_grid = values_of<double>(seconds->to(at::kDouble));
  }
  return std::monostate{};
}

Result<Batch> batch_of(const Case& stored, const std::filesystem::path& file) {
  const at::Tensor* ids = stored.find("in/input_ids");
  const at::Tensor* mask = stored.find("in/attention_mask");
  const at::Tensor* labels = stored.find("in/labels");
  for (const at::Tensor* tensor : {ids, mask, labels}) {
    if (tensor == nullptr || tensor->dim() != 2 || tensor->scalar_type() != at::kLong ||
        tensor->sizes() != ids->sizes()) {
      return bad(file,
                 "in/input_ids, in/attention_mask and in/labels must be there as I64, rows x "
                 "columns");
    }
  }
  Batch batch;
  batch.rows = ids->size(0);
  batch.columns = ids->size(1);
  batch.ids = values_of<int64_t>(*ids);
  batch.labels = values_of<int64_t>(*labels);
  for (const int64_t value : values_of<int64_t>(*mask)) {
    batch.mask.push_back(value != 0 ? 1 : 0);
    batch.tokens += value != 0 ? 1 : 0;
  }
  if (auto added = add_pictures(stored, file, batch); !added) {
    return added.error();
  }
  return batch;
}

double by(double difference, double stored) {
  return stored > 0 ? difference / stored : difference;
}

double norm_of(const at::Tensor& tensor) {
  return tensor.to(at::kDouble).norm().item<double>();
}

// NaN is worse than any number.
bool is_worse(double error, double so_far) {
  return std::isnan(error) || error >= so_far;
}

// Of the largest difference by the largest stored value, in the chosen rows.
double largest_error(const at::Tensor& ours, const at::Tensor& stored, const at::Tensor& rows) {
  at::Tensor a = ours.to(at::kDouble);
  at::Tensor b = stored.to(at::kDouble);
  if (rows.defined()) {
    a = a.flatten(0, 1).index_select(0, rows);
    b = b.flatten(0, 1).index_select(0, rows);
  }
  return by((a - b).abs().max().item<double>(), b.abs().max().item<double>());
}

at::Tensor valid_rows(const Batch& batch) {
  std::vector<int64_t> rows;
  for (size_t i = 0; i < batch.mask.size(); ++i) {
    if (batch.mask[i] != 0) {
      rows.push_back(static_cast<int64_t>(i));
    }
  }
  return at::tensor(rows, at::kLong);
}

Result<std::monostate> compare_positions(const ModelConfig& config, const Batch& batch,
                                         const Case& stored, ReferenceReport& report) {
  const at::Tensor* positions = stored.find("position_ids");
  const std::vector<int64_t> ours = rope_positions(config, batch);
  if (positions == nullptr || positions->numel() != static_cast<int64_t>(ours.size())) {
    return Error{Error::Kind::bad_input, "the case lacks position_ids of its tokens"};
  }
  report.position_error =
      largest_error(at::tensor(ours, at::kLong).view(positions->sizes()), *positions, {});
  const at::Tensor* deltas = stored.find("rope_deltas");
  for (int64_t row = 0; deltas != nullptr && row < batch.rows; ++row) {
    int64_t largest = 0;
    for (size_t i = 0; i < ours.size(); ++i) {
      const auto place = static_cast<int64_t>(i % batch.ids.size());
      const bool counts = place / batch.columns == row && batch.mask[i % batch.ids.size()] != 0;
      largest = counts ? std::max(largest, ours[i]) : largest;
    }
    const int64_t delta = largest + 1 - batch.columns;
    const int64_t wanted = deltas->flatten()[row].item<int64_t>();
    report.position_error =
        std::max(report.position_error, static_cast<double>(std::abs(delta - wanted)));
  }
  return std::monostate{};
}

Result<std::monostate> compare_outputs(QwenVl& model, const Batch& batch, const Case& stored,
                                       ReferenceReport& report) {
  auto seen = model.inspect(batch);
  if (!seen) {
    return seen.error();
  }
  const at::Tensor rows = valid_rows(batch);
  const at::Tensor* logits = stored.find("logits");
  if (logits == nullptr || logits->sizes() != seen.value().logits->sizes()) {
    return Error{Error::Kind::bad_input, "the case lacks logits of the model's size"};
  }
  report.logit_error = largest_error(*seen.value().logits, *logits, rows);
  for (const auto& [name, tensor] : stored.tensors) {
    if (!name.starts_with("act/")) {
      continue;
    }
    const auto ours = seen.value().activations.find(hub_name(name.substr(4)));
    if (ours == seen.value().activations.end() || ours->second->sizes() != tensor.sizes()) {
      return Error{Error::Kind::bad_input, name + " is not an activation of this model"};
    }
    const bool is_text = tensor.dim() == 3;
    const double error = largest_error(*ours->second, tensor, is_text ? rows : at::Tensor());
    ++report.activations;
    if (is_worse(error, report.activation_error)) {
      report.activation_error = error;
      report.worst_activation = name.substr(4);
    }
  }
  return std::monostate{};
}

// Under either generation of names.
const at::Tensor* find_gradient(const Case& stored, const std::string& name) {
  constexpr std::string_view kPeftPrefix = "base_model.model.";
  if (const at::Tensor* found = stored.find("g/" + name); found != nullptr) {
    return found;
  }
  const std::string prefix(name.starts_with(kPeftPrefix) ? kPeftPrefix : "");
  return stored.find("g/" + prefix + nested_name(name.substr(prefix.size())));
}

Result<std::monostate> compare_gradients(QwenVl& model, const Batch& batch, const Case& stored,
                                         ReferenceReport& report) {
  auto loss = model.forward(batch);
  if (!loss) {
    return loss.error();
  }
  const at::Tensor mean = loss.value().sum->div(static_cast<double>(loss.value().labelled));
  torch::autograd::backward({mean}, {});
  report.loss = mean.item<double>();
  for (const NamedTensor& parameter : model.trainable()) {
    const at::Tensor* wanted = find_gradient(stored, parameter.name);
    if (wanted == nullptr || wanted->sizes() != parameter.tensor->sizes()) {
      return Error{Error::Kind::bad_input, "the case lacks the gradient of " + parameter.name};
    }
    const at::Tensor grad = parameter.tensor->grad().defined() ? parameter.tensor->grad()
                                                               : at::zeros_like(*parameter.tensor);
    const double error = by(norm_of(grad - *wanted), norm_of(*wanted));
    ++report.gradients;
    if (is_worse(error, report.gradient_error)) {
      report.gradient_error = error;
      report.worst_gradient = parameter.name;
    }
  }
  return std::monostate{};
}

}  // namespace

bool ReferenceReport::agrees() const {
  return loss_error <= kLossTolerance && logit_error <= kLossTolerance &&
         gradient_error <= kGradientTolerance && position_error == 0;
}

Result<Batch> read_reference_batch(const std::filesystem::path& case_file) {
  auto stored = read_case(case_file);
  if (!stored) {
    return stored.error();
  }
  return batch_of(stored.value(), case_file);
}

Result<ReferenceReport> check_reference(const std::filesystem::path& model_directory,
                                        const std::filesystem::path& case_file,
                                        ModelOptions options) {
  options.trained = Trained::everything;
  options.storage = BaseStorage::fp32;
  auto config = read_model_config(model_directory);
  if (!config) {
    return config.error();
  }
  auto files = WeightFiles::open(model_directory);
  if (!files) {
    return files.error();
  }
  auto model = QwenVl::load(config.value(), std::make_shared<WeightFiles>(std::move(files.value())),
                            options);
  if (!model) {
    return model.error();
  }
  return check_reference(*model.value(), case_file);
}

Result<ReferenceReport> check_reference(QwenVl& model, const std::filesystem::path& case_file) {
  auto stored = read_case(case_file);
  if (!stored) {
    return stored.error();
  }
  auto batch = batch_of(stored.value(), case_file);
  if (!batch) {
    return batch.error();
  }
  ReferenceReport report;
  const at::Tensor* loss = stored.value().find("loss");
  if (loss == nullptr || loss->numel() != 1) {
    return bad(case_file, "the case lacks its loss");
  }
  try {
    report.stored_loss = loss->item<double>();
    for (const auto& compared :
         {compare_positions(model.config(), batch.value(), stored.value(), report),
          compare_outputs(model, batch.value(), stored.value(), report),
          compare_gradients(model, batch.value(), stored.value(), report)}) {
      if (!compared) {
        return bad(case_file, compared.error().message);
      }
    }
  } catch (const c10::Error& error) {
    return bad(case_file, error.what_without_backtrace());
  }
  report.loss_error = by(std::abs(report.loss - report.stored_loss), std::abs(report.stored_loss));
  return report;
}

std::string reference_json(const ReferenceReport& report) {
  JsonWriter json;
  json.begin_object();
  json.key("loss").value(report.loss).key("stored_loss").value(report.stored_loss);
  json.key("loss_error").value(report.loss_error);
  json.key("position_error").value(report.position_error);
  json.key("activation_error").value(report.activation_error);
  json.key("worst_activation").value(report.worst_activation);
  json.key("activations").value(report.activations);
  json.key("logit_error").value(report.logit_error);
  json.key("gradient_error").value(report.gradient_error);
  json.key("worst_gradient").value(report.worst_gradient);
  json.key("gradients").value(report.gradients);
  json.key("agrees").value(report.agrees());
  json.end_object();
  return json.take();
}

}  // namespace plateau::train
