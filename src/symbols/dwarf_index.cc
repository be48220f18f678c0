// SPDX-License-Identifier: Apache-2.0
// Answers "which functions are at this address" in microseconds.
//
// libdw can be asked directly (dwarf_getscopes), but walks the tree of a unit for every address: in
// the order of 25 ms each. So we walk a unit once and keep what addresses need. A file is a list of
// units with address ranges; that list is made first and is small. The first address in a unit
// makes its index: every function and inlined call with its ranges, painted over each other from
// the outside in, which leaves a sorted list of "from here on the innermost is X". An address then
// costs two binary searches, plus one in libdw's line table.
//
// Worked case: f covers [100, 200), and g is inlined into it at [120, 140), called from line 7. The
// painted list is (100 f) (120 g) (140 f) (200 none). Address 130: g at the line that the line
// table gives for 130, inlined into f at line 7.
//
// Memory: only units that were asked for, and when their indexes and line tables together pass a
// bound (kMostBytes) all of it is dropped and begun anew. Names are read when they are asked for.
//
// Blind spots: member functions that the compiler describes inside a class (the symbol table still
// names them); units without address ranges of their own.
#include "symbols/dwarf_index.h"

#include <dwarf.h>
#include <elfutils/libdw.h>

#include <algorithm>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>

namespace plateau {
namespace {

constexpr uint32_t kNone = UINT32_MAX;
constexpr int kMostDepth = 256;                     // Of the tree; deeper only if damaged.
constexpr size_t kMostFunctions = size_t{1} << 22;  // Of one unit.
constexpr size_t kLineBytes = 64;                   // What libdw keeps per row of lines.
constexpr size_t kSymbolBytes = 96;                 // What a remembered name costs beside its text.
constexpr uint64_t kFewestRealAddress = 2;          // Linkers put 0 or 1 where code was dropped.

struct UnitFunction {
  void* die = nullptr;     // Its place in the debug information.
  uint32_t outer = kNone;  // The function that it is inlined into.
  uint32_t call_file = 0;
  int call_line = 0;
  bool inlined = false;
};

struct Range {
  uint64_t begin = 0;
  uint64_t end = 0;
  uint32_t owner = 0;  // A unit or a function.
  uint32_t depth = 0;
};

struct Paint {
  uint64_t begin = 0;
  uint32_t owner = kNone;
};

void add_ranges(Dwarf_Die* die, uint32_t owner, uint32_t depth, std::vector<Range>& out) {
  Dwarf_Addr base = 0;
  Dwarf_Addr begin = 0;
  Dwarf_Addr end = 0;
  ptrdiff_t at = 0;
  while ((at = dwarf_ranges(die, at, &base, &begin, &end)) > 0) {
    if (begin < kFewestRealAddress || end <= begin) continue;
    out.push_back({.begin = begin, .end = end, .owner = owner, .depth = depth});
  }
}

// The painted list of ranges that nest. Ranges that overlap otherwise, which only damage gives, are
// cut at the end of what they began in.
std::vector<Paint> painted(std::vector<Range> ranges) {
  std::ranges::sort(ranges, [](const Range& a, const Range& b) {
    if (a.begin != b.begin) return a.begin < b.begin;
    if (a.end != b.end) return a.end > b.end;
    return a.depth < b.depth;
  });
  std::vector<Paint> list;
  const auto paint = [&](uint64_t begin, uint32_t owner) {
    if (!list.empty() && list.back().begin == begin) {
      list.back().owner = owner;
    } else {
      list.push_back({.begin = begin, .owner = owner});
    }
  };
  std::vector<Range> open;
  const auto close_until = [&](uint64_t address) {
    while (!open.empty() && open.back().end <= address) {
      const uint64_t end = open.back().end;
      open.pop_back();
      paint(end, open.empty() ? kNone : open.back().owner);
    }
  };
  for (Range range : ranges) {
    close_until(range.begin);
    if (!open.empty()) range.end = std::min(range.end, open.back().end);
    paint(range.begin, range.owner);
    open.push_back(range);
  }
  close_until(UINT64_MAX);
  return list;
}

uint32_t owner_at(const std::vector<Paint>& list, uint64_t address) {
  const auto next = std::ranges::upper_bound(list, address, {}, &Paint::begin);
  return next == list.begin() ? kNone : std::prev(next)->owner;
}

std::optional<uint64_t> number_of(Dwarf_Die* die, unsigned name) {
  Dwarf_Attribute attribute;
  Dwarf_Word value = 0;
  if (dwarf_attr(die, name, &attribute) == nullptr) return std::nullopt;
  if (dwarf_formudata(&attribute, &value) != 0) return std::nullopt;
  return value;
}

std::string symbol_of(Dwarf_Die* die) {
  for (const unsigned name : {DW_AT_linkage_name, DW_AT_MIPS_linkage_name}) {
    Dwarf_Attribute attribute;
    const char* text = dwarf_formstring(dwarf_attr_integrate(die, name, &attribute));
    if (text != nullptr) return text;
  }
  const char* text = dwarf_diename(die);
  return text == nullptr ? std::string() : std::string(text);
}

// What can stand between a unit and its functions. Types are left out: they are most of a C++ unit.
bool may_hold_functions(int tag) {
  switch (tag) {
    case DW_TAG_subprogram:
    case DW_TAG_inlined_subroutine:
    case DW_TAG_lexical_block:
    case DW_TAG_namespace:
    case DW_TAG_module:
    case DW_TAG_try_block:
    case DW_TAG_catch_block:
    case DW_TAG_with_stmt:
    case DW_TAG_common_block:
      return true;
    default:
      return false;
  }
}

// Walks a unit once.
class UnitWalk {
 public:
  std::vector<UnitFunction> functions;
  std::vector<Range> ranges;

