// SPDX-License-Identifier: Apache-2.0
#include "trainer/data/dataset.h"

#include <sys/stat.h>

#include <thread>

#include "trainer/data/data_for_test.h"

namespace plateau::train {
namespace {

using testing::HasSubstr;

std::vector<std::byte> png_of(uint64_t seed) {
  Result<ShapeExample> example = make_shape_example(seed, {.format = PictureFormat::png});
  EXPECT_TRUE(example.ok());
  return std::move(example.value().picture);
}

Dataset opened(const std::filesystem::path& path, const DatasetOptions& options = {}) {
  Result<Dataset> dataset = Dataset::open(path, options);
  if (!dataset) {
    ADD_FAILURE() << dataset.error().message;
    std::abort();
  }
  return std::move(dataset.value());
}

std::string error_of(const Dataset& dataset, size_t index) {
  const Result<Example> example = dataset.read(index);
  return example.ok() ? "read" : example.error().message;
}

TEST(Dataset, BlankLinesAndCarriageReturnsDoNotCountButLineNumbersDo) {
  const ScratchDirectory folder;
  const auto path = folder.write(
      "d.jsonl", "\r\n{\"a\": 1}\r\n\n  \t \n{\"b\": 2}\n{\"c\": 3}");  // Without a last line end.
  const Dataset dataset = opened(path);
  ASSERT_EQ(dataset.size(), 3U);
  EXPECT_EQ(dataset.where(0), path.string() + " line 2");
  EXPECT_EQ(dataset.where(1), path.string() + " line 5");
  EXPECT_EQ(dataset.where(2), path.string() + " line 6");
  EXPECT_EQ(error_of(dataset, 1),
            path.string() +
                " line 5: no field \"text\", \"messages\", \"conversations\", \"instruction\", "
                "\"query\" or \"prompt\"");
}

TEST(Dataset, AByteOrderMarkIsSkipped) {
  const ScratchDirectory folder;
  const auto path = folder.write(
      "d.jsonl", "\xEF\xBB\xBF{\"text\": \"a\", \"image\": null, \"response\": \"b\"}\n");
  const Dataset dataset = opened(path);
  ASSERT_EQ(dataset.size(), 1U);
  EXPECT_EQ(error_of(dataset, 0), "read");
}

// Lines that begin and end at every place around the block in which the file is scanned.
TEST(Dataset, LinesAreFoundAcrossTheBlocksOfTheScan) {
  const ScratchDirectory folder;
  std::string text;
  for (int i = 0; i < 40; ++i) {
    text += simple_line(std::string(52'429 + static_cast<size_t>(i % 7), 'x'), "",
                        "answer " + std::to_string(i));
  }
  const Dataset dataset = opened(folder.write("d.jsonl", text));
  ASSERT_EQ(dataset.size(), 40U);
  EXPECT_THAT(error_of(dataset, 39), HasSubstr("line 40: image 1: an empty path"));
}

TEST(Dataset, AFileMayBeOneJsonArray) {
  const ScratchDirectory folder;
  const std::string good = R"({"text": "a", "image": null, "response": "b"})";
  const auto path = folder.write("d.json", "\xEF\xBB\xBF[" + good + ",\n " + good + ", 7]\n");
  const Dataset dataset = opened(path);
  ASSERT_EQ(dataset.size(), 3U);
  EXPECT_EQ(error_of(dataset, 0), "read");
  EXPECT_EQ(error_of(dataset, 1), "read");
  EXPECT_THAT(error_of(dataset, 2), HasSubstr(path.string() + " line 2, example 3: "));
  EXPECT_EQ(Dataset::open(folder.write("none.json", "[ ]"), {}).error().kind,
            Error::Kind::no_samples);
  EXPECT_THAT(Dataset::open(folder.write("cut.json", "[" + good + ","), {}).error().message,
              HasSubstr("cut.json line 1: the file ends within its array"));
}

TEST(Dataset, CsvIsReadWithItsHeader) {
  const ScratchDirectory folder;
  folder.write("a,b.png", as_text(png_of(2)));
  const auto path = folder.write("d.CSV",
                                 "\xEF\xBB\xBFtext,image,response\r\n"
                                 "\"one\ntwo \"\"x\"\", y\",\"a,b.png\",r\r\n"
                                 "\n"
                                 "q,,\"[\"\"not\"\" json\"\n"
                                 "too,few\n");
  const Dataset dataset = opened(path);
  ASSERT_EQ(dataset.size(), 3U);
  const Result<Example> first = dataset.read(0);
  ASSERT_TRUE(first.ok()) << first.error().message;
  EXPECT_EQ(first.value().messages[0].parts[1].text, "one\ntwo \"x\", y");
  EXPECT_EQ(first.value().pictures.size(), 1U);
  const Result<Example> second = dataset.read(1);
  ASSERT_TRUE(second.ok()) << second.error().message;
  EXPECT_EQ(second.value().messages[1].parts[0].text, "[\"not\" json");
  EXPECT_THAT(dataset.read(2).error().message,
              HasSubstr("d.CSV line 6: 3 fields are expected, as in the header, found 2"));
  const auto turns = folder.write(
      "m.csv",
      "messages\n\"[{\"\"role\"\": \"\"user\"\", \"\"content\"\": \"\"q\"\"}, {\"\"role\"\": "
      "\"\"assistant\"\", \"\"content\"\": \"\"a\"\"}]\"\n");
  EXPECT_TRUE(opened(turns).read(0).ok()) << opened(turns).read(0).error().message;
  EXPECT_THAT(Dataset::open(folder.write("e.csv", "text,image\n"), {}).error().message,
              HasSubstr("a header and records below it are expected"));
  EXPECT_THAT(Dataset::open(folder.write("o.csv", "text\n\"open"), {}).error().message,
              HasSubstr("line 2: a quoted field is not closed"));
}

TEST(Dataset, AFileThatIsNoTextIsRefusedWithTheCommandThatMakesItText) {
  const ScratchDirectory folder;
  const auto refusal = [&](const std::string& name, const std::string& bytes) {
    return Dataset::open(folder.write(name, bytes), {}).error().message;
  };
  EXPECT_THAT(refusal("d.parquet", "PAR1...."),
              testing::AllOf(HasSubstr("Parquet is not read"), HasSubstr("d.parquet.jsonl")));
  EXPECT_THAT(refusal("d.arrow", "ARROW1.."), HasSubstr("a.ipc.open_file("));
  EXPECT_THAT(refusal("d.arrow", "\xFF\xFF\xFF\xFF...."), HasSubstr("a.ipc.open_stream("));
  EXPECT_THAT(refusal("d.jsonl.gz", "\x1F\x8B...."), HasSubstr("gunzip it first"));
}

TEST(Dataset, EmptyAndMissingFilesAreErrors) {
  const ScratchDirectory folder;
  EXPECT_EQ(Dataset::open(folder.write("empty", ""), {}).error().kind, Error::Kind::no_samples);
  EXPECT_EQ(Dataset::open(folder.write("blank", "\n \n"), {}).error().kind,
            Error::Kind::no_samples);
  EXPECT_EQ(Dataset::open(folder.path() / "none", {}).error().kind, Error::Kind::not_found);
  EXPECT_FALSE(Dataset::open(folder.path(), {}).ok());
}

TEST(Dataset, PicturesAreFoundBesideTheFileFirst) {
  const ScratchDirectory folder;
  folder.write("data/pictures/a.png", as_text(png_of(2)));
  // The same name from the working directory is another picture.
  const ScratchDirectory elsewhere;
  elsewhere.write("pictures/a.png", "not this one");
  elsewhere.write("pictures/b.png", as_text(png_of(4)));
  const auto path = folder.write("data/d.jsonl", simple_line("q", "pictures/a.png", "r") +
                                                     simple_line("q", "pictures/b.png", "r"));
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(elsewhere.path());
  const Dataset dataset = opened(path);
  const Result<Example> beside = dataset.read(0);
  const Result<Example> from_here = dataset.read(1);
  std::filesystem::current_path(before);
  ASSERT_TRUE(beside.ok()) << beside.error().message;
  ASSERT_TRUE(from_here.ok()) << from_here.error().message;
  EXPECT_EQ(beside.value().pictures.at(0).bytes, png_of(2));
  EXPECT_EQ(beside.value().pictures.at(0).name, "pictures/a.png");
  EXPECT_EQ(from_here.value().pictures.at(0).bytes, png_of(4));
}

TEST(Dataset, Base64IsReadBareAndAsADataUrl) {
  const ScratchDirectory folder;
  const std::string text = base64_of(png_of(6));
  const Dataset dataset =
      opened(folder.write("d.jsonl", simple_line("q", text, "r") +
                                         simple_line("q", "data:image/png;base64," + text, "r")));
  for (const size_t index : {0, 1}) {
    const Result<Example> example = dataset.read(index);
    ASSERT_TRUE(example.ok()) << example.error().message;
    EXPECT_EQ(example.value().index, index);
    EXPECT_EQ(example.value().pictures.at(0).bytes, png_of(6));
    const auto picture = dataset.picture(example.value(), 0);
    ASSERT_TRUE(picture.ok()) << picture.error().message;
    EXPECT_EQ(picture.value()->width, 84);
  }
}

TEST(Dataset, ErrorsOfPicturesNameTheLineAndThePicture) {
  const ScratchDirectory folder;
  folder.write("broken.png", as_text(png_of(2)).substr(0, 100));
  const auto path = folder.write(
      "d.jsonl",
      simple_line("q", "missing.png", "r") + simple_line("q", "https://example.org/a.png", "r") +
          simple_line("q", "data:image/png;base64,????", "r") + simple_line("q", ".", "r") +
          simple_line("q", "file:///a.png", "r") + simple_line("q", "broken.png", "r") +
          simple_line("q", base64_of(png_of(2)).substr(0, 101), "r") +
          simple_line("q", "pipe", "r"));
  ASSERT_EQ(::mkfifo((folder.path() / "pipe").c_str(), 0600), 0);
  const Dataset dataset = opened(path);
  const std::string name = path.string() + " line ";
  EXPECT_THAT(error_of(dataset, 0), HasSubstr(name + "1: image 1: no file missing.png beside"));
  EXPECT_THAT(error_of(dataset, 1),
              HasSubstr(name + "2: image 1: https://example.org/a.png is a URL, which is not"));
  EXPECT_THAT(error_of(dataset, 2), HasSubstr(name + "3: image 1: not base64: '?'"));
  EXPECT_THAT(error_of(dataset, 3), HasSubstr(name + "4: .: not a regular file"));
  EXPECT_THAT(error_of(dataset, 4), HasSubstr("write the path alone"));
  EXPECT_THAT(error_of(dataset, 6), HasSubstr(name + "7: image 1: the base64 data are cut off"));
  EXPECT_THAT(error_of(dataset, 7), HasSubstr(name + "8: pipe: not a regular file"));

  const Result<Example> broken = dataset.read(5);
  ASSERT_TRUE(broken.ok());  // Its bytes are there; what they are worth is seen when decoded.
  const auto picture = dataset.picture(broken.value(), 0);
  ASSERT_FALSE(picture.ok());
  EXPECT_EQ(picture.error().message, name + "6: broken.png: the PNG is cut off");
}

TEST(Dataset, AFileThatShrankWhileOpenIsAnError) {
  const ScratchDirectory folder;
  const auto path = folder.write("d.jsonl", shapes_jsonl(3));
  const Dataset dataset = opened(path);
  std::filesystem::resize_file(path, 100);
  EXPECT_THAT(error_of(dataset, 2), HasSubstr("line 3: the file has become shorter"));
}

TEST(Dataset, FingerprintIsOfTheContent) {
  const ScratchDirectory folder;
  const std::string text = shapes_jsonl(2);
  const Dataset one = opened(folder.write("one.jsonl", text));
  EXPECT_EQ(one.fingerprint(), opened(folder.write("same.jsonl", text)).fingerprint());
  std::string edited = text;
  edited[11] ^= 1;
  EXPECT_NE(one.fingerprint(), opened(folder.write("edited.jsonl", edited)).fingerprint());
  EXPECT_NE(one.fingerprint(), opened(folder.write("longer.jsonl", text + "\n")).fingerprint());
  const std::string zeros = text + std::string(1, '\0');
  EXPECT_NE(opened(folder.write("zero.jsonl", zeros)).fingerprint(),
            opened(folder.write("zeros.jsonl", zeros + std::string(1, '\0'))).fingerprint());
}

TEST(Dataset, DecodedPicturesAreKeptOnlyWhenAskedFor) {
  const ScratchDirectory folder;
  const auto path = folder.write("d.jsonl", shapes_jsonl(4));
  for (const bool is_kept : {false, true}) {
    const Dataset dataset = opened(path, {.keep_decoded = is_kept});
    for (int epoch = 0; epoch < 2; ++epoch) {
      for (size_t i = 0; i < dataset.size(); ++i) {
        const Result<Example> example = dataset.read(i);
        ASSERT_TRUE(example.ok());
        ASSERT_TRUE(dataset.picture(example.value(), 0).ok());
      }
      EXPECT_EQ(dataset.kept_bytes(), is_kept ? 4 * 56 * 56 * 3 : 0);
    }
  }
}

TEST(Dataset, ThreadsShareOneKeptPicture) {
  const ScratchDirectory folder;
  const Dataset dataset = opened(folder.write("d.jsonl", shapes_jsonl(8)), {.keep_decoded = true});
  std::vector<std::vector<std::shared_ptr<const Picture>>> seen(4);
  std::vector<std::thread> threads;
  for (auto& mine : seen) {
    threads.emplace_back([&] {
      for (size_t i = 0; i < dataset.size(); ++i) {
        const Result<Example> example = dataset.read(i);
        if (example.ok()) mine.push_back(dataset.picture(example.value(), 0).value());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(seen[0].size(), 8U);
  for (const auto& other : seen) EXPECT_EQ(other, seen[0]);
  EXPECT_EQ(dataset.kept_bytes(), 8 * 56 * 56 * 3);
}

}  // namespace
}  // namespace plateau::train
