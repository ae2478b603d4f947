// xz and lz4: whole, cut off, damaged, several one after the other, and with headers that lie.
#include "base/host/mapping_faults.h"
#include "dump/compressed.h"
#include "dump/decoders/xz.h"
#include "support/lz4.h"
#include "support/run.h"
#include "support/xz.h"
#include "support/zstd.h"

#include <filesystem>
#include <gtest/gtest.h>
#include <random>

namespace dnheap::test {
namespace {

constexpr u64 whole = 400'000;

std::string words(u64 size) {
  std::mt19937 random(11);
  std::string out(size, ' ');
  for (char &c : out)
    c = static_cast<char>(random() % 64);
  return out;
}

std::string skipped_frame(const std::string &text) {
  const char size = static_cast<char>(text.size());
  return std::string("\x5f\x2a\x4d\x18", 4) + size + std::string(3, '\0') + text;
}

Bytes bytes_of(const std::string &text) { return std::as_bytes(std::span(text)); }

struct Packing {
  const char *name; // of the format
  std::string (*pack)(const std::string &text);
  u64 checksum; // its last byte, from the end of a file of one frame; 0: none that could be wrong alone
};

constexpr Packing packings[] = {
    {"xz", [](const std::string &text) { return xz(text); }, 0},
    {"xz",
     [](const std::string &text) {
       return xz({text.substr(0, text.size() / 3), text.substr(text.size() / 3)});
     },
     0},
    {"xz", [](const std::string &text) { return xz({text}, {.check = LZMA_CHECK_SHA256}); }, 0},
    {"xz", xz_of_threads, 0},
    {"lz4", [](const std::string &text) { return lz4(text); }, 1},
    {"lz4", [](const std::string &text) { return lz4(text, {.linked = false, .block = LZ4F_max4MB}); }, 1},
    {"lz4", [](const std::string &text) { return lz4(text, {.block_checksums = true, .states_size = true}); }, 1},
};

// A packing, and the number of threads: one writes into a file, several into memory.
class XzAndLz4 : public testing::TestWithParam<std::tuple<Packing, unsigned>> {
protected:
  Decompressed open(const std::string &packed, DecompressionLimits limits = {}) {
    const unsigned threads = std::get<1>(GetParam());
    file_ = MappedFile::open(folder_.write("file", packed));
    EXPECT_TRUE(is_compressed(file_->bytes()));
    return decompress(file_->bytes(), threads > 1 ? "" : folder_.path(), threads, {}, limits);
  }
  std::string pack(const std::string &text) const { return packing().pack(text); }
  const Packing &packing() const { return std::get<0>(GetParam()); }
  std::string name() const { return packing().name; }

