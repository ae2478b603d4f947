// Compressed files that fail while they are read.
#include "base/host/mapping_faults.h"
#include "dump/compressed.h"
#include "dump/compressor.h"
#include "dump/zstd_frames.h"
#include "support/run.h"
#include "support/zstd.h"

#include <filesystem>
#include <gtest/gtest.h>
#include <memory>
#include <random>
#include <zlib.h>
#include <zstd.h>

namespace dnheap {
namespace {

u64 find_open_files() {
  u64 out = 0;
  for ([[maybe_unused]] const auto &entry : std::filesystem::directory_iterator("/proc/self/fd"))
    ++out;
  return out;
}

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
  for (u64 i = 0; i < 12; ++i) {
    const std::string packed = i % 2 ? test::zstd(text) : gzip(text);
    const std::string to = i % 4 / 2 ? folder.path() : ""; // "": memory
    const u64 left = std::array{packed.size() / 2 / 4096 * 4096, packed.size() / 2 + 1, packed.size() - 5}[i / 4];
    std::string path = folder.write("file", packed);
    std::shared_ptr<const MappedFile> file = MappedFile::open(path);
    std::filesystem::resize_file(path, left);
    Decompressed out = decompress(file->bytes(), to, 2, {});
    EXPECT_NE(out.note.find("data could not be read to their end: cut off while it was read: " + path +
                            " now ends at byte " + std::to_string(left) + "; this is the part before that"),
              std::string::npos)
        << out.note;
    u64 size = out.file->bytes().size();
    EXPECT_TRUE(text.starts_with(as_text(out.file->bytes())));
    EXPECT_LT(size, text.size());
    EXPECT_GT(static_cast<double>(size),
              0.9 * static_cast<double>(left) / static_cast<double>(packed.size()) * static_cast<double>(text.size()) -
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
  Decompressed out = decompress(file->bytes(), folder.path(), 2, {});
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
      decompress(file->bytes(), folder.path(), 2, {});
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

// Without the size of the contents in the header, as from a pipe.
std::string streamed(const std::string &text) {
  std::string out;
  Compressor compressor([&](Bytes part) { out += as_text(part); });
  compressor.write(std::as_bytes(std::span(text)));
  compressor.finish();
  return out;
}

// With a checksum, and the size of the contents in the header.
std::string checked(const std::string &text) {
  const std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)> context(ZSTD_createCCtx(), ZSTD_freeCCtx);
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_checksumFlag, 1);
  std::string out(ZSTD_compressBound(text.size()), '\0');
  out.resize(ZSTD_compress2(context.get(), out.data(), out.size(), text.data(), text.size()));
  return out;
}

std::string skipped(const std::string &text) {
  const char size = static_cast<char>(text.size());
  return std::string("\x5f\x2a\x4d\x18", 4) + size + std::string(3, '\0') + text;
}

struct Parts {
  std::vector<std::string> plain, packed;
  std::string joined(const std::vector<std::string> &texts) const {
    std::string out;
    for (const std::string &text : texts)
      out += text;
    return out;
  }
};

Parts parts() {
  Parts out;
  const std::string text = content();
  for (u64 at = 0, size = 1; at < text.size(); at += size, size = size * 2 % 1'000'003) {
    out.plain.push_back(text.substr(at, size));
    out.packed.push_back(test::zstd(out.plain.back()));
  }
  return out;
}

// Threads, and whether into memory.
class SeveralFrames : public testing::TestWithParam<std::pair<unsigned, bool>> {
protected:
  Decompressed open(const std::string &packed) {
    file_ = MappedFile::open(folder_.write("file", packed));
    const auto [threads, in_memory] = GetParam();
    return decompress(file_->bytes(), in_memory ? "" : folder_.path(), threads, {});
  }
  test::TemporaryFolder folder_;
  std::shared_ptr<const MappedFile> file_;
};

INSTANTIATE_TEST_SUITE_P(Compressed, SeveralFrames,
                         testing::Values(std::pair(1, false), std::pair(2, false), std::pair(3, false),
                                         std::pair(16, false), std::pair(1, true), std::pair(3, true)));

TEST_P(SeveralFrames, AreOneAfterTheOther) {
  Parts of = parts();
  ASSERT_GT(of.packed.size(), 30u);
  const std::string whole = of.joined(of.plain);
  of.packed[3] += skipped("not for us");
  const std::string packed = of.joined(of.packed);
  for (const std::string &file :
       {packed, skipped("") + packed, packed + std::string(512, '\0'), packed + streamed("") + skipped("the end")}) {
    const Decompressed out = open(file);
    EXPECT_EQ(out.note, "");
    EXPECT_TRUE(as_text(out.file->bytes()) == whole);
  }
  // One in the middle that does not tell its size.
  of.packed[9] = streamed(of.plain[9]);
  EXPECT_TRUE(as_text(open(of.joined(of.packed)).file->bytes()) == whole);
  EXPECT_EQ(open(packed + "xyz").note, "3 B after the zstd data were ignored");
}

// As pzstd writes them: none tells the size of its contents, and before each is one that is skipped.
TEST_P(SeveralFrames, ThatDoNotTellTheirSizes) {
  Parts of = parts();
  const std::string whole = of.joined(of.plain);
  std::vector<u64> ends; // of frames in the file
  std::string packed;
  for (const std::string &plain : of.plain) {
    packed += skipped("1234") + streamed(plain);
    ends.push_back(packed.size());
  }
  EXPECT_TRUE(as_text(open(packed).file->bytes()) == whole);
  EXPECT_EQ(open(packed).note, "");
  for (u64 frame : {3, 19, 25}) {
    u64 before = 0;
    for (u64 i = 0; i < frame; ++i)
      before += of.plain[i].size();
    std::string harmed = packed;
    harmed[(ends[frame - 1] + ends[frame]) / 2] ^= 0x55;
    const Decompressed out = open(harmed);
    EXPECT_TRUE(out.damaged);
    EXPECT_GE(out.file->bytes().size(), before);
    EXPECT_TRUE(whole.starts_with(as_text(out.file->bytes()).substr(0, before)));
    const Decompressed cut = open(packed.substr(0, (ends[frame - 1] + ends[frame]) / 2));
    EXPECT_NE(cut.note.find("are cut off"), std::string::npos) << cut.note;
    EXPECT_TRUE(whole.starts_with(as_text(cut.file->bytes())));
    EXPECT_GE(cut.file->bytes().size(), before);
  }
}

TEST_P(SeveralFrames, OneThatIsDamagedEndsThem) {
  const Parts of = parts();
  const std::string whole = of.joined(of.plain);
  for (u64 frame : {0, 7, 19, 25}) {
    Parts harmed = of;
    u64 before = 0;
    for (u64 i = 0; i < frame; ++i)
      before += of.plain[i].size();
    harmed.packed[frame].back() ^= 0x55;
    harmed.packed[frame][harmed.packed[frame].size() / 2] ^= 0x55;
    Decompressed out;
    try {
      out = open(harmed.joined(harmed.packed));
    } catch (const Error &error) {
      EXPECT_EQ(frame, 0u) << error.what();
      EXPECT_NE(std::string(error.what()).find("nothing could be decompressed"), std::string::npos) << error.what();
      continue;
    }
    EXPECT_TRUE(out.damaged);
    EXPECT_NE(out.note.find("are damaged at or before byte"), std::string::npos) << out.note;
    EXPECT_GE(out.file->bytes().size(), before);
    EXPECT_LT(out.file->bytes().size(), before + of.plain[frame].size());
    EXPECT_TRUE(whole.starts_with(as_text(out.file->bytes()).substr(0, before)));
  }
}

// As damage of the checksum alone would have it, in frames of several blocks and of one; in the last frame, and before.
TEST_P(SeveralFrames, OneWhoseChecksumIsWrongIsKept) {
  const std::string plain = content().substr(0, 700'000);
  for (const std::string &frame : {checked(plain), streamed(plain), checked(plain.substr(0, 100))}) {
    std::string harmed = frame;
    harmed.back() ^= 1;
    const std::string own(as_text(open(frame).file->bytes()));
    for (const auto &[file, whole] : {std::pair(harmed, own), std::pair(harmed + frame + frame, own + own + own),
                                      std::pair(frame + frame + harmed, own + own + own)}) {
      const Decompressed out = open(file);
      EXPECT_TRUE(as_text(out.file->bytes()) == whole) << out.file->bytes().size() << " of " << whole.size();
      EXPECT_TRUE(out.damaged);
      EXPECT_NE(out.note.find(" does not match the zstd data: any of the decompressed bytes may be wrong"),
                std::string::npos)
          << out.note;
    }
  }
}

TEST_P(SeveralFrames, CutOff) {
  const Parts of = parts();
  const std::string packed = of.joined(of.packed), whole = of.joined(of.plain);
  for (u64 left : {packed.size() - 1, packed.size() / 2, packed.size() / 3}) {
    const Decompressed out = open(packed.substr(0, left));
    EXPECT_FALSE(out.damaged);
    EXPECT_NE(out.note.find("are cut off: the file ends at byte " + std::to_string(left)), std::string::npos);
    EXPECT_TRUE(whole.starts_with(as_text(out.file->bytes())));
    EXPECT_GT(out.file->bytes().size(), left / 2);
  }
}

TEST_P(SeveralFrames, AHeaderThatLiesAboutTheSize) {
  const std::string text = content().substr(0, 1'000'000), frame = test::zstd(text);
  ASSERT_EQ(static_cast<u8>(frame[4]) >> 6, 2) << "four bytes of size, behind the window's one";
  for (u32 lie : {u32{0}, u32{999'999}, u32{1'000'001}, u32{1 << 20}, ~u32{0}}) {
    std::string liar = frame;
    const u64 place = (static_cast<u8>(frame[4]) & 0x20) != 0 ? 5 : 6;
    for (u64 i = 0; i < 4; ++i)
      liar[place + i] = static_cast<char>(lie >> 8 * i);
    const Decompressed out = open(frame + liar + frame);
    EXPECT_TRUE(out.damaged) << lie;
    const std::string_view got = as_text(out.file->bytes());
    EXPECT_LE(got.size(), 2 * text.size()) << lie;
    EXPECT_TRUE(got.starts_with(text)) << lie;
    EXPECT_TRUE(text.starts_with(got.substr(text.size()))) << lie;
  }
}

TEST(ZstdFrames, AreAsLongAsZstdSays) {
  const std::string text = content();
  for (u64 size : {0, 1, 255, 256, 300, 65'791, 65'792, 131'072, 131'073, 5'000'000})
    for (int level : {-5, 1, 19}) {
      if (level == 19 && size > 1'000'000)
        continue;
      const std::string plain = size % 2 == 0 ? text.substr(0, size) : std::string(size, 'x');
      std::string packed(ZSTD_compressBound(size), '\0');
      packed.resize(ZSTD_compress(packed.data(), packed.size(), plain.data(), plain.size(), level));
      const u64 own = packed.size();
      packed += packed + streamed(plain) + packed;
      const std::vector<ZstdFrame> found = find_zstd_frames(std::as_bytes(std::span(packed)), ~u64{0});
      ASSERT_EQ(found.size(), 4u);
      EXPECT_EQ(found[2].content.has_value(), size == 0) << "of nothing the size is known at once";
      EXPECT_GE(found[2].most, size);
      EXPECT_EQ(found[1].bytes.size(), own);
      EXPECT_EQ(found[1].bytes.data() - found[0].bytes.data(), static_cast<i64>(own));
      EXPECT_EQ(found[1].content, size);
      EXPECT_GE(found[1].window, std::min<u64>(size, 1024));
      EXPECT_EQ(find_zstd_frames(std::as_bytes(std::span(packed)), 2 * own - 1).size(), 1u);
    }
}

// No more is believed than as many blocks can hold: no file of terabytes for a few bytes.
TEST(ZstdFrames, OneThatCannotBeAsLongAsItSaysIsNone) {
  std::string frame = test::zstd(content().substr(0, 1'000'000));
  ASSERT_EQ(find_zstd_frames(std::as_bytes(std::span(frame)), ~u64{0}).size(), 1u);
  const u64 place = (static_cast<u8>(frame[4]) & 0x20) != 0 ? 5 : 6;
  frame[place + 3] = 0x7f;
  EXPECT_TRUE(find_zstd_frames(std::as_bytes(std::span(frame)), ~u64{0}).empty());
}

TEST(Compressed, LittleIsDecompressedWithoutAFile) {
  survive_mapping_faults();
  test::TemporaryFolder folder;
  const std::string text = content(), packed = test::zstd(text);
  std::shared_ptr<const MappedFile> file = MappedFile::open(folder.write("file", packed));
  ::setenv("TMPDIR", folder.path("missing").c_str(), 1);
  const u64 before = find_open_files();
  const Decompressed out = decompress(file->bytes(), "", 2, {});
  EXPECT_EQ(find_open_files(), before);
  EXPECT_TRUE(as_text(out.file->bytes()) == text);
  EXPECT_EQ(out.note, "");
  // What is wrong with it is told as ever.
  std::string path = folder.write("cut", packed);
  file = MappedFile::open(path);
  std::filesystem::resize_file(path, packed.size() / 2);
  const Decompressed part = decompress(file->bytes(), "", 2, {});
  EXPECT_NE(part.note.find("could not be read to their end"), std::string::npos) << part.note;
  EXPECT_TRUE(text.starts_with(as_text(part.file->bytes())));
  ::unsetenv("TMPDIR");
}

// What does not go into the memory that it may take goes into a file, from its beginning.
TEST(Compressed, WhatIsTooLargeForMemoryGoesIntoAFile) {
  survive_mapping_faults();
  test::TemporaryFolder folder;
  std::string text = content();
  while (text.size() < u64{40} << 20) // more than what is in memory in any case
    text += text;
  const std::string half = text.substr(0, text.size() / 2), rest = text.substr(half.size());
  for (const std::string &packed :
       {test::zstd(text), streamed(text), gzip(text), test::zstd(half) + test::zstd(rest)}) {
    std::shared_ptr<const MappedFile> file = MappedFile::open(folder.write("file", packed));
    for (u64 most : {u64{0}, text.size() / 3, text.size() - 1, u64{text.size()}, 2 * text.size()}) {
      const u64 before = find_open_files();
      const Decompressed out = decompress(file->bytes(), "", 2, {}, {.most_in_memory = most});
      EXPECT_EQ(find_open_files() - before, most >= text.size() ? 0u : 1u) << most;
      EXPECT_TRUE(as_text(out.file->bytes()) == text);
      EXPECT_EQ(out.note, "");
    }
  }
}

// A few MiB can become any number of bytes: those that the headers of the dump inside do not name are left out.
TEST(Compressed, WhatLiesFarBehindTheDumpIsLeftOut) {
  constexpr u64 mib = 1 << 20, slack = 64 * mib;
  test::TemporaryFolder folder;
  const std::string part(16 * mib, 'x');
  std::string known, unknown, members;
  for (int i = 0; i < 20; ++i) {
    known += test::zstd(part);
    unknown += streamed(part);
    members += gzip(part);
  }
  std::string one_frame(320 * mib, 'x');
  for (const std::string &packed : {known, unknown, members, test::zstd(one_frame)}) {
    std::shared_ptr<const MappedFile> file = MappedFile::open(folder.write("file", packed));
    for (const std::string &to : {std::string(), folder.path()}) {
      for (u64 length : {u64{1}, 100 * mib}) {
        const Decompressed out = decompress(file->bytes(), to, 2, {}, {.length_of = [&](Bytes first) {
                                              EXPECT_EQ(first.size(), mib);
                                              return length;
                                            }});
        EXPECT_EQ(out.file->bytes().size(), length + slack);
        EXPECT_NE(out.note.find("continue far beyond the length in the dump's own headers"), std::string::npos)
            << out.note;
        EXPECT_FALSE(out.damaged);
      }
      const auto size_of = [&](u64 length) {
        return decompress(file->bytes(), to, 2, {}, {.length_of = [&](Bytes) { return length; }}).file->bytes().size();
      };
      EXPECT_EQ(size_of(0), mib); // no dump: enough to say what else it is
      EXPECT_EQ(size_of(300 * mib), 320 * mib);
      EXPECT_EQ(size_of(~u64{0}), 320 * mib);
    }
  }
}

} // namespace
} // namespace dnheap