  void walk(Dwarf_Die* parent, uint32_t outer, int depth) {
    Dwarf_Die die;
    if (depth > kMostDepth || dwarf_child(parent, &die) != 0) return;
    do {
      const int tag = dwarf_tag(&die);
      if (!may_hold_functions(tag) || functions.size() >= kMostFunctions) continue;
      uint32_t inside = outer;
      if (tag == DW_TAG_subprogram) inside = add(&die, kNone, false, depth);
      if (tag == DW_TAG_inlined_subroutine) inside = add(&die, outer, true, depth);
      if (dwarf_haschildren(&die) > 0) walk(&die, inside, depth + 1);
    } while (dwarf_siblingof(&die, &die) == 0);
  }

 private:
  // The index of the function; `outer` again if it has no code.
  uint32_t add(Dwarf_Die* die, uint32_t outer, bool inlined, int depth) {
    const size_t before = ranges.size();
    const auto index = static_cast<uint32_t>(functions.size());
    add_ranges(die, index, static_cast<uint32_t>(depth), ranges);
    if (ranges.size() == before) return outer;
    UnitFunction function{.die = die->addr, .outer = outer, .inlined = inlined && outer != kNone};
    if (inlined) {
      function.call_file = static_cast<uint32_t>(number_of(die, DW_AT_call_file).value_or(0));
      function.call_line = static_cast<int>(
          std::min<uint64_t>(number_of(die, DW_AT_call_line).value_or(0), INT32_MAX));
    }
    functions.push_back(function);
    return index;
  }
};

struct UnitIndex {
  std::vector<UnitFunction> functions;
  std::vector<Paint> paint;
};

struct Unit {
  Dwarf_Die lines{};  // The unit itself, which has the line table.
  Dwarf_Die tree{};   // The same, or its half in a .dwo file.
};

}  // namespace

struct DwarfIndex::State {
  const ElfFile* file = nullptr;
  Dwarf* dwarf = nullptr;
  std::vector<Unit> units;
  std::vector<Paint> unit_paint;
  std::map<uint32_t, UnitIndex> indexes;
  std::unordered_map<void*, std::string> symbols;  // By place; reading one follows references.
  size_t bytes = 0;
  size_t most_bytes = 0;

  ~State() { dwarf_end(dwarf); }

