// SPDX-License-Identifier: Apache-2.0
#include "trainer/data/data_check.h"

#include <simdjson.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <fstream>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>

#include "base/json_writer.h"
#include "trainer/data/collate.h"
#include "trainer/data/split_mix.h"

namespace plateau::train {
namespace {

namespace fs = std::filesystem;

void mix(uint64_t& hash, uint64_t value) {
  hash = SplitMix64(hash ^ value).next();
}

// Size and time of every picture file that the dataset names. What stands in the lines themselves
// is in the dataset's own fingerprint.
uint64_t stamp_of_pictures(const Dataset& dataset) {
  uint64_t hash = 0;
  const auto look = [&](std::string_view reference, size_t number) -> Result<PictureSource> {
    struct stat status = {};
    const bool can_be_path = !reference.starts_with("data:") && reference.size() < 4096;
    const std::string path(can_be_path ? reference : "");
    if (can_be_path && (::stat((dataset.folder() / path).c_str(), &status) == 0 ||
                        ::stat(path.c_str(), &status) == 0)) {
      mix(hash, static_cast<uint64_t>(status.st_size));
      mix(hash, static_cast<uint64_t>(status.st_mtim.tv_sec));
      mix(hash, static_cast<uint64_t>(status.st_mtim.tv_nsec));
    }
    mix(hash, number);
    return PictureSource{};
  };
  for (size_t i = 0; i < dataset.size(); ++i) mix(hash, dataset.read_with(i, look).ok() ? 1 : 2);
  return hash;
}

// Everything that the result depends on, readable.
std::string key_of(const Dataset& dataset, const LoaderOptions& loader,
                   const DataCheckOptions& options) {
  const ProcessorOptions& pictures = loader.processor;
  std::string key = "1; " + dataset.name() + "; tokenizer=" + options.tokenizer;
  for (const auto& [name, value] : std::initializer_list<std::pair<const char*, int64_t>>{
           {"bytes", static_cast<int64_t>(dataset.fingerprint())},
           {"pictures", static_cast<int64_t>(stamp_of_pictures(dataset))},
           {"length", loader.max_seq_length},
           {"least", pictures.min_pixels},
           {"most", pictures.max_pixels},
           {"patch", pictures.patch_size},
           {"merge", pictures.merge_size},
           {"loss", static_cast<int64_t>(loader.loss)},
           {"decodes", options.decodes ? 1 : 0}}) {
    key += std::string("; ") + name + "=" + std::to_string(value);
  }
  return key + "; " + dataset.options().text_field + "; " + dataset.options().image_field;
}

fs::path file_for(const fs::path& cache, std::string_view key) {
  uint64_t hash = key.size();
  for (const char letter : key) mix(hash, static_cast<unsigned char>(letter));
  return cache / (std::to_string(hash) + ".json");
}

// What a file that someone else may have written is worth: nothing unless all of it fits.
std::optional<DataCheck> remembered(const fs::path& file, std::string_view key, size_t examples) {
  simdjson::dom::parser parser;
  simdjson::dom::object object;
  std::string_view text;
  simdjson::dom::array bad;
  if (parser.load(file.string()).get_object().get(object) != simdjson::SUCCESS ||
      object["key"].get_string().get(text) != simdjson::SUCCESS || text != key ||
      object["bad"].get_array().get(bad) != simdjson::SUCCESS) {
    return std::nullopt;
  }
  DataCheck out{.examples = examples, .is_remembered = true};
  for (const auto entry : bad) {
    uint64_t index = 0;
    if (entry["index"].get_uint64().get(index) != simdjson::SUCCESS || index >= examples ||
        entry["message"].get_string().get(text) != simdjson::SUCCESS) {
      return std::nullopt;
    }
    out.bad.push_back({.index = index, .message = std::string(text)});
  }
  return out;
}

// Without it the next check takes as long as this one: no error.
void remember(const fs::path& file, const std::string& key, const DataCheck& check) {
  std::error_code code;
  fs::create_directories(file.parent_path(), code);
  JsonWriter json;
  json.begin_object().key("key").value(key).key("bad").begin_array();
  for (const BadExample& bad : check.bad) {
    json.begin_object().key("index").value(static_cast<int64_t>(bad.index));
    json.key("message").value(bad.message).end_object();
  }
  json.end_array().end_object();
  const fs::path fresh = file.string() + "." + std::to_string(::getpid());
  std::ofstream out(fresh, std::ios::binary | std::ios::trunc);
  out << json.take();
  out.close();
  if (out) fs::rename(fresh, file, code);
  if (!out || code) fs::remove(fresh, code);
}

class Checker {
 public:
  Checker(const Dataset& dataset, const Tokenizer& tokenizer, const LoaderOptions& loader,
          const DataCheckOptions& options)
      : dataset_(dataset), tokenizer_(tokenizer), loader_(loader), options_(options) {}

  DataCheck go() {
    std::vector<std::thread> helpers;
    while (static_cast<int64_t>(helpers.size()) + 1 < options_.threads) {
      try {
        helpers.emplace_back([this] { work([](size_t /*done*/) { return true; }); });
      } catch (const std::system_error&) {
        break;  // Fewer do the same, more slowly.
      }
    }
    work(options_.goes_on);
    for (std::thread& helper : helpers) helper.join();
    std::ranges::sort(out_.bad, {}, &BadExample::index);
    out_.examples = dataset_.size();
    out_.is_stopped = is_stopped_;
    return std::move(out_);
  }

 private:
  void work(const std::function<bool(size_t)>& goes_on) {
    for (size_t i = next_++; i < dataset_.size() && !is_stopped_; i = next_++) {
      const Result<std::monostate> checked =
          check_example(dataset_, tokenizer_, loader_, i, options_.decodes);
      if (!checked) {
        const std::lock_guard lock(mutex_);
        out_.bad.push_back({.index = i, .message = checked.error().message});
      }
      if (!goes_on(++done_)) is_stopped_ = true;
    }
  }

  const Dataset& dataset_;
  const Tokenizer& tokenizer_;
  const LoaderOptions& loader_;
  const DataCheckOptions& options_;
  std::atomic<size_t> next_{0};
  std::atomic<size_t> done_{0};
  std::atomic<bool> is_stopped_{false};
  std::mutex mutex_;  // Of `out_`.
  DataCheck out_;
};

}  // namespace

DataCheck check_data(const Dataset& dataset, const Tokenizer& tokenizer,
                     const LoaderOptions& loader, const DataCheckOptions& options) {
  std::string key;
  fs::path file;
  if (!options.cache.empty()) {
    key = key_of(dataset, loader, options);
    file = file_for(options.cache, key);
    if (std::optional<DataCheck> known = remembered(file, key, dataset.size())) return *known;
  }
  DataCheck out = Checker(dataset, tokenizer, loader, options).go();
  if (!file.empty() && !out.is_stopped) remember(file, key, out);
  return out;
}

fs::path data_check_cache() {
  const char* own = std::getenv("XDG_CACHE_HOME");
  if (own != nullptr && *own == '/') return fs::path(own) / "plateau" / "data-check";
  const char* home = std::getenv("HOME");
  if (home == nullptr || *home != '/') return {};
  return fs::path(home) / ".cache" / "plateau" / "data-check";
}

}  // namespace plateau::train
