// SPDX-License-Identifier: Apache-2.0
#include "import/slot_name.h"

#include <algorithm>
#include <iterator>
#include <unordered_map>
#include <vector>

#include "base/text.h"
#include "base/units.h"
#include "import/words.h"

namespace plateau {
namespace {

using Flag = bool SlotName::*;

// Words of one meaning: what they add, and what they set.
struct Weighed {
  double weight;
  Flag sets;
  std::string_view words;
};

constexpr Weighed kWeights[] = {
    // What macOS charges a process for; its resident pages hold what all share, and none that was
    // compressed.
    {10.3, &SlotName::memory, "footprint"},
    {10, &SlotName::memory, "rss rsz res vmrss rssanon workingset maxrss vmhwm"},
    {9, &SlotName::memory, "resident"},
    {8, &SlotName::memory,
     "memory mem ram pss uss memusage memused usedmem kbmemused memoryusage memorie speicher "
     "arbeitsspeicher hauptspeicher memoire memoria pamyat pamiec pamieci geheugen minne bellek "
     "mb_used"},
    {7, &SlotName::memory,
     "heap allocated alloc allocate allocates vram heapused heapsize inuse nursery "
     "heapalloc sys_heap fb"},
    {6.8, &SlotName::memory, "freemem memfree kbmemfree memavailable kbavail freememory freeheap"},
    {3, &SlotName::memory,
     "external arraybuffers reserved commit committed kbcommit jemalloc "
     "shmem"},
    {1.5, &SlotName::used,
     "used usage consumed consumption occupied using uses use utilise utilisee utilisees usado "
     "usada utilizado utilizada usato usata belegt genutzt benutzt verwendet"},
    {-1.2, &SlotName::free,
     "free available avail remaining unused freemem memfree kbmemfree memavailable kbavail "
     "freememory freeheap libre frei freier verfugbar disponible"},
    // What is free without what the caches would give back says less than what is available.
    {0.3, nullptr, "available avail memavailable kbavail disponible verfugbar"},
    {-2, &SlotName::peak, "peak max maximum maxrss hwm vmhwm highest mxmem peaked high"},
    {-3, &SlotName::total, "total capacity installed memtotal"},
    // A floor set by somebody, or the lowest so far: neither what is there nor what is used.
    {-3, &SlotName::limit, "min minimum lowest"},
    {-3, nullptr, "non off nonheap offheap"},
    // What an allocator spends on keeping its books, written beside what it keeps them of.
    {-3, nullptr, "extra overhead metadata"},
    {-1.5, nullptr, "sys mapped retained"},
    // "RssAnon" is a part of "VmRSS".
    {-0.5, nullptr, "anon"},
    {-1, nullptr, "ave avg average mean median std stdev size part"},
    {-3.5, &SlotName::cache,
     "cache cached caches buff buffers buffer buffered kbcached kbbuffers shared shr slab "
     "kbslab inact active kbactive kbinact dirty kbdirty reclaimable idle"},
    {-6, &SlotName::is_virtual,
     "virtual virt vsz vms vmsize vsize vmem vmpeak metaspace text code stack"},
    {-6, &SlotName::limit, "limit quota threshold ceiling budget cap goal target"},
    {-7, &SlotName::swap, "swap swapped swpd swapin swapout zswap kbswpused kbswpfree"},
    {-8, &SlotName::change,
     "delta diff difference change changed increase increased decrease growth grew grow leaked "
     "leak freed released gained increment incremented added collected saved accumulated "
     "cumulative cumulatively"},
    {-5, &SlotName::percent, "percent pct percentage perc ratio fraction util utilization"},
    {-6, &SlotName::cpu, "cpu cores load processor"},
    {-10, nullptr,
     "disk disks file files net network io read write rx tx recv sent bandwidth download upload "
     "throughput rate faults flt minflt majflt temp temperature power watts fan loss lr acc "
     "accuracy score tokens params parameters calls fps latency duration took price cost objects "
     "connections threads handles open line lines version port ppid code exit block blocks"},
    {-2, &SlotName::gpu, "gpu cuda device nvidia fb"},
    // A GPU's window on the bus and what it encrypts, which nvidia-smi lists beside its memory.
    {-6, nullptr, "bar ccpm protected"},
    {0, &SlotName::machine, "system host machine node server kbmemused"},
};

struct ClockWords {
  SlotName::Clock clock;
  std::string_view words;
};
constexpr ClockWords kClocks[] = {
    {SlotName::Clock::step,
     "step steps iter iteration iterations it update updates batch request req test tick sample "
     "index no "
     "round frame generation game episode loop cycle count run i n idx num call message op "
     "operations nr job pass gc trial"},
    {SlotName::Clock::epoch, "epoch"},
    {SlotName::Clock::time,
     "time timestamp elapsed seconds secs sec t ts uptime date datetime clock wall walltime ms "
     "minutes min hours when"},
};

constexpr std::string_view kLabels =
    "pid tid rank gpu device worker container pod name host hostname node id index process proc "
    "command cmd comm instance service user shard replica image program series thread label tag "
    "source dyno job app task partition stage phase component namespace";

// The rows that list a word, by word.
const std::unordered_map<std::string_view, std::vector<size_t>>& rows_by_word() {
  static const auto rows = [] {
    std::unordered_map<std::string_view, std::vector<size_t>> made;
    for (size_t row = 0; row < std::size(kWeights); ++row) {
      for (std::string_view rest = kWeights[row].words; !rest.empty();) {
        made[take_part(rest, ' ')].push_back(row);
      }
    }
    return made;
  }();
  return rows;
}

void weigh_word(std::string_view word, SlotName& name) {
  const auto listed = rows_by_word().find(word);
  for (size_t i = 0; listed != rows_by_word().end() && i < listed->second.size(); ++i) {
    const Weighed& row = kWeights[listed->second[i]];
    // Two words for memory ("heap memory", "RSS memory") do not make it surer.
    if (row.sets == &SlotName::memory) {
      name.weight += std::max(0.0, row.weight - name.loudest);
      name.loudest = std::max(name.loudest, row.weight);
      name.memory = true;
      continue;
    }
    // "MemoryUtilization (Percent)" says it twice.
    if (row.sets == &SlotName::percent && name.percent) continue;
    name.weight += row.weight;
    if (row.sets != nullptr) name.*row.sets = true;
  }
  if (const auto unit = unit_in_mb(word); unit && word.size() > 1) name.unit_mb = *unit;
}

double scale_of_time(std::string_view words) {
  if (words.ends_with(" ms") || words == "ms" || words.ends_with(" millis")) return 1e-3;
  if (words.ends_with(" us")) return 1e-6;
  if (words.ends_with(" ns")) return 1e-9;
  if (words.ends_with(" min") || words.ends_with("minutes")) return 60;
  return words.ends_with("hours") ? 3600 : 1;
}

// The last word, a unit of time behind it aside: "time" of "elapsed time s".
std::string_view without_time_unit(std::string_view words) {
  const size_t last = words.rfind(' ');
  if (last == std::string_view::npos) return words;
  if (!lists("s sec ms us ns utc", " ", words.substr(last + 1))) return words.substr(last + 1);
  words = words.substr(0, last);
  return words.substr(words.rfind(' ') + 1);
}

Metric metric_named(std::string_view words, const SlotName& name) {
  const auto bits_of = [words] {
    WordBits bits = 0;
    for (std::string_view rest = words; !rest.empty();) bits |= word_bits(take_part(rest, ' '));
    return bits & ~kWordNotUsage;
  };
  if (name.gpu) return Metric::gpu;
  return metric_of(bits_of(), true).value_or(Metric::memory);
}

// What several words say together; `last` is the last one, units aside.
void weigh_phrase(std::string_view words, std::string_view last, SlotName& name) {
  if (words.starts_with("total incl ")) {
    name.total = false;  // glibc's sum over its arenas and what it maps.
    name.weight += 3.5;
  }
  if (words == "grand total") {
    name.memory = true;  // Of everything listed above it; no capacity.
    name.weight = 9;
  }
  if (name.memory && last == "words" && name.unit_mb == 0) {
    name.unit_mb = kWordMb;
    // "top_heap_words": the highest so far.
    name.peak = name.peak || words.starts_with("top ");
    if (words.starts_with("top ")) name.weight -= 2;
  }
  if (words == "writeable private") {
    name.memory = true;  // pmap: what no other process shares.
    name.weight += 7;
  }
  // "memory requests: 512Mi" of Kubernetes; "Request 12: 261.5ms 125MB" is a count of them.
  if (name.memory && lists("request requests", " ", last)) {
    name.limit = true;
    name.weight -= 6;
  }
  // "<mem-info id=": a number that something is known by.
  if (name.memory && lists("id pid tid", " ", last)) name.weight -= 12;
  if (lists("total kb,total k,total mb", ",", words)) {
    name = SlotName();  // pmap's sum over all mappings: several figures, without a name each.
    name.unit_mb = unit_in_mb(words.substr(6)).value_or(0);
  }
}

}  // namespace

std::string plain_words(std::string_view name) {
  std::string out;
  for (size_t at = 0; at < name.size();) {
    if (!is_letter(name[at])) {
      ++at;
      continue;
    }
    size_t end = at + 1;
    while (end < name.size() && is_letter(name[end])) {
      const bool upper = name[end] <= 'Z';
      const bool lower_before = name[end - 1] >= 'a';
      const bool lower_after = end + 1 < name.size() && name[end + 1] >= 'a' &&
                               is_letter(name[end + 1]) && name[end - 1] <= 'Z';
      // "heapUsed", "RSSBytes"; but "VmRSS" and "MiB" stay whole.
      if (upper && ((lower_before && end - at >= 3) || (lower_after && end - at >= 2))) break;
      ++end;
    }
    if (!out.empty()) out.push_back(' ');
    for (size_t i = at; i < end; ++i) out.push_back(ascii_lower(name[i]));
    at = end;
  }
  return out;
}

SlotName weigh_name(std::string_view text) {
  SlotName name;
  // jstat's names for what is used of the old generation: in KiB, whatever the words may mean.
  if (text == "OU") text = "old heap used kib";
  // What a driver calls MB of its frame buffer are MiB.
  if (text == "fb MB") text = "fb MiB";
  const std::string words = plain_words(text);
  std::string_view last;  // Units aside.
  for (std::string_view rest = words; !rest.empty();) {
    const std::string_view word = take_part(rest, ' ');
    // Windows and containers speak of a working set.
    weigh_word(word == "set" && last == "working" ? "workingset" : word, name);
    if (!unit_in_mb(word)) last = word;
  }
  if (text.find("\xce\x94") != std::string_view::npos ||
      text.find("\xe2\x88\x86") != std::string_view::npos) {
    name.change = true;  // A Greek delta, or the sign for one.
    name.weight -= 8;
  }
  // A lone letter is a unit only where nothing else is written so: "mem_heap_B", "Size (B)".
  if (name.unit_mb == 0 &&
      (text.ends_with("_B") || text.ends_with("(B)") || text.ends_with("[B]"))) {
    name.unit_mb = 1e-6;
  }
  weigh_phrase(words, last, name);
  if (text.find('%') != std::string_view::npos && !name.percent) {
    name.percent = true;
    name.weight -= 5;
  }
  const std::string_view nearest = without_time_unit(words);
  for (const ClockWords& row : kClocks) {
    if (!name.memory && lists(row.words, " ", nearest)) name.clock = row.clock;
  }
  if (words == "next gc")
    name.clock = SlotName::Clock::none;  // The heap at which Go collects next.
  name.label = lists(kLabels, " ", last);
  name.time_scale = scale_of_time(words);
  if (name.memory || name.used || name.free) name.metric = metric_named(words, name);
  if (!name.memory && name.unit_mb > 0 && (name.free || name.used) && name.weight > -3) {
    // "gb_free", "used_mb": amounts of memory by their unit; a disk's say disk.
    name.memory = true;
    name.weight += 7;
  }
  if (name.cpu && name.memory) name.weight += 6;  // "CPU memory" is the host's.
  if (name.is_virtual && name.used && name.memory) {
    // psutil's virtual_memory().used: what the machine uses, not what is mapped.
    name.weight += 6;
    name.machine = true;
  }
  if (name.gpu && name.memory) name.weight += 1;  // "GPU memory" is memory all the same.
  return name;
}

}  // namespace plateau
