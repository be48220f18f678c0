// SPDX-License-Identifier: Apache-2.0
// Columns that are known by what stands beside them: tools that everybody runs print figures under
// names that say nothing ("total", "O"), or under none.
#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "base/text.h"
#include "base/units.h"
#include "import/sheet.h"

namespace plateau {
namespace {

constexpr double kPageOfLinuxMb = 4096 / 1e6;

size_t count_of(const Sheet& sheet, std::string_view titles) {
  return static_cast<size_t>(std::count_if(
      sheet.columns.begin(), sheet.columns.end(), [titles](const SheetColumn& column) {
        return !column.values.empty() && lists(titles, ",", trim(column.title));
      }));
}

SheetColumn* titled(Sheet& sheet, std::string_view title) {
  for (SheetColumn& column : sheet.columns) {
    if (trim(column.title) == title && !column.values.empty()) return &column;
  }
  return nullptr;
}

// "[{total,811669000}, {processes,…}, {atom,…}, {ets,…}]": erlang:memory(), in bytes.
void name_erlang(Sheet& sheet) {
  SheetColumn* total = titled(sheet, "total");
  if (total != nullptr && count_of(sheet, "processes,atom,binary,ets") >= 3) {
    total->name = weigh_name("memory used bytes");
  }
}

// "S0 S1 E O M CCS YGC …": jstat -gcutil, where O is how full the old generation is.
void name_jstat(Sheet& sheet) {
  SheetColumn* old = titled(sheet, "O");
  if (old != nullptr && count_of(sheet, "YGC,FGC,E") == 3) {
    old->name = weigh_name("old heap used percent");
  }
}

// "STAT bytes 233700000" beside "STAT limit_maxbytes": what memcached holds.
void name_memcached(Sheet& sheet) {
  SheetColumn* bytes = titled(sheet, "STAT bytes");
  if (bytes != nullptr && titled(sheet, "STAT limit_maxbytes") != nullptr) {
    bytes->name = weigh_name("memory used bytes");
  }
}

// The first column of these words, whatever joins them; nullptr if there is none.
SheetColumn* worded(Sheet& sheet, std::string_view words) {
  for (SheetColumn& column : sheet.columns) {
    if (!column.values.empty() && plain_words(column.title) == words) return &column;
  }
  return nullptr;
}

// The column of these words, alone or at the end of a path ("mem.resident"); nullptr if there is
// none.
SheetColumn* ending_in(Sheet& sheet, std::string_view word) {
  for (SheetColumn& column : sheet.columns) {
    const std::string words = plain_words(column.title);
    const bool is_it = words == word || words.ends_with(" " + std::string(word));
    if (is_it && !column.values.empty()) return &column;
  }
  return nullptr;
}

bool all_are(const SheetColumn& column, double value) {
  return std::all_of(column.values.begin(), column.values.end(),
                     [value](double found) { return found == value; });
}

// "mem": {"bits": 64, "resident": 1021, "virtual": 2045}: MongoDB counts MiB and does not say so.
void name_mongo(Sheet& sheet) {
  constexpr double kMib = 1.048576;
  const SheetColumn* bits = ending_in(sheet, "bits");
  if (bits == nullptr || !(all_are(*bits, 64) || all_are(*bits, 32))) return;
  for (const std::string_view name : {"resident", "virtual"}) {
    SheetColumn* column = ending_in(sheet, name);
    if (column != nullptr && column->with_unit == 0 && stand_together(*column, *bits)) {
      column->name.unit_mb = kMib;
    }
  }
}

// "Total large memory allocated" above "Dictionary memory allocated", whose name is from the word
// for memory on: all that InnoDB took, which is no capacity.
void name_innodb(Sheet& sheet) {
  SheetColumn* all = worded(sheet, "total large memory allocated");
  if (all != nullptr && worded(sheet, "memory allocated") != nullptr) {
    all->name = weigh_name("memory used bytes");
  }
}

// "Partition of a set of 312 objects. Total size = 41234567 bytes.": guppy's h.heap().
void name_guppy(Sheet& sheet) {
  SheetColumn* size = worded(sheet, "total size");
  if (size == nullptr || size->with_unit < size->values.size()) return;
  if (worded(sheet, "partition of a set of") != nullptr) size->name = weigh_name("heap used");
}

// "34318 33583 1682 1 0 32196 0": /proc/PID/statm in pages: size, resident, shared, text, 0, data,
// 0. The first is never below the second, and that never below the third.
void name_statm(Sheet& sheet) {
  std::vector<SheetColumn*> bare;
  for (SheetColumn& column : sheet.columns) {
    const bool whole = column.decimals == 0 && column.with_unit == 0 && column.glued == 0;
    if (!column.values.empty() && trim(column.title).empty() && whole) bare.push_back(&column);
  }
  if (bare.size() != 7 || bare[1]->values.size() < 3) return;
  const size_t n = bare[1]->values.size();
  const bool even = std::all_of(bare.begin(), bare.end(), [n](const SheetColumn* column) {
    return column->values.size() == n;
  });
  if (!even || !all_are(*bare[4], 0) || !all_are(*bare[6], 0)) return;
  if (!all_are(*bare[3], bare[3]->values.front())) return;
  for (size_t i = 0; i < n; ++i) {
    if (bare[0]->values[i] < bare[1]->values[i] || bare[1]->values[i] < bare[2]->values[i]) return;
  }
  bare[1]->title = "resident (pages)";
  bare[1]->name = weigh_name("resident");
  bare[1]->name.unit_mb = kPageOfLinuxMb;
}

// "heap.current ram.current" of Elasticsearch: two names that differ in that word alone. Beside a
// heap, which is a process's, ram is the machine's.
void tell_machine_from_heap(Sheet& sheet) {
  constexpr double kMachine = 4;
  for (SheetColumn& heap : sheet.columns) {
    const std::string words = plain_words(heap.title);
    if (heap.values.empty() || !words.starts_with("heap ")) continue;
    SheetColumn* ram = worded(sheet, "ram " + words.substr(5));
    if (ram == nullptr || ram->name.machine || !stand_together(heap, *ram)) continue;
    ram->name.machine = true;
    ram->name.weight -= kMachine;
  }
}

// "TOTAL PSS: … TOTAL RSS: …" of Android: what all apps share is in the RSS of each.
void prefer_total_pss(Sheet& sheet) {
  SheetColumn* pss = worded(sheet, "total pss");
  const SheetColumn* rss = worded(sheet, "total rss");
  if (pss != nullptr && rss != nullptr) {
    pss->name.weight = std::max(pss->name.weight, rss->name.weight + 0.5);
  }
}

// "bytes bytes bytes …" below "Alloc Copied Live GC …": GHC's +RTS -S, where Live is what the
// program holds after a collection.
void name_ghc(Sheet& sheet) {
  for (SheetColumn& live : sheet.columns) {
    const std::string words = plain_words(live.title);
    if (live.values.empty() || (words != "live" && words != "live bytes")) continue;
    for (SheetColumn& taken : sheet.columns) {
      const std::string beside = plain_words(taken.title);
      if (beside != "alloc" && beside != "alloc bytes") continue;
      live.name = weigh_name("heap used bytes");
      taken.name.weight -= 8;  // Since the last collection.
    }
  }
}

// The column of this word, alone or with its unit: "ws", "ws_kb"; nullptr if there is none.
SheetColumn* counted_as(Sheet& sheet, std::string_view word) {
  for (SheetColumn& column : sheet.columns) {
    std::string words = plain_words(column.title);
    const size_t last = words.rfind(' ');
    if (last != std::string::npos && unit_in_mb(words.substr(last + 1))) words.resize(last);
    if (words == word && !column.values.empty()) return &column;
  }
  return nullptr;
}

// "Name Pid VM WS Priv", "WS=212MB PM=190MB Handles=512", "Working: 621 MB | Private: 1422 MB":
// what Windows calls a working set, and beside it what the process alone has, in memory or paged
// out. The latter is what it was given and has to give back, so that decides, as memory of its own.
void name_windows(Sheet& sheet) {
  SheetColumn* set = counted_as(sheet, "ws");
  SheetColumn* own = counted_as(sheet, "private");
  if (set == nullptr && own != nullptr) set = counted_as(sheet, "working");
  if (set == nullptr || set->name.memory) return;
  const bool of_windows = count_of(sheet, "VM,PM,NPM,Priv,Handles,Faults") > 0;
  if (!of_windows && own == nullptr) return;
  const double unit_mb = set->name.unit_mb;
  set->name = weigh_name("working set");
  set->name.unit_mb = unit_mb;
  if (own == nullptr || own->name.memory || !stand_together(*set, *own)) return;
  const double own_unit_mb = own->name.unit_mb;
  own->name = weigh_name("uss");
  own->name.unit_mb = own_unit_mb;
}

// "gpu 9.2/24.0G | cpu 13.4G": an amount of the CPU's is what the host has in use.
// Beside a column that is called memory it is none: "89m" of Kubernetes are thousandths of a core.
void name_host(Sheet& sheet) {
  constexpr double kLoudAsMemory = 8;
  const bool called =
      std::any_of(sheet.columns.begin(), sheet.columns.end(), [](const SheetColumn& column) {
        return column.name.loudest >= kLoudAsMemory && !column.name.gpu && !column.values.empty();
      });
  if (called) return;
  for (SheetColumn& column : sheet.columns) {
    const bool amounts = !column.values.empty() && column.with_unit == column.values.size();
    const std::string words = plain_words(column.title);
    const bool cpu = words == "cpu" || words.ends_with(" cpu");
    if (cpu && !column.name.memory && amounts) {
      column.name = weigh_name(column.title + " memory");
    }
  }
}

bool is_sum_of(const SheetColumn& whole, const SheetColumn& a, const SheetColumn& b) {
  constexpr double kMostOff = 0.002;  // By rounding.
  for (size_t i = 0; i < whole.values.size(); ++i) {
    const double mb = whole.mb(i, 1);
    if (std::abs(a.mb(i, 1) + b.mb(i, 1) - mb) > kMostOff * mb) return false;
  }
  return true;
}

// "Total Memory", "Processes Memory", "System Memory" of Erlang: a total that moves, and is what
// two others come to of which none is free, is all that is in use, and no capacity.
void name_sums(Sheet& sheet) {
  constexpr size_t kFewestSums = 5;
  constexpr size_t kMostParts = 12;
  std::vector<const SheetColumn*> parts;
  for (const SheetColumn& part : sheet.columns) {
    const bool memory = part.name.memory && !part.name.total && !part.name.free;
    if (memory && part.values.size() >= kFewestSums && parts.size() < kMostParts)
      parts.push_back(&part);
  }
  for (SheetColumn& whole : sheet.columns) {
    const size_t n = whole.values.size();
    if (!whole.name.total || !whole.name.memory || n < kFewestSums) continue;
    if (whole.values.front() == whole.values.back()) continue;
    const bool sum = std::any_of(parts.begin(), parts.end(), [&](const SheetColumn* a) {
      return a->values.size() == n &&
             std::any_of(parts.begin(), parts.end(), [&](const SheetColumn* b) {
               return b > a && b->values.size() == n && is_sum_of(whole, *a, *b);
             });
    });
    if (!sum) continue;
    constexpr double kWeightOfTotal = 3;
    whole.name.total = false;
    whole.name.weight += kWeightOfTotal + 1;
  }
}

// {"name": "jvm.memory.used", "unit": "bytes", "value": 2.1e8}: who prints one metric in every
// record writes its name and its unit beside it.
void name_by_text(Sheet& sheet) {
  constexpr double kSaysMemory = 7;  // Of weight: "heap" and louder words.
  const auto last_word = [](const SheetColumn& column) {
    const std::string words = plain_words(column.title);
    return words.substr(words.rfind(' ') + 1);
  };
  SheetColumn* value = nullptr;
  const SheetColumn* name = nullptr;
  std::string unit;
  for (SheetColumn& column : sheet.columns) {
    if (column.name.memory && !column.values.empty()) return;
    const std::string word = last_word(column);
    const bool constant = column.one_text && column.texts >= 3 && column.values.empty();
    if (!column.values.empty() && lists("value,average,avg,gauge,state", ",", word)) {
      if (value != nullptr) return;
      value = &column;
    } else if (constant && lists("unit,units,uom", ",", word) && unit_in_mb(column.text)) {
      unit = column.text;
    } else if (constant && weigh_name(column.text).weight >= kSaysMemory &&
               lists("name,metric,attribute,measurement,field,label,key,id", ",", word)) {
      name = &column;
    }
  }
  if (value == nullptr || name == nullptr || name->texts * 10 < value->values.size() * 9) return;
  value->title = name->text;
  value->name = weigh_name(name->text + " " + unit);
}

}  // namespace

void name_by_company(Sheet& sheet) {
  name_erlang(sheet);
  name_jstat(sheet);
  name_memcached(sheet);
  name_statm(sheet);
  name_mongo(sheet);
  name_guppy(sheet);
  name_innodb(sheet);
  name_ghc(sheet);
  tell_machine_from_heap(sheet);
  prefer_total_pss(sheet);
  name_windows(sheet);
  name_by_text(sheet);
  name_sums(sheet);
  name_host(sheet);
}

}  // namespace plateau
