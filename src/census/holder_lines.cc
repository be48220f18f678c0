// SPDX-License-Identifier: Apache-2.0
#include "census/holder_lines.h"

#include <algorithm>
#include <map>

#include "census/adding_lines.h"
#include "census/python_text.h"

namespace plateau {
namespace {

constexpr size_t kMostLines = 8;  // Of a holder.

std::string_view class_of(std::string_view path) {
  const size_t last = path.rfind('.');
  if (last == std::string_view::npos) return {};
  const std::string_view before = path.substr(0, last);
  return before.substr(before.rfind('.') + 1);
}

class LineNamer {
 public:
  LineNamer(MemoryReader& memory, const PythonLayout& layout, const Roots& roots,
            const ProgramText& text)
      : memory_(memory), layout_(layout), roots_(roots), text_(text) {}

  void name(Holder& holder) {
    const auto wanted = wanted_of(holder);
    if (!wanted) return;
    std::vector<std::string> files = {holder.file};
    if (wanted->scope == GrowingName::Scope::attribute && !holder.owner.empty()) {
      const std::string file = file_of_class(holder.owner);
      if (file != holder.file) files.insert(files.begin(), file);
    }
    for (const std::string& file : files) {
      if (!holder.added_at.empty()) return;
      const auto& source = source_of(file);
      if (!source) continue;
      for (const AddingLine& each : find_adding_lines(*source, *wanted)) {
        if (holder.added_at.size() == kMostLines) break;
        holder.added_at.push_back({file, each.line, each.made_line});
      }
    }
  }

 private:
  static std::optional<GrowingName> wanted_of(const Holder& holder) {
    if (holder.chain || holder.path.empty()) return std::nullopt;
    GrowingName wanted{.path = holder.path, .function = holder.function, .owner = holder.owner};
    // Images take more memory where they are, whoever put them there.
    wanted.assigned = holder.grew() == 0 && !holder.holds.empty() &&
                      holder.holds.front().type.starts_with("PIL.");
    wanted.line = holder.line;
    switch (holder.kind) {
      case HolderKind::global:
        wanted.scope = GrowingName::Scope::module;
        break;
      case HolderKind::class_attribute:
        wanted.owner = class_of(holder.path);
        break;
      case HolderKind::local:
        wanted.scope = GrowingName::Scope::function;
        break;
      case HolderKind::closure:
        wanted.scope = GrowingName::Scope::enclosing;
        break;
      case HolderKind::lru_cache:
      case HolderKind::thread:
      case HolderKind::temporary:
      case HolderKind::unseen:
        return std::nullopt;
    }
    // Something of an object or a table may be filled in any function.
    const bool plain = holder.path.find_first_of(".'") == std::string::npos;
    if (!plain) wanted.scope = GrowingName::Scope::attribute;
    return wanted;
  }

  // Of "package.module.Class": that of the longest name in front that is a module.
  std::string file_of_class(const std::string& owner) {
    if (modules_.empty()) {
      for (const ModuleRoot& module : roots_.modules) {
        if (auto name = read_python_str(memory_, layout_, module.name)) {
          modules_.emplace(std::move(*name), module.dict);
        }
      }
    }
    for (size_t dot = owner.rfind('.'); dot != std::string::npos && dot > 0;
         dot = owner.rfind('.', dot - 1)) {
      const auto found = modules_.find(owner.substr(0, dot));
      if (found == modules_.end()) continue;
      const auto file = find_in_dict(memory_, layout_, found->second, "__file__");
      if (!file) return "";
      return read_python_str(memory_, layout_, *file).value_or("");
    }
    return "";
  }

  const std::optional<std::string>& source_of(const std::string& file) {
    const auto [known, fresh] = sources_.try_emplace(file);
    if (fresh && !file.empty()) known->second = text_(file);
    return known->second;
  }

  MemoryReader& memory_;
  const PythonLayout& layout_;
  const Roots& roots_;
  const ProgramText& text_;
  std::map<std::string, uint64_t> modules_;
  std::map<std::string, std::optional<std::string>> sources_;
};

}  // namespace

void name_lines(MemoryReader& memory, const PythonLayout& layout, const Roots& roots,
                const ProgramText& text, std::vector<Holder>& holders) {
  LineNamer namer(memory, layout, roots, text);
  for (Holder& holder : holders) namer.name(holder);
}

}  // namespace plateau
