// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>

#include "trainer/data/data_for_test.h"
#include "trainer/data/loader.h"

namespace plateau::train {
namespace {

using testing::HasSubstr;

std::string picture_of(int64_t side) {
  const Result<ShapeExample> example =
      make_shape_example(4, {.side = side, .format = PictureFormat::png});
  EXPECT_TRUE(example.ok());
  return base64_of(example.value().picture);
}

class Collate : public testing::Test {
 protected:
  void open(const std::string& jsonl) {
    Result<Dataset> dataset = Dataset::open(folder_.write("d.jsonl", jsonl), {});
    ASSERT_TRUE(dataset.ok()) << dataset.error().message;
    dataset_ = std::make_unique<Dataset>(std::move(dataset.value()));
  }
  Result<Batch> collated(const LoaderOptions& options) {
    std::vector<size_t> rows(dataset_->size());
    std::iota(rows.begin(), rows.end(), size_t{0});
    return collate(*dataset_, tokenizer_, options, rows, bad_);
  }
  // Of a batch that must be good.
  Batch batch(const LoaderOptions& options = {}) {
    Result<Batch> result = collated(options);
    EXPECT_TRUE(result.ok()) << (result.ok() ? "" : result.error().message);
    return result.ok() ? std::move(result.value()) : Batch{};
  }
  std::string error(const LoaderOptions& options = {}) {
    const Result<Batch> result = collated(options);
    return result.ok() ? "collated" : result.error().message;
  }

