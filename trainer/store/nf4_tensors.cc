// SPDX-License-Identifier: Apache-2.0
#include "trainer/store/nf4_tensors.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <optional>

#include "trainer/quant/blockwise8.h"

namespace plateau::train {
namespace {

namespace dom = simdjson::dom;

static_assert(std::endian::native == std::endian::little, "tensors are used as they are stored");

constexpr std::string_view kAbsmax = ".absmax";
constexpr std::string_view kMap = ".quant_map";
constexpr std::string_view kNestedAbsmax = ".nested_absmax";
constexpr std::string_view kNestedMap = ".nested_quant_map";
constexpr std::string_view kState = ".quant_state.bitsandbytes__nf4";
// Longest first where one ends with another.
constexpr std::array<std::string_view, 5> kBeside{kNestedAbsmax, kNestedMap, kAbsmax, kMap, kState};

// Makers of files compute the maps in single precision on different machines.
constexpr float kMapTolerance = 1e-6F;

std::string joined(std::string_view name, std::string_view suffix) {
  return std::string(name) + std::string(suffix);
}

struct State {
  std::vector<int64_t> shape;
  bool nested = false;
  double nested_offset = 0;
};

// Collects what belongs to one weight; the first thing that is wrong becomes the error.
class Nf4Reader {
 public:
  Nf4Reader(const WeightFiles& files, std::string_view name) : files_(files), name_(name) {}

  Result<State> describe();
  Result<Nf4Weight> read();

 private:
  [[nodiscard]] Error bad(std::string_view what) const {
    return {Error::Kind::bad_input, fmt::format("NF4 weight \"{}\": {}", name_, what)};
  }
  [[nodiscard]] const TensorView* beside(std::string_view suffix) const {
    return files_.find(joined(name_, suffix));
  }
  // The tensor called `suffix` has `count` values of `dtype`.
  [[nodiscard]] std::optional<Error> check(std::string_view suffix, DType dtype,
                                           int64_t count) const;
  [[nodiscard]] Result<State> parse_state() const;
  [[nodiscard]] std::optional<Error> check_map(std::string_view suffix,
                                               std::span<const float> expected,
                                               float tolerance) const;
  template <typename T>
  [[nodiscard]] std::vector<T> copy(std::string_view suffix) const {
    const TensorView& tensor = *beside(suffix);
    std::vector<T> values(tensor.bytes.size() / sizeof(T));
    if (!values.empty()) std::memcpy(values.data(), tensor.bytes.data(), tensor.bytes.size());
    return values;
  }

