// SPDX-License-Identifier: Apache-2.0
#include "trainer/model/packing.h"

#include <algorithm>
#include <string>

#include "trainer/model/qwen.h"

namespace plateau::train {
namespace {

Error bad(std::string message) {
  return Error{Error::Kind::bad_input, std::move(message)};
}

// One token of a row, in three axes, as the walk over rows sees it.
struct Walker {
  const ModelConfig& config;
  const Batch& batch;
  size_t next_grid = 0;
  size_t next_video = 0;

  [[nodiscard]] bool is_vision(int64_t id) const {
    return id == config.image_token || id == config.video_token;
  }

  // Positions of the tokens of one row, or of one example of it, that are not padding. Text counts
  // up on all three axes; a picture spreads over height and width, and text after it goes on behind
  // its largest position.
  std::array<std::vector<int64_t>, 3> row(const std::vector<int64_t>& ids) {
    std::array<std::vector<int64_t>, 3> out;
    int64_t next = 0;
    size_t at = 0;
    while (at < ids.size()) {
      if (!is_vision(ids[at]) || next_grid >= batch.grids.size()) {
        for (std::vector<int64_t>& axis : out) {
          axis.push_back(next);
        }
        ++next;
        ++at;
        continue;
      }
      const size_t length = add_picture(out, ids, at, next);
      for (const std::vector<int64_t>& axis : out) {
        next = std::max(
            next,
            *std::max_element(axis.end() - static_cast<std::ptrdiff_t>(length), axis.end()) + 1);
      }
      at += length;
    }
    return out;
  }

