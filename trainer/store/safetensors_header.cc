// SPDX-License-Identifier: Apache-2.0
// The header of a safetensors file, from bytes to views that are safe to follow.
//
// The header is foreign: each number in it is a claim about memory that is read later. So each is
// checked against the one thing that is known, the length of the file, and all arithmetic on
// claims is checked for overflow first. Worked case: shape [2^32, 2^32] of F32 is 2^66 bytes, which
// wraps to 0 in 64 bits and would agree with an empty range.
//
// Blind spot: values. A file whose sizes agree may still hold NaN; who uses the weights finds out.
#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <optional>
#include <unordered_set>

#include "trainer/store/safetensors.h"

namespace plateau::train {
namespace {

namespace dom = simdjson::dom;

constexpr uint64_t kLengthBytes = 8;
constexpr uint64_t kMaxHeaderBytes = 100'000'000;  // The limit of the format's own library.
constexpr std::string_view kMetadataKey = "__metadata__";

struct DTypeFacts {
  std::string_view name;
  size_t bytes;
};
// In the order of the enum.
constexpr std::array<DTypeFacts, 13> kDTypes{{{"BOOL", 1},
                                              {"U8", 1},
                                              {"I8", 1},
                                              {"I16", 2},
                                              {"U16", 2},
                                              {"F16", 2},
                                              {"BF16", 2},
                                              {"I32", 4},
                                              {"U32", 4},
                                              {"F32", 4},
                                              {"F64", 8},
                                              {"I64", 8},
                                              {"U64", 8}}};

std::optional<DType> dtype_named(std::string_view name) {
  for (size_t i = 0; i < kDTypes.size(); ++i) {
    if (kDTypes[i].name == name) return static_cast<DType>(i);
  }
  return std::nullopt;
}

Error bad(const std::string& file, std::string_view what) {
  return {Error::Kind::bad_input, fmt::format("{}: {}", file, what)};
}

// Where a tensor's bytes are, relative to the end of the header.
struct Extent {
  uint64_t begin = 0;
  uint64_t end = 0;
};

struct Claim {
  TensorView view;  // Without bytes.
  Extent extent;
};

// The bytes that `shape` and `dtype` need; nothing if they do not fit in 63 bits. A dimension of 0
// does not excuse one that is absurd.
std::optional<uint64_t> bytes_needed(const std::vector<int64_t>& shape, DType dtype) {
  int64_t bytes = static_cast<int64_t>(bytes_of(dtype));
  bool empty = false;
  for (const int64_t size : shape) {
    empty = empty || size == 0;
    if (size != 0 && __builtin_mul_overflow(bytes, size, &bytes)) return std::nullopt;
  }
  return empty ? 0 : static_cast<uint64_t>(bytes);
}

// Reads one entry of the header's object.
Result<Claim> read_claim(std::string_view name, dom::element element, const std::string& file) {
  const auto wrong = [&](std::string_view what) {
    return bad(file, fmt::format("tensor \"{}\": {}", name, what));
  };
  dom::object entry;
  if (element.get(entry) != simdjson::SUCCESS) return wrong("its entry is not an object");
  Claim claim;
  claim.view.name = name;

  std::string_view dtype_name;
  if (entry["dtype"].get(dtype_name) != simdjson::SUCCESS) return wrong("has no \"dtype\"");
  const std::optional<DType> dtype = dtype_named(dtype_name);
  if (!dtype) return wrong(fmt::format("dtype \"{}\" is not supported", dtype_name));
  claim.view.dtype = *dtype;

  dom::array shape;
  if (entry["shape"].get(shape) != simdjson::SUCCESS) return wrong("has no \"shape\"");
  for (const dom::element dimension : shape) {
    int64_t size = 0;
    if (dimension.get(size) != simdjson::SUCCESS || size < 0) {
      return wrong("a dimension of its shape is not a whole number from 0 on");
    }
    claim.view.shape.push_back(size);
  }

  dom::array offsets;
  if (entry["data_offsets"].get(offsets) != simdjson::SUCCESS || offsets.size() != 2 ||
      offsets.at(0).get(claim.extent.begin) != simdjson::SUCCESS ||
      offsets.at(1).get(claim.extent.end) != simdjson::SUCCESS) {
    return wrong("\"data_offsets\" is not a pair of whole numbers from 0 on");
  }
  if (claim.extent.begin > claim.extent.end) return wrong("its data ends before it begins");
  const std::optional<uint64_t> needed = bytes_needed(claim.view.shape, *dtype);
  if (!needed) return wrong("its shape is too large for any file");
  const uint64_t stored = claim.extent.end - claim.extent.begin;
  if (*needed != stored) {
    return wrong(fmt::format("its shape needs {} bytes, its data has {}", *needed, stored));
  }
  return claim;
}

Result<Metadata> read_metadata(dom::element element, const std::string& file) {
  dom::object object;
  if (element.get(object) != simdjson::SUCCESS) return bad(file, "__metadata__ is not an object");
  Metadata metadata;
  for (const dom::key_value_pair field : object) {
    std::string_view text;
    if (field.value.get(text) != simdjson::SUCCESS) {
      return bad(file, fmt::format("__metadata__: \"{}\" is not a string", field.key));
    }
    if (!metadata.emplace(field.key, text).second) {
      return bad(file, fmt::format("__metadata__: \"{}\" stands twice", field.key));
    }
  }
  return metadata;
}

// The data is covered once and entirely: no holes, no overlap, nothing behind the last tensor.
std::optional<Error> check_cover(const std::vector<Claim>& claims, uint64_t data_bytes,
                                 const std::string& file) {
  uint64_t covered = 0;
  for (const Claim& claim : claims) {
    if (claim.extent.begin != covered) {
      return bad(file, fmt::format("tensor \"{}\" begins at byte {} of the data, expected {}",
                                   claim.view.name, claim.extent.begin, covered));
    }
    covered = claim.extent.end;
    if (covered > data_bytes) {
      return bad(file,
                 fmt::format("tensor \"{}\" ends at byte {} of the data, which has {}: the file is "
                             "cut short",
                             claim.view.name, covered, data_bytes));
    }
  }
  if (covered != data_bytes) {
    return bad(file,
               fmt::format("the tensors fill {} bytes, the data has {}", covered, data_bytes));
  }
  return std::nullopt;
}

// Everything that the JSON says, in the order of the data.
Result<std::vector<Claim>> read_claims(dom::object root, Metadata& metadata,
                                       const std::string& file) {
  std::vector<Claim> claims;
  std::unordered_set<std::string_view> names;
  for (const dom::key_value_pair field : root) {
    if (!names.insert(field.key).second) {
      return bad(file, fmt::format("tensor \"{}\" stands twice", field.key));
    }
    if (field.key == kMetadataKey) {
      Result<Metadata> read = read_metadata(field.value, file);
      if (!read.ok()) return read.error();
      metadata = std::move(read.value());
      continue;
    }
    Result<Claim> claim = read_claim(field.key, field.value, file);
    if (!claim.ok()) return claim.error();
    claims.push_back(std::move(claim.value()));
  }
  std::stable_sort(claims.begin(), claims.end(), [](const Claim& a, const Claim& b) {
    return a.extent.begin != b.extent.begin ? a.extent.begin < b.extent.begin
                                            : a.extent.end < b.extent.end;
  });
  return claims;
}

// Little-endian, whatever the machine is.
uint64_t read_length(std::span<const std::byte> file) {
  uint64_t length = 0;
  for (size_t i = 0; i < kLengthBytes; ++i) {
    length |= static_cast<uint64_t>(file[i]) << (8 * i);
  }
  return length;
}

}  // namespace

size_t bytes_of(DType dtype) {
  return kDTypes[static_cast<size_t>(dtype)].bytes;
}

std::string_view name_of(DType dtype) {
  return kDTypes[static_cast<size_t>(dtype)].name;
}

int64_t TensorView::elements() const {
  return std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>());
}