  const WeightFiles& files_;
  std::string name_;
};

std::optional<Error> Nf4Reader::check(std::string_view suffix, DType dtype, int64_t count) const {
  const TensorView* tensor = beside(suffix);
  if (tensor == nullptr) return bad(fmt::format("\"{}{}\" is missing", name_, suffix));
  if (tensor->dtype != dtype || tensor->elements() != count) {
    return bad(fmt::format("\"{}{}\" has {} values of {}, expected {} of {}", name_, suffix,
                           tensor->elements(), name_of(tensor->dtype), count, name_of(dtype)));
  }
  return std::nullopt;
}

Result<State> Nf4Reader::parse_state() const {
  const TensorView* tensor = beside(kState);
  if (tensor == nullptr) return bad("its quant_state is missing");
  if (tensor->dtype != DType::u8) return bad("its quant_state is not U8");
  const simdjson::padded_string text(reinterpret_cast<const char*>(tensor->bytes.data()),
                                     tensor->bytes.size());
  dom::parser parser;
  dom::object root;
  if (parser.parse(text).get(root) != simdjson::SUCCESS) {
    return bad("its quant_state is not a JSON object");
  }
  std::string_view type;
  int64_t block = 0;
  if (root["quant_type"].get(type) != simdjson::SUCCESS || type != "nf4" ||
      root["blocksize"].get(block) != simdjson::SUCCESS || block != kNf4Block) {
    return bad(fmt::format("supported is only quant_type nf4 with blocksize {}", kNf4Block));
  }
  State state;
  dom::array shape;
  int64_t elements = 1;
  if (root["shape"].get(shape) != simdjson::SUCCESS || shape.size() == 0) {
    return bad("its quant_state has no shape");
  }
  for (const dom::element dimension : shape) {
    int64_t size = 0;
    if (dimension.get(size) != simdjson::SUCCESS || size <= 0 ||
        __builtin_mul_overflow(elements, size, &elements)) {
      return bad("its quant_state has a shape that cannot be");
    }
    state.shape.push_back(size);
  }
  state.nested = root["nested_offset"].get(state.nested_offset) == simdjson::SUCCESS;
  if (state.nested && (root["nested_blocksize"].get(block) != simdjson::SUCCESS ||
                       block != kNestedBlock || !std::isfinite(state.nested_offset))) {
    return bad(fmt::format("supported is only a nested_blocksize of {}", kNestedBlock));
  }
  return state;
}

std::optional<Error> Nf4Reader::check_map(std::string_view suffix, std::span<const float> expected,
                                          float tolerance) const {
  if (auto error = check(suffix, DType::f32, static_cast<int64_t>(expected.size()))) return error;
  const std::vector<float> values = copy<float>(suffix);
  for (size_t i = 0; i < values.size(); ++i) {
    if (!(std::fabs(values[i] - expected[i]) <= tolerance * std::fabs(expected[i]))) {
      return bad(
          fmt::format("\"{}{}\"[{}] is {}, expected {}", name_, suffix, i, values[i], expected[i]));
    }
  }
  return std::nullopt;
}

Result<State> Nf4Reader::describe() {
  Result<State> state = parse_state();
  if (!state.ok()) return state;
  int64_t elements = 1;
  for (const int64_t size : state.value().shape) elements *= size;
  const int64_t blocks = elements / kNf4Block + (elements % kNf4Block != 0 ? 1 : 0);
  if (auto error = check("", DType::u8, elements / 2 + elements % 2)) return *error;
  if (auto error = check_map(kMap, kNf4Values, 0)) return *error;
  const DType scale_type = state.value().nested ? DType::u8 : DType::f32;
  if (auto error = check(kAbsmax, scale_type, blocks)) return *error;
  if (state.value().nested) {
    const int64_t groups = blocks / kNestedBlock + (blocks % kNestedBlock != 0 ? 1 : 0);
    if (auto error = check(kNestedAbsmax, DType::f32, groups)) return *error;
    if (auto error = check_map(kNestedMap, dynamic_map(true), kMapTolerance)) return *error;
  }
  return state;
}

Result<Nf4Weight> Nf4Reader::read() {
  const Result<State> state = describe();
  if (!state.ok()) return state.error();
  Nf4Weight weight;
  weight.shape = state.value().shape;
  weight.packed = copy<uint8_t>("");
  if (!state.value().nested) {
    weight.absmax = copy<float>(kAbsmax);
    return weight;
  }
  weight.nested_codes = copy<uint8_t>(kAbsmax);
  weight.nested_absmax = copy<float>(kNestedAbsmax);
  weight.nested_offset = static_cast<float>(state.value().nested_offset);
  std::vector<float> map = copy<float>(kNestedMap);
  if (!std::equal(map.begin(), map.end(), dynamic_map(true).begin())) {
    weight.nested_map = std::move(map);
  }
  return weight;
}

template <typename T>
TensorView view_of(std::string name, DType dtype, std::vector<int64_t> shape,
                   std::span<const T> values) {
  return {.name = std::move(name),
          .dtype = dtype,
          .shape = std::move(shape),
          .bytes = std::as_bytes(values)};
}

}  // namespace

bool is_nf4(const WeightFiles& files, std::string_view name) {
  return files.find(joined(name, kState)) != nullptr;
}

std::string_view nf4_owner(std::string_view name) {
  for (const std::string_view suffix : kBeside) {
    if (name.ends_with(suffix)) return name.substr(0, name.size() - suffix.size());
  }
  return {};
}

Result<std::vector<int64_t>> nf4_shape(const WeightFiles& files, std::string_view name) {
  Result<State> state = Nf4Reader(files, name).describe();
  if (!state.ok()) return state.error();
  return std::move(state.value().shape);
}

Result<Nf4Weight> read_nf4(const WeightFiles& files, std::string_view name) {
  return Nf4Reader(files, name).read();
}

Nf4Tensors nf4_tensors(const Nf4Weight& weight, std::string_view name, std::string_view dtype) {
  Nf4Tensors tensors;
  const std::string json = nf4_state_json(weight, dtype);
  tensors.state.resize(json.size());
  std::memcpy(tensors.state.data(), json.data(), json.size());
  const auto add = [&]<typename T>(std::string_view suffix, DType type, std::span<const T> values) {
    tensors.views.push_back(
        view_of(joined(name, suffix), type, {static_cast<int64_t>(values.size())}, values));
  };
  add("", DType::u8, std::span<const uint8_t>(weight.packed));
  tensors.views.back().shape.push_back(1);
  if (weight.nested()) {
    add(kAbsmax, DType::u8, std::span<const uint8_t>(weight.nested_codes));
  } else {
    add(kAbsmax, DType::f32, std::span<const float>(weight.absmax));
  }
  add(kMap, DType::f32, std::span<const float>(kNf4Values));
  if (weight.nested()) {
    add(kNestedAbsmax, DType::f32, std::span<const float>(weight.nested_absmax));
    add(kNestedMap, DType::f32,
        weight.nested_map.empty() ? std::span<const float>(dynamic_map(true))
                                  : std::span<const float>(weight.nested_map));
  }
  add(kState, DType::u8,
      std::span<const uint8_t>(reinterpret_cast<const uint8_t*>(tensors.state.data()),
                               tensors.state.size()));
  return tensors;
}

}  // namespace plateau::train