  size_t add_picture(std::array<std::vector<int64_t>, 3>& out, const std::vector<int64_t>& ids,
                     size_t at, int64_t first) {
    const Grid& grid = batch.grids[next_grid++];
    const int64_t height = std::max<int64_t>(1, grid.height / config.vision.merge_size);
    const int64_t width = std::max<int64_t>(1, grid.width / config.vision.merge_size);
    // In single precision, as the model was trained: the product is cut to an integer.
    float frame_step = 0;
    if (ids[at] == config.video_token) {
      const size_t video = next_video++;
      frame_step = video < batch.seconds_per_grid.size()
                       ? static_cast<float>(batch.seconds_per_grid[video])
                       : 1.0F;
    }
    const auto rate = static_cast<float>(config.vision.tokens_per_second);
    const auto wanted = static_cast<size_t>(std::max<int64_t>(1, grid.frames) * height * width);
    const size_t length = std::min(wanted, ids.size() - at);
    for (size_t i = 0; i < length; ++i) {
      const auto cell = static_cast<int64_t>(i);
      const int64_t frame = cell / (height * width);
      out[0].push_back(first + static_cast<int64_t>(static_cast<float>(frame) * frame_step * rate));
      out[1].push_back(first + cell / width % height);
      out[2].push_back(first + cell % width);
    }
    return length;
  }
};

Result<std::monostate> check_lengths(const ModelConfig& config, const Batch& batch) {
  const auto places = static_cast<size_t>(batch.rows * batch.columns);
  if (batch.rows < 1 || batch.columns < 1) {
    return bad("the batch holds no tokens");
  }
  if (batch.ids.size() != places || batch.labels.size() != places || batch.mask.size() != places) {
    return bad("ids, labels and mask of the batch are not all " + std::to_string(batch.rows) +
               " x " + std::to_string(batch.columns));
  }
  const int64_t full = config.vision.patch_values();
  const int64_t one_frame = full / config.vision.temporal_patch_size;
  int64_t patches = 0;
  for (const Grid& grid : batch.grids) {
    const int64_t merge = config.vision.merge_size;
    if (grid.frames < 1 || grid.height < 1 || grid.width < 1 || grid.height % merge != 0 ||
        grid.width % merge != 0) {
      return bad("a picture of " + std::to_string(grid.height) + " x " +
                 std::to_string(grid.width) + " patches cannot be merged " + std::to_string(merge) +
                 " by " + std::to_string(merge));
    }
    patches += grid.patches();
  }
  if (!batch.grids.empty() && batch.patch_values != full && batch.patch_values != one_frame) {
    return bad("a patch has " + std::to_string(batch.patch_values) + " values, the model takes " +
               std::to_string(one_frame) + " or " + std::to_string(full));
  }
  if (static_cast<int64_t>(batch.patches.size()) !=
      (batch.grids.empty() ? 0 : patches * batch.patch_values)) {
    return bad("the pictures of the batch need " + std::to_string(patches) + " patches of " +
               std::to_string(batch.patch_values) + " values, it has " +
               std::to_string(batch.patches.size()) + " values");
  }
  return std::monostate{};
}

// Every picture has its tokens in one piece, in order, and no token is without a picture.
Result<std::monostate> match_pictures(const ModelConfig& config, const Batch& batch,
                                      PackedBatch& packed) {
  size_t grid = 0;
  for (size_t row = 0; row + 1 < packed.row_bounds.size(); ++row) {
    int64_t at = packed.row_bounds[row];
    const int64_t end = packed.row_bounds[row + 1];
    while (at < end) {
      const int64_t id = packed.ids[static_cast<size_t>(at)];
      if (id != config.image_token && id != config.video_token) {
        ++at;
        continue;
      }
      if (grid >= batch.grids.size()) {
        return bad("row " + std::to_string(row) + " has more image tokens than the batch has " +
                   "pictures (" + std::to_string(batch.grids.size()) + ")");
      }
      const int64_t wanted = batch.grids[grid++].tokens(config.vision.merge_size);
      for (int64_t i = 0; i < wanted; ++i, ++at) {
        if (at >= end || packed.ids[static_cast<size_t>(at)] != id) {
          return bad("row " + std::to_string(row) + ": a picture of " + std::to_string(wanted) +
                     " tokens has only " + std::to_string(i) + " image tokens in a row");
        }
        packed.vision_tokens.push_back(at);
      }
    }
  }
  if (grid != batch.grids.size()) {
    return bad("the batch has " + std::to_string(batch.grids.size()) +
               " pictures but image tokens for " + std::to_string(grid));
  }
  return std::monostate{};
}

Result<std::monostate> gather_tokens(const ModelConfig& config, const Batch& batch,
                                     PackedBatch& packed) {
  packed.row_bounds.push_back(0);
  size_t begun = 0;  // Of batch.starts.
  for (int64_t row = 0; row < batch.rows; ++row) {
    for (int64_t column = 0; column < batch.columns; ++column) {
      const int64_t place = row * batch.columns + column;
      const auto here = static_cast<size_t>(place);
      if (batch.mask[here] == 0) {
        continue;
      }
      if (batch.ids[here] < 0 || batch.ids[here] >= config.vocab_size) {
        return bad("token id " + std::to_string(batch.ids[here]) + " in row " +
                   std::to_string(row) + " is outside the vocabulary of " +
                   std::to_string(config.vocab_size));
      }
      const int64_t label = batch.labels[here];
      const bool begins = column > 0 && begun < batch.starts.size() && batch.starts[begun] == place;
      if (begins) {
        ++begun;
        packed.row_bounds.push_back(static_cast<int64_t>(packed.ids.size()));
      }
      const bool follows = column > 0 && batch.mask[here - 1] != 0 && !begins;
      if (label != kNoLabel && follows) {
        if (label < 0 || label >= config.vocab_size) {
          return bad("label " + std::to_string(label) + " in row " + std::to_string(row) +
                     " is outside the vocabulary of " + std::to_string(config.vocab_size));
        }
        packed.predictors.push_back(static_cast<int64_t>(packed.ids.size()) - 1);
        packed.targets.push_back(label);
      }
      packed.ids.push_back(batch.ids[here]);
      packed.places.push_back(place);
    }
    packed.row_bounds.push_back(static_cast<int64_t>(packed.ids.size()));
  }
  if (packed.ids.empty()) {
    return bad("the batch holds nothing but padding");
  }
  if (begun != batch.starts.size()) {
    return bad("of " + std::to_string(batch.starts.size()) + " examples that share a row only " +
               std::to_string(begun) + " begin at a token, in order");
  }
  return std::monostate{};
}

}  // namespace

std::vector<int64_t> rope_positions(const ModelConfig& config, const Batch& batch) {
  const auto places = static_cast<size_t>(batch.rows * batch.columns);
  std::vector<int64_t> out(3 * places, 1);
  Walker walker{config, batch};
  std::vector<int64_t> ids;
  std::vector<size_t> at;
  // Positions of what was gathered: one example, or one row.
  const auto place_gathered = [&] {
    const auto positions = walker.row(ids);
    for (size_t axis = 0; axis < 3; ++axis) {
      for (size_t i = 0; i < at.size(); ++i) {
        out[axis * places + at[i]] = positions[axis][i];
      }
    }
    ids.clear();
    at.clear();
  };
  auto start = batch.starts.begin();
  for (size_t place = 0; place < places; ++place) {
    const bool begins = start != batch.starts.end() && *start == static_cast<int64_t>(place);
    if (begins) {
      ++start;
    }
    if (begins || place % static_cast<size_t>(batch.columns) == 0) {
      place_gathered();
    }
    if (batch.mask[place] != 0) {
      ids.push_back(batch.ids[place]);
      at.push_back(place);
    }
  }
  place_gathered();
  return out;
}

Result<PackedBatch> pack_batch(const ModelConfig& config, const Batch& batch) {
  if (auto lengths = check_lengths(config, batch); !lengths) {
    return lengths.error();
  }
  PackedBatch packed;
  if (auto gathered = gather_tokens(config, batch, packed); !gathered) {
    return gathered.error();
  }
  if (auto matched = match_pictures(config, batch, packed); !matched) {
    return matched.error();
  }
  const std::vector<int64_t> padded = rope_positions(config, batch);
  const size_t places = batch.ids.size();
  for (size_t axis = 0; axis < 3; ++axis) {
    for (const int64_t place : packed.places) {
      packed.positions[axis].push_back(padded[axis * places + static_cast<size_t>(place)]);
    }
  }
  return packed;
}

}  // namespace plateau::train
