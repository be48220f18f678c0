// SPDX-License-Identifier: Apache-2.0
// Writes profile.proto (base/proto_message.h has how). All texts stand in one table whose entry 0
// is empty; functions, locations and mappings have ids from 1 on.
#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "base/compression.h"
#include "base/proto_message.h"
#include "base/utf8.h"
#include "profile/export.h"

namespace plateau {
namespace {

// Field numbers of profile.proto.
namespace field {
// Profile
constexpr uint32_t kSampleType = 1;
constexpr uint32_t kSample = 2;
constexpr uint32_t kMapping = 3;
constexpr uint32_t kLocation = 4;
constexpr uint32_t kFunction = 5;
constexpr uint32_t kString = 6;
constexpr uint32_t kPeriodType = 11;
constexpr uint32_t kPeriod = 12;
constexpr uint32_t kComment = 13;
constexpr uint32_t kDefaultSampleType = 14;
// ValueType
constexpr uint32_t kType = 1;
constexpr uint32_t kUnit = 2;
// Sample
constexpr uint32_t kLocationId = 1;
constexpr uint32_t kValue = 2;
// Mapping
constexpr uint32_t kMappingId = 1;
constexpr uint32_t kStart = 2;
constexpr uint32_t kLimit = 3;
constexpr uint32_t kFileName = 5;
constexpr uint32_t kBuildId = 6;
constexpr uint32_t kHasFunctions = 7;
constexpr uint32_t kHasFileNames = 8;
constexpr uint32_t kHasLines = 9;
constexpr uint32_t kHasInlined = 10;
// Location
constexpr uint32_t kId = 1;
constexpr uint32_t kItsMapping = 2;
constexpr uint32_t kAddress = 3;
constexpr uint32_t kLine = 4;
// Line
constexpr uint32_t kFunctionId = 1;
constexpr uint32_t kLineNumber = 2;
// Function
constexpr uint32_t kItsId = 1;
constexpr uint32_t kName = 2;
constexpr uint32_t kSystemName = 3;
constexpr uint32_t kSource = 4;
}  // namespace field

std::string hex(std::string_view bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const char c : bytes) {
    text += kDigits[static_cast<unsigned char>(c) >> 4];
    text += kDigits[static_cast<unsigned char>(c) & 15];
  }
  return text;
}

// Strings of a message must be UTF-8, or strict readers refuse all of it.
std::string as_utf8(std::string_view text) {
  std::string clean;
  while (!text.empty()) {
    const CodePoint next = decode_utf8(text);
    append_utf8(clean, next.value);
    text.remove_prefix(next.bytes);
  }
  return clean;
}

std::string_view file_name(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

uint64_t whole(double value) {
  constexpr double kMost = 9e18;
  return static_cast<uint64_t>(static_cast<int64_t>(std::clamp(std::round(value), -kMost, kMost)));
}

// Ids from 1 on, in order of first use.
template <typename Key>
class Ids {
 public:
  // The id, and whether it is new.
  std::pair<uint64_t, bool> of(const Key& key) {
    const auto [found, fresh] = ids_.try_emplace(key, ids_.size() + 1);
    return {found->second, fresh};
  }

 private:
  std::map<Key, uint64_t> ids_;
};

class PprofBuilder {
 public:
  explicit PprofBuilder(const ExportProfile& profile) : profile_(profile) { text_id(""); }

  std::string build() {
    value_type(field::kSampleType, "inuse_objects", "count");
    value_type(field::kSampleType, "inuse_space", "bytes");
    value_type(field::kSampleType, "growth", "bytes");
    add_program();
    for (const ExportStack& stack : profile_.stacks) add_sample(stack);
    if (profile_.interval_bytes > 0) {
      value_type(field::kPeriodType, "space", "bytes");
      out_.number(field::kPeriod, whole(profile_.interval_bytes));
    }
    if (!profile_.name.empty()) out_.number(field::kComment, text_id(profile_.name));
    out_.number(field::kDefaultSampleType, text_id("inuse_space"));
    for (const std::string& text : texts_) out_.bytes(field::kString, text);
    return out_.text();
  }

 private:
  using FunctionKey = std::pair<std::string, std::string>;                   // Name, file.
  using LineKey = std::pair<uint64_t, int>;                                  // Function, line.
  using LocationKey = std::tuple<uint64_t, uint64_t, std::vector<LineKey>>;  // Mapping, address.

  uint64_t text_id(const std::string& text) {
    const auto [id, fresh] = text_ids_.of(text);
    if (fresh) texts_.push_back(as_utf8(text));
    return id - 1;
  }

  void value_type(uint32_t name, const std::string& type, const std::string& unit) {
    out_.message(
        name,
        ProtoMessage().number(field::kType, text_id(type)).number(field::kUnit, text_id(unit)));
  }

  LineKey line_of(const FrameName& frame) {
    const std::string name = frame.function.empty() ? frame_title(frame) : frame.function;
    const auto [id, fresh] = functions_.of({name, frame.file});
    if (fresh) {
      out_.message(field::kFunction, ProtoMessage()
                                         .number(field::kItsId, id)
                                         .number(field::kName, text_id(name))
                                         .number(field::kSystemName, text_id(name))
                                         .number(field::kSource, text_id(frame.file)));
    }
    return {id, frame.line};
  }

  // The module of a native frame; null for Python and for modules that are not listed.
  [[nodiscard]] const HeapModule* module_of(const FrameName& frame) const {
    if (frame.module.empty()) return nullptr;
    const auto found = std::ranges::find_if(profile_.modules, [&](const HeapModule& module) {
      return file_name(module.path) == frame.module && frame.offset + module.bias >= module.begin &&
             frame.offset + module.bias < module.end;
    });
    return found == profile_.modules.end() ? nullptr : &*found;
  }

  uint64_t mapping_id(const HeapModule& module) {
    const auto [id, fresh] = mappings_.of({module.begin, module.path});
    if (fresh) {
      out_.message(field::kMapping, ProtoMessage()
                                        .number(field::kMappingId, id)
                                        .number(field::kStart, module.begin)
                                        .number(field::kLimit, module.end)
                                        .number(field::kFileName, text_id(module.path))
                                        .number(field::kBuildId, text_id(hex(module.build_id)))
                                        .number(field::kHasFunctions, 1)
                                        .number(field::kHasFileNames, 1)
                                        .number(field::kHasLines, 1)
                                        .number(field::kHasInlined, 1));
    }
    return id;
  }

  // pprof takes the first mapping for the program: the one in which the first stack begins.
  void add_program() {
    for (const ExportStack& stack : profile_.stacks) {
      const HeapModule* module = stack.frames.empty() ? nullptr : module_of(stack.frames.front());
      if (module == nullptr) continue;
      mapping_id(*module);
      return;
    }
  }

  // `lines` innermost first; the last is the function itself.
  uint64_t location_id(const std::vector<LineKey>& lines, const FrameName& function) {
    const HeapModule* module = module_of(function);
    const uint64_t mapping = module == nullptr ? 0 : mapping_id(*module);
    const uint64_t address = module == nullptr ? 0 : function.offset + module->bias;
    const auto [id, fresh] = locations_.of({mapping, address, lines});
    if (fresh) {
      ProtoMessage location;
      location.number(field::kId, id)
          .number(field::kItsMapping, mapping)
          .number(field::kAddress, address);
      for (const auto& [its_function, line] : lines) {
        location.message(field::kLine,
                         ProtoMessage()
                             .number(field::kFunctionId, its_function)
                             .number(field::kLineNumber, static_cast<uint64_t>(std::max(line, 0))));
      }
      out_.message(field::kLocation, location);
    }
    return id;
  }

  void add_sample(const ExportStack& stack) {
    std::vector<uint64_t> locations;  // Leaf first.
    std::vector<LineKey> lines;
    for (size_t i = stack.frames.size(); i-- > 0;) {
      lines.push_back(line_of(stack.frames[i]));
      // An inlined call belongs to the location of the frame outside of it.
      if (stack.frames[i].kind == FrameKind::inlined && i > 0) continue;
      locations.push_back(location_id(std::exchange(lines, {}), stack.frames[i]));
    }
    if (locations.empty()) {
      const FrameName none{.function = "(no stack)"};
      locations.push_back(location_id({line_of(none)}, none));
    }
    out_.message(field::kSample,
                 ProtoMessage()
                     .packed(field::kLocationId, locations)
                     .packed(field::kValue,
                             {whole(stack.blocks), whole(stack.bytes), whole(stack.growth_bytes)}));
  }

  const ExportProfile& profile_;
  ProtoMessage out_;
  std::vector<std::string> texts_;
  Ids<std::string> text_ids_;
  Ids<FunctionKey> functions_;
  Ids<LocationKey> locations_;
  Ids<std::pair<uint64_t, std::string>> mappings_;
};

constexpr int kLevel = 6;  // zlib's own choice.

}  // namespace

std::string export_pprof(const ExportProfile& profile) {
  return gzipped(PprofBuilder(profile).build(), kLevel);
}

}  // namespace plateau