  const std::string text_ = words(whole);
  TemporaryFolder folder_;
  std::shared_ptr<const MappedFile> file_;
};

INSTANTIATE_TEST_SUITE_P(Compressed, XzAndLz4, testing::Combine(testing::ValuesIn(packings), testing::Values(1, 3)),
                         [](const auto &info) { return std::to_string(info.index); });

TEST_P(XzAndLz4, Whole) {
  for (u64 size : {u64{0}, u64{1}, u64{70'000}, u64{text_.size()}}) {
    const std::string part = text_.substr(0, size);
    const Decompressed out = open(pack(part));
    EXPECT_TRUE(as_text(out.file->bytes()) == part);
    EXPECT_EQ(out.note, "");
    EXPECT_FALSE(out.damaged);
  }
}

TEST_P(XzAndLz4, SeveralAndWhatLiesBetweenAndBehindThem) {
  const std::string a = text_.substr(0, 300'000), b = text_.substr(300'000);
  const bool is_xz = name() == "xz";
  const std::string between = is_xz ? std::string(512, '\0') : skipped_frame("not for us");
  for (const std::string &packed :
       {pack(a) + pack(b), pack(a) + between + pack(b), pack(a) + pack("") + pack(b) + std::string(512, '\0'),
        (is_xz ? "" : skipped_frame("") + skipped_frame("first")) + pack(a) + pack(b) + between}) {
    const Decompressed out = open(packed);
    EXPECT_TRUE(as_text(out.file->bytes()) == text_);
    EXPECT_EQ(out.note, "");
  }
  const Decompressed out = open(pack(a) + "xyz");
  EXPECT_TRUE(as_text(out.file->bytes()) == a);
  EXPECT_EQ(out.note, "3 B after the " + name() + " data were ignored");
  EXPECT_FALSE(out.damaged);
}

TEST_P(XzAndLz4, CutOffAnywhere) {
  const std::string packed = pack(text_);
  for (u64 left : {u64{packed.size() - 1}, u64{packed.size() - 20}, u64{packed.size() / 2}, u64{packed.size() / 5}}) {
    const Decompressed out = open(packed.substr(0, left));
    EXPECT_FALSE(out.damaged);
    EXPECT_NE(out.note.find("the " + name() + " data are cut off: the file ends at byte " + std::to_string(left)),
              std::string::npos)
        << out.note;
    EXPECT_TRUE(text_.starts_with(as_text(out.file->bytes())));
    EXPECT_GT(out.file->bytes().size() + whole / 4, left);
  }
  for (u64 left : {7, 9, 11})
    try {
      open(packed.substr(0, left));
      ADD_FAILURE();
    } catch (const Error &error) {
      EXPECT_EQ(std::string(error.what()), "its " + name() + " data are cut off: the file ends at byte " +
                                               std::to_string(left) + ", and nothing could be decompressed");
    }
}

TEST_P(XzAndLz4, DamagedAnywhere) {
  const std::string packed = pack(text_);
  for (u64 at : {u64{8}, u64{14}, u64{packed.size() / 5}, u64{packed.size() / 2}, u64{packed.size() - 100'000},
                 u64{packed.size() - 20}}) {
    std::string harmed = packed;
    for (u64 i = 0; i < 12 && at + i < packed.size(); ++i)
      harmed[at + i] ^= 0x5a;
    try {
      const Decompressed out = open(harmed);
      EXPECT_TRUE(out.damaged) << at;
      EXPECT_NE(out.note.find("data"), std::string::npos) << out.note;
      EXPECT_LE(out.file->bytes().size(), text_.size() + (64 << 10));
      EXPECT_GT(out.file->bytes().size() + whole / 4, at) << out.note;
      // Before the damage all is right.
      const u64 sound = at > whole / 2 ? at - whole / 4 : 0;
      EXPECT_TRUE(as_text(out.file->bytes()).substr(0, sound) == text_.substr(0, sound)) << at;
    } catch (const Error &error) {
      EXPECT_LT(at, 20u);
      EXPECT_NE(std::string(error.what()).find("its " + name() + " data are damaged at or before byte"),
                std::string::npos)
          << error.what();
    }
  }
}

// Nothing that a damaged file can say does harm, and no byte before the damage changes.
TEST_P(XzAndLz4, DamagedAtRandom) {
  const std::string text = text_.substr(0, 3000), packed = pack(text);
  std::mt19937 random(5);
  for (int round = 0; round < 100; ++round) {
    std::string harmed = packed + (round % 2 ? packed : "");
    harmed[8 + random() % (harmed.size() - 8)] ^= static_cast<char>(1 + random() % 255);
    if (round % 3 == 0)
      harmed.resize(8 + random() % (harmed.size() - 8));
    try {
      const Decompressed out = open(harmed);
      EXPECT_FALSE(out.note.empty() && as_text(out.file->bytes()) != text && as_text(out.file->bytes()) != text + text);
    } catch (const Error &) {
    }
  }
}

TEST_P(XzAndLz4, AWrongChecksumAloneLosesNothing) {
  std::string harmed = pack(text_);
  if (name() == "lz4")
    harmed.back() ^= 1;
  else { // the checksum of a block lies before the index
    const lzma_stream_flags footer = [&] {
      lzma_stream_flags out{};
      EXPECT_EQ(lzma_stream_footer_decode(&out, reinterpret_cast<const u8 *>(harmed.data() + harmed.size() - 12)),
                LZMA_OK);
      return out;
    }();
    harmed[harmed.size() - 12 - footer.backward_size - 1] ^= 1;
  }
  for (bool more : {false, true}) {
    const Decompressed out = open(more ? harmed + pack("the end") : harmed);
    EXPECT_TRUE(as_text(out.file->bytes()) == text_ + (more ? "the end" : "")) << out.file->bytes().size();
    EXPECT_TRUE(out.damaged);
    EXPECT_NE(out.note.find(" does not match the " + name() + " data: any of the decompressed bytes may be wrong"),
              std::string::npos)
        << out.note;
  }
}

TEST_P(XzAndLz4, GoesNoFurtherThanTheDumpsOwnHeaders) {
  constexpr u64 mib = 1 << 20, slack = 64 * mib;
  const std::string packed = pack(std::string(80 * mib, 'x'));
  const auto length = [](u64 of) { return DecompressionLimits{.length_of = [of](Bytes) { return of; }}; };
  const Decompressed out = open(packed, length(1));
  EXPECT_EQ(out.file->bytes().size(), slack + 1);
  EXPECT_NE(out.note.find("continue far beyond the length in the dump's own headers"), std::string::npos) << out.note;
  EXPECT_EQ(open(packed, length(0)).file->bytes().size(), mib);
  EXPECT_EQ(open(packed, length(70 * mib)).file->bytes().size(), 80 * mib);
}

TEST_P(XzAndLz4, CutWhileItIsRead) {
  survive_mapping_faults();
  const unsigned threads = std::get<1>(GetParam());
  const std::string packed = pack(text_), path = folder_.write("file", packed);
  const std::shared_ptr<const MappedFile> file = MappedFile::open(path);
  const u64 left = packed.size() / 2 / 4096 * 4096;
  std::filesystem::resize_file(path, left);
  std::string said;
  try {
    const Decompressed out = decompress(file->bytes(), threads > 1 ? "" : folder_.path(), threads, {});
    said = out.note;
    EXPECT_TRUE(text_.starts_with(as_text(out.file->bytes())));
  } catch (const Error &error) { // so little was read before that nothing is sure
    said = error.what();
  }
  EXPECT_NE(said.find("data could not be read to their end: cut off while it was read"), std::string::npos) << said;
}

TEST_P(XzAndLz4, StopsWhenAsked) {
  Progress progress;
  progress.cancel = true;
  const std::string packed = pack(text_);
  EXPECT_THROW(decompress(bytes_of(packed), folder_.path(), 1, {&progress, nullptr}), Interrupted);
}

// A header may claim any dictionary and any size of a block: neither is allocated.
TEST(Xz, HugeClaims) {
  TemporaryFolder folder;
  const std::string packed = xz({"text"}, {.dictionary = 1u << 30});
  for (unsigned threads : {1, 4})
    try {
      decompress(bytes_of(packed), folder.path(), threads, {});
      ADD_FAILURE();
    } catch (const Error &error) {
      EXPECT_EQ(std::string(error.what()),
                "compressed with an xz dictionary above 128 MiB: decompress it with xz -d first");
    }
  const std::string largest = xz({"text"}, {.dictionary = 128u << 20});
  EXPECT_EQ(as_text(decompress(bytes_of(largest), folder.path(), 1, {}).file->bytes()), "text");
  // The size in the block's header, and the header's own checksum.
  std::string liar = xz_of_threads(words(600'000));
  ASSERT_EQ(liar[13] & 0xc0, 0xc0) << "both sizes are stated";
  const u64 header = (static_cast<u8>(liar[12]) + 1) * 4;
  for (u64 at = 14; liar[at - 1] & 0x80 || at == 14; ++at) // the compressed size: as many bits as it has
    liar[at] = static_cast<char>(liar[at] & 0x80 ? 0xff : 0x7f);
  const u32 sum = lzma_crc32(reinterpret_cast<const u8 *>(liar.data()) + 12, header - 4, 0);
  for (u64 i = 0; i < 4; ++i)
    liar[12 + header - 4 + i] = static_cast<char>(sum >> 8 * i);
  for (unsigned threads : {1, 4}) {
    const Decompressed out = decompress(bytes_of(liar), folder.path(), threads, {});
    EXPECT_TRUE(out.damaged);
    EXPECT_TRUE(words(600'000).starts_with(as_text(out.file->bytes()).substr(0, 100'000)));
  }
}

TEST(Compressed, FramesToBeSkippedBelongToTheFirstOther) {
  TemporaryFolder folder;
  const auto text_of = [&](const std::string &packed) {
    return std::string(as_text(decompress(bytes_of(packed), folder.path(), 1, {}).file->bytes()));
  };
  EXPECT_EQ(text_of(skipped_frame("1") + skipped_frame("") + lz4("lz4")), "lz4");
  EXPECT_EQ(text_of(skipped_frame("1") + skipped_frame("") + zstd("zstd")), "zstd");
  EXPECT_EQ(text_of(skipped_frame("1")), "");
  EXPECT_EQ(text_of(skipped_frame("1") + "neither"), "");
  EXPECT_FALSE(is_compressed(bytes_of(std::string(8, '\0') + xz("text"))));
}

} // namespace
} // namespace dnheap::test