Result<SafetensorsHeader> parse_safetensors(std::span<const std::byte> file,
                                            const std::string& name) {
  if (file.size() < kLengthBytes) {
    return bad(name, fmt::format("{} bytes are too few for a safetensors file", file.size()));
  }
  const uint64_t header_bytes = read_length(file);
  if (header_bytes > kMaxHeaderBytes) {
    return bad(name,
               fmt::format("no safetensors file: its first 8 bytes claim a header of {} bytes",
                           header_bytes));
  }
  if (header_bytes > file.size() - kLengthBytes) {
    return bad(name, fmt::format("the header has {} bytes, the file only {} more: it is cut short",
                                 header_bytes, file.size() - kLengthBytes));
  }
  const std::span<const std::byte> json = file.subspan(kLengthBytes, header_bytes);
  const std::span<const std::byte> data = file.subspan(kLengthBytes + header_bytes);
  if (json.empty() || json[0] != std::byte{'{'}) {
    return bad(name, "no safetensors file: its header does not begin with {");
  }
  // A copy, because simdjson reads a few bytes past the end.
  const simdjson::padded_string padded(reinterpret_cast<const char*>(json.data()), json.size());
  dom::parser parser;
  dom::object root;
  const auto failed = parser.parse(padded).get(root);
  if (failed != simdjson::SUCCESS) {
    return bad(name, fmt::format("its header is not JSON: {}", simdjson::error_message(failed)));
  }
  SafetensorsHeader header;
  Result<std::vector<Claim>> claims = read_claims(root, header.metadata, name);
  if (!claims.ok()) return claims.error();
  if (std::optional<Error> error = check_cover(claims.value(), data.size(), name)) return *error;
  header.tensors.reserve(claims.value().size());
  for (Claim& claim : claims.value()) {
    claim.view.bytes = data.subspan(claim.extent.begin, claim.extent.end - claim.extent.begin);
    header.tensors.push_back(std::move(claim.view));
  }
  return header;
}

}  // namespace plateau::train