  ScratchDirectory folder_;
  Tokenizer tokenizer_ = small_tokenizer();
  std::unique_ptr<Dataset> dataset_;
  std::vector<BadExample> bad_;
};

TEST_F(Collate, ShorterRowsArePaddedAtTheRight) {
  open(simple_line("q", picture_of(56), "short") +
       simple_line("q", picture_of(56), "a much longer answer than the other"));
  const Batch both = batch({.pad_token = 7});
  ASSERT_EQ(both.rows, 2);
  const auto columns = static_cast<size_t>(both.columns);
  ASSERT_EQ(both.ids.size(), 2 * columns);
  ASSERT_EQ(both.labels.size(), 2 * columns);
  ASSERT_EQ(both.mask.size(), 2 * columns);
  const auto tokens =
      static_cast<size_t>(std::count(both.mask.begin(), both.mask.end(), 1)) - columns;
  ASSERT_LT(tokens, columns);
  for (size_t x = 0; x < columns; ++x) {
    EXPECT_EQ(both.mask[x], x < tokens ? 1 : 0);
    if (x < tokens) continue;
    EXPECT_EQ(both.ids[x], 7);
    EXPECT_EQ(both.labels[x], kNoLabel);
  }
  EXPECT_EQ(both.tokens, static_cast<int64_t>(tokens + columns));
}

TEST_F(Collate, LabelsAreTheAnswer) {
  open(simple_line("q", picture_of(56), "yes"));
  const Batch one = batch();
  std::vector<int64_t> learned;
  for (size_t i = 0; i < one.labels.size(); ++i) {
    if (one.labels[i] == kNoLabel) continue;
    EXPECT_EQ(one.labels[i], one.ids[i]);
    learned.push_back(one.labels[i]);
  }
  EXPECT_EQ(one.labelled, static_cast<int64_t>(learned.size()));
  EXPECT_THAT(tokenizer_.decode(learned, false), testing::StartsWith("yes<|im_end|>"));
}

TEST_F(Collate, EveryPictureHasItsTokensAndPatches) {
  JsonWriter two;
  two.begin_object().key("text").value("q").key("image").begin_array();
  two.value(picture_of(56)).value(picture_of(112)).end_array();
  two.key("response").value("r").end_object();
  open(simple_line("q", picture_of(84), "r") + two.text() + "\n" +
       R"({"text": "q", "image": null, "response": "r"})");
  const Batch all = batch();
  ASSERT_EQ(all.rows, 3);
  ASSERT_EQ(all.grids.size(), 3U);
  EXPECT_EQ(all.grids[0].patches(), 36);
  EXPECT_EQ(all.grids[1].patches(), 16);
  EXPECT_EQ(all.grids[2].patches(), 64);
  EXPECT_EQ(all.patch_values, 588);
  EXPECT_EQ(all.patches.size(), 588U * (36 + 16 + 64));
  const std::optional<int64_t> placeholder = tokenizer_.id_of("<|image_pad|>");
  ASSERT_TRUE(placeholder.has_value());
  const auto begin = all.ids.begin();
  EXPECT_EQ(std::count(begin, begin + all.columns, *placeholder), 36 / 4);
  EXPECT_EQ(std::count(begin + all.columns, begin + 2 * all.columns, *placeholder), 80 / 4);
  EXPECT_EQ(std::count(begin + 2 * all.columns, all.ids.end(), *placeholder), 0);
}

TEST_F(Collate, BytesAreThoseOfItsVectors) {
  open(simple_line("q", picture_of(56), "yes"));
  const Batch one = batch();
  EXPECT_EQ(one.bytes(), one.rows * one.columns * (8 + 8 + 1) + 16 * 588 * 4 +
                             static_cast<int64_t>(sizeof(Grid) + sizeof(size_t)));
}

TEST_F(Collate, AnExampleThatIsTooLongIsBadAndNeverCut) {
  open(simple_line("q", picture_of(56), "yes"));
  const int64_t tokens = batch().tokens;
  EXPECT_EQ(error({.max_seq_length = tokens}), "collated");
  EXPECT_THAT(error({.max_seq_length = tokens - 1}),
              HasSubstr("d.jsonl line 1: " + std::to_string(tokens) +
                        " tokens, 4 of them of pictures; at most " + std::to_string(tokens - 1)));
}

TEST_F(Collate, PicturesThatCannotBeDecodedAreErrorsOfTheirLine) {
  const std::string whole = picture_of(84);
  open(simple_line("q", picture_of(56), "r") +
       simple_line("q", whole.substr(0, whole.size() / 8 * 4), "r"));
  EXPECT_THAT(error(), HasSubstr("d.jsonl line 2: image 1: the PNG is cut off"));
}

TEST_F(Collate, SkippedExamplesLeaveNoTrace) {
  const std::string good = simple_line("q", picture_of(84), "r");
  open(good + "{}\n" + good);
  const Batch without = batch({.skip_bad = true});
  ASSERT_EQ(bad_.size(), 1U);
  EXPECT_EQ(bad_[0].index, 1U);
  EXPECT_EQ(without.examples, (std::vector<size_t>{0, 2}));

  // The first picture of the bad line decodes, the second does not: its patches are taken back.
  JsonWriter line;
  line.begin_object().key("text").value("q").key("image").begin_array().value(picture_of(56));
  line.value(picture_of(56).substr(0, 120)).end_array().key("response").value("r").end_object();
  open(good + line.text() + "\n" + good);
  bad_.clear();
  const Batch taken_back = batch({.skip_bad = true});
  ASSERT_EQ(bad_.size(), 1U);
  EXPECT_THAT(bad_[0].message, HasSubstr("line 2: image 2: the PNG is cut off"));
  EXPECT_EQ(taken_back.ids, without.ids);
  EXPECT_EQ(taken_back.patches, without.patches);
  EXPECT_EQ(taken_back.grids.size(), 2U);
}

TEST_F(Collate, BadExamplesAreReportedInTheOrderOfTheRows) {
  const std::string cut = picture_of(84).substr(0, 120);
  open(simple_line("q", cut, "r") + "{}\n" + simple_line("q", cut, "r") + "{}\n");
  const Batch none = batch({.skip_bad = true});
  EXPECT_EQ(none.rows, 0);
  EXPECT_EQ(none.bytes(), 0);
  ASSERT_EQ(bad_.size(), 4U);
  for (size_t i = 0; i < 4; ++i) EXPECT_EQ(bad_[i].index, i);
}

TEST_F(Collate, TheLevelOfLossDecidesWhatIsLearned) {
  open(simple_line("q", picture_of(56), R"({"a": [], "b": {}})"));
  const int64_t all = batch({.loss = LossLevel::all}).labelled;
  const int64_t structure = batch({.loss = LossLevel::structure}).labelled;
  const int64_t keys = batch({.loss = LossLevel::keys}).labelled;
  EXPECT_LT(structure, all);
  EXPECT_LT(keys, structure);
  EXPECT_GE(keys, 1);  // The end of the turn is always learned.
}

TEST_F(Collate, NoRowsAreAnEmptyBatch) {
  open(simple_line("q", picture_of(56), "r"));
  const Result<Batch> empty = collate(*dataset_, tokenizer_, {}, {}, bad_);
  ASSERT_TRUE(empty.ok());
  EXPECT_EQ(empty.value().rows, 0);
  EXPECT_EQ(empty.value().columns, 0);
}

}  // namespace
}  // namespace plateau::train
