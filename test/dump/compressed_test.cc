// Compressed files that fail while they are read.
#include "base/mapping_faults.h"
#include "dump/compressed.h"
#include "support/run.h"
#include "support/zstd.h"

#include <filesystem>
#include <gtest/gtest.h>
#include <random>
#include <zlib.h>

namespace dnheap {
namespace {

std::string content() {
  std::mt19937 random(7);
  std::string out(12'000'000, ' ');
  for (char &c : out)
    c = static_cast<char>(random() % 64);
  return out;
}

std::string gzip(const std::string &text) {
  z_stream stream{};
  deflateInit2(&stream, 1, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef *>(const_cast<char *>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef *>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

// Zeros that were read in place of bytes could well be decompressed to something.
TEST(Compressed, CutWhileItIsRead) {
  survive_mapping_faults();
  test::TemporaryFolder folder;
  const std::string text = content();
  for (const std::string &packed : {test::zstd(text), gzip(text)})
    for (u64 left : {packed.size() / 2 / 4096 * 4096, packed.size() / 2 + 1, packed.size() - 5}) {
      std::string path = folder.write("file", packed);
      std::shared_ptr<const MappedFile> file = MappedFile::open(path);
      std::filesystem::resize_file(path, left);
      Decompressed out = decompress(file->bytes(), folder.path(), {});
      EXPECT_NE(out.note.find("data could not be read to their end: cut off while it was read: " + path +
                              " now ends at byte " + std::to_string(left) + "; this is the part before it"),
                std::string::npos)
          << out.note;
      u64 size = out.file->bytes().size();
      EXPECT_TRUE(text.starts_with(as_text(out.file->bytes())));
      EXPECT_LT(size, text.size());
      EXPECT_GT(static_cast<double>(size), 0.9 * static_cast<double>(left) / static_cast<double>(packed.size()) *
                                                   static_cast<double>(text.size()) -
                                               9e6);
    }
}

// Several frames, cut between two of them: zeros in place of a frame are no padding.
TEST(Compressed, CutBetweenFramesWhileItIsRead) {
  survive_mapping_faults();
  test::TemporaryFolder folder;
  std::string frame = test::zstd(content());
  std::string path = folder.write("file", frame + frame);
  std::shared_ptr<const MappedFile> file = MappedFile::open(path);
  std::filesystem::resize_file(path, frame.size());
  Decompressed out = decompress(file->bytes(), folder.path(), {});
  EXPECT_EQ(out.file->bytes().size(), content().size());
  EXPECT_NE(out.note.find("now ends at byte " + std::to_string(frame.size())), std::string::npos) << out.note;
}

TEST(Compressed, CutToLittleOrWrittenAnewWhileItIsRead) {
  survive_mapping_faults();
  test::TemporaryFolder folder;
  std::string path = folder.write("file", test::zstd(content()));
  auto error = [&](auto harm) {
    std::shared_ptr<const MappedFile> file = MappedFile::open(path);
    harm();
    try {
      decompress(file->bytes(), folder.path(), {});
    } catch (const Error &e) {
      return std::string(e.what());
    }
    return std::string();
  };
  EXPECT_EQ(error([&] {
              std::filesystem::last_write_time(path, std::filesystem::last_write_time(path) + std::chrono::seconds(1));
            }),
            path + " was changed by somebody else while it was read; open it again once nothing writes to it");
  EXPECT_EQ(error([&] { std::filesystem::resize_file(path, 4096); }),
            "its zstd data could not be read to their end: cut off while it was read: " + path +
                " now ends at byte 4096, and nothing could be decompressed");
}

} // namespace
} // namespace dnheap