  void open() {
    dwarf_end(dwarf);
    units.clear();
    indexes.clear();
    symbols.clear();
    bytes = 0;
    dwarf = dwarf_begin_elf(file->elf(), DWARF_C_READ, nullptr);
    if (dwarf == nullptr) return;
    std::vector<Range> ranges;
    Dwarf_CU* unit = nullptr;
    Dwarf_Die die;
    Dwarf_Die split;
    uint8_t type = 0;
    while (dwarf_get_units(dwarf, unit, &unit, nullptr, &type, &die, &split) == 0) {
      if (type != DW_UT_compile && type != DW_UT_skeleton) continue;
      const auto index = static_cast<uint32_t>(units.size());
      add_ranges(&die, index, 0, ranges);
      units.push_back({.lines = die, .tree = split.addr != nullptr ? split : die});
    }
    unit_paint = painted(std::move(ranges));
    bytes = units.size() * sizeof(Unit) + unit_paint.size() * sizeof(Paint);
  }

  const std::string& symbol_at(void* place, Dwarf_CU* unit) {
    auto [found, fresh] = symbols.try_emplace(place);
    if (fresh) {
      Dwarf_Die die{.addr = place, .cu = unit, .abbrev = nullptr, .padding__ = 0};
      found->second = symbol_of(&die);
      bytes += found->second.size() + kSymbolBytes;
    }
    return found->second;
  }

  const UnitIndex& index_of(uint32_t unit) {
    auto [found, fresh] = indexes.try_emplace(unit);
    if (!fresh) return found->second;
    UnitWalk walk;
    walk.walk(&units[unit].tree, kNone, 0);
    found->second = {.functions = std::move(walk.functions), .paint = painted(walk.ranges)};
    Dwarf_Lines* lines = nullptr;
    size_t count = 0;
    if (dwarf_getsrclines(&units[unit].lines, &lines, &count) != 0) count = 0;
    bytes += found->second.functions.size() * sizeof(UnitFunction) +
             found->second.paint.size() * sizeof(Paint) + count * kLineBytes;
    return found->second;
  }
};

DwarfIndex::DwarfIndex(const ElfFile& file, size_t most_bytes) : state_(make_hidden<State>()) {
  state_->most_bytes = most_bytes;
  state_->file = &file;
  state_->open();
}

bool DwarfIndex::usable() const {
  return !state_->units.empty();
}

size_t DwarfIndex::bytes() const {
  return state_->bytes;
}

std::vector<CodeLocation> DwarfIndex::at(uint64_t address) {
  if (state_->dwarf == nullptr) return {};
  if (state_->bytes > state_->most_bytes) state_->open();
  const uint32_t unit = owner_at(state_->unit_paint, address);
  if (unit == kNone || unit >= state_->units.size()) return {};
  const UnitIndex& index = state_->index_of(unit);
  uint32_t function = owner_at(index.paint, address);

  Dwarf_Die& lines = state_->units[unit].lines;
  std::string file;
  int line = 0;
  if (Dwarf_Line* row = dwarf_getsrc_die(&lines, address); row != nullptr) {
    const char* name = dwarf_linesrc(row, nullptr, nullptr);
    if (name != nullptr) file = name;
    dwarf_lineno(row, &line);
  }
  // Of functions that the compiler found to be equal only one is described; all have lines.
  if (function == kNone && line > 0) return {{.file = std::move(file), .line = line}};
  Dwarf_Files* files = nullptr;
  size_t file_count = 0;
  if (dwarf_getsrcfiles(&lines, &files, &file_count) != 0) file_count = 0;

  std::vector<CodeLocation> found;
  while (function != kNone) {
    const UnitFunction& here = index.functions[function];
    found.push_back({.symbol = state_->symbol_at(here.die, state_->units[unit].tree.cu),
                     .file = std::move(file),
                     .line = line,
                     .inlined = here.inlined});
    const char* name = here.call_file < file_count
                           ? dwarf_filesrc(files, here.call_file, nullptr, nullptr)
                           : nullptr;
    file = name == nullptr ? std::string() : std::string(name);
    line = here.call_line;
    function = here.inlined ? here.outer : kNone;
  }
  return found;
}

}  // namespace plateau
