#include "dump/open.h"
#include "support/elf_writer.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <random>
#include <zlib.h>
#include <zstd.h>

namespace dnheap {
namespace {

class OpenDump : public testing::Test {
protected:
  std::filesystem::path folder =
      std::filesystem::path(testing::TempDir()) / ("open_test." + std::to_string(std::random_device()()));

  void SetUp() override { std::filesystem::create_directories(folder); }
  void TearDown() override { std::filesystem::remove_all(folder); }

  std::string write(const std::string &name, Bytes contents) {
    std::string path = folder / name;
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char *>(contents.data()), static_cast<std::streamsize>(contents.size()));
    return path;
  }
  std::string write(const std::string &name, std::string_view contents) {
    return write(name, std::as_bytes(std::span(contents)));
  }
  // What open_dump says against a file, without the path in front.
  std::string complaint(Bytes contents) {
    std::string path = write("file", contents);
    try {
      open_dump(path);
    } catch (const Error &error) {
      std::string text = error.what();
      EXPECT_EQ(text.substr(0, path.size() + 2), path + ": ");
      return text.substr(std::min(text.size(), path.size() + 2));
    }
    return "opened";
  }
  std::string complaint(std::string_view contents) { return complaint(std::as_bytes(std::span(contents))); }
};

// A core of 6 MB that does not compress well.
std::vector<std::byte> core() {
  std::mt19937 random(5);
  test::ElfCoreWriter writer{.format = {8, ByteOrder::little}};
  std::vector<std::byte> bytes(6'000'000);
  for (std::byte &b : bytes)
    b = static_cast<std::byte>(random() % 64);
  writer.segments = {{0x10000, bytes}};
  writer.pid = 77;
  return writer.write();
}

std::vector<std::byte> zstd(Bytes bytes, int window_log = 0) {
  std::vector<std::byte> out(ZSTD_compressBound(bytes.size()));
  ZSTD_CCtx *context = ZSTD_createCCtx();
  ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, 1);
  ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
  if (window_log)
    ZSTD_CCtx_setParameter(context, ZSTD_c_windowLog, window_log);
  // As a stream: the frame then does not know its size, and the window is what was asked for.
  ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
  ZSTD_outBuffer to{out.data(), out.size(), 0};
  ZSTD_inBuffer nothing{nullptr, 0, 0};
  ZSTD_compressStream2(context, &to, &in, ZSTD_e_flush);
  EXPECT_EQ(ZSTD_compressStream2(context, &to, &nothing, ZSTD_e_end), 0u);
  ZSTD_freeCCtx(context);
  out.resize(to.pos);
  return out;
}

std::vector<std::byte> gzip(Bytes bytes) {
  z_stream stream{};
  deflateInit2(&stream, 1, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  std::vector<std::byte> out(deflateBound(&stream, bytes.size()));
  stream.next_in = const_cast<Bytef *>(reinterpret_cast<const Bytef *>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef *>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

std::vector<std::byte> join(std::vector<std::byte> a, const std::vector<std::byte> &b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

constexpr std::string_view closing =
    "; dnheap opens ELF cores, Mach-O cores, Windows minidumps and .gcdump files (plain, .zst, .gz, .xz, .lz4)";

TEST_F(OpenDump, SaysWhatAFileIsInstead) {
  auto expected = [](const char *what) { return "not a dump: " + std::string(what) + std::string(closing); };
  EXPECT_EQ(complaint(""), expected("the file is empty: its writer had no room, or no permission"));
  EXPECT_EQ(complaint("hello\nworld\n"), expected("text"));
  EXPECT_EQ(complaint("MZ\x90\x01\x02"),
            expected("a Windows program (PE): dnheap reads a dump of its process: dotnet-dump, procdump -ma"));
  EXPECT_EQ(complaint("MDMP\x93\xa7"), "this minidump is cut off inside its header: the file ends at byte 6");
  EXPECT_EQ(
      complaint("\xcf\xfa\xed\xfe\x07"),
      expected("a Mach-O program or library, not a core: dnheap reads a dump of its process: createdump, or process "
               "save-core of lldb"));
  EXPECT_EQ(complaint("\x12\x34\x56\x78\x9a"), expected("unknown contents (first bytes 12 34 56 78)"));
  EXPECT_EQ(complaint(std::string(600, '\0') + "core"),
            expected("it begins with zeros: writing or copying it was not finished"));
  EXPECT_EQ(complaint("\x01"), expected("unknown contents (first bytes 01)"));
  test::ElfLibraryWriter library{.format = {8, ByteOrder::little}};
  EXPECT_EQ(
      complaint(library.write()),
      expected("an ELF program or library, not a core: dnheap reads the process itself (-p PID), or a dump of it: "
               "createdump, gcore"));
}

TEST_F(OpenDump, NamesTheFileInEveryError) {
  EXPECT_EQ(complaint(Bytes(core()).first(30)),
            "this ELF core is cut off inside its ELF header: the file ends at byte 30");
  std::string missing = folder / "missing";
  try {
    open_dump(missing);
    FAIL();
  } catch (const Error &error) {
    EXPECT_EQ(error.what(), missing + ": No such file or directory");
  }
}

TEST_F(OpenDump, OpensPlainAndCompressedByContentNotByName) {
  std::vector<std::byte> plain = core();
  Bytes half = Bytes(plain).first(plain.size() / 2), rest = Bytes(plain).subspan(plain.size() / 2);
  std::vector<std::byte> skippable = {std::byte{0x50}, std::byte{0x2a}, std::byte{0x4d}, std::byte{0x18}};
  skippable.resize(8 + 3);
  skippable[4] = std::byte{3};
  for (const std::vector<std::byte> &contents :
       {plain, zstd(plain), gzip(plain), join(zstd(half), zstd(rest)), join(gzip(half), gzip(rest)),
        join(skippable, zstd(plain)), join(gzip(plain), std::vector<std::byte>(512))}) {
    std::string path = write("core", contents);
    OpenOptions options;
    options.temp_dir = folder;
    std::unique_ptr<Target> target = open_dump(path, options);
    EXPECT_EQ(target->path, path);
    EXPECT_EQ(target->pid, 77u);
    EXPECT_EQ(target->memory.size(), 6'000'000u);
    EXPECT_EQ(target->memory.view(0x10000, 6'000'000).back(), plain.back());
    EXPECT_TRUE(target->notes.empty());
  }
}

TEST_F(OpenDump, ACutOrDamagedCompressedDumpGivesItsFirstPart) {
  std::vector<std::byte> plain = core();
  for (bool use_zstd : {true, false}) {
    std::vector<std::byte> whole = use_zstd ? zstd(plain) : gzip(plain);
    std::vector<std::byte> cut(whole.begin(), whole.begin() + static_cast<i64>(whole.size() / 2));
    std::unique_ptr<Target> target = open_dump(write("cut", cut));
    ASSERT_EQ(target->notes.size(), 2u);
    EXPECT_FALSE(target->notes.have_effect()) << "what there is of it is right";
    EXPECT_NE(target->notes[0].text.find("data are cut off: the file ends at byte"), std::string::npos)
        << target->notes[0].text;
    EXPECT_EQ(target->notes[1].text.substr(0, 10), "truncated:");
    EXPECT_GT(target->memory.size(), 1'000'000u);
    EXPECT_EQ(target->memory.view(0x10000, 1000).front(), Bytes(plain).subspan(plain.size() - 6'000'000).front());

    std::vector<std::byte> damaged = whole;
    std::fill(damaged.end() - 2'000'000, damaged.end() - 1'900'000, std::byte{0xee});
    target = open_dump(write("damaged", damaged));
    EXPECT_NE(target->notes[0].text.find("data are damaged at or before byte"), std::string::npos)
        << target->notes[0].text;
    EXPECT_TRUE(target->notes.have_effect());

    EXPECT_NE(complaint(Bytes(whole).first(8)).find("nothing could be decompressed"), std::string::npos);
    target = open_dump(write("trailer", join(whole, {std::byte{1}, std::byte{2}})));
    EXPECT_EQ(target->notes[0].text,
              std::string("2 B after the ") + (use_zstd ? "zstd" : "gzip") + " data were ignored");
  }
}

TEST_F(OpenDump, RefusesToDecompressTwiceOrWithoutBound) {
  std::vector<std::byte> plain = core();
  EXPECT_EQ(complaint(zstd(gzip(plain))), "compressed more than once: decompress it once and open the result");
  EXPECT_EQ(complaint(zstd(plain, 28)),
            "compressed with a zstd window above 128 MiB: decompress it with zstd -d --long=31 first");
}

TEST_F(OpenDump, ReportsProgressAndStopsWhenAsked) {
  std::string path = write("core", zstd(core()));
  Progress progress;
  std::vector<PassTime> times;
  open_dump(path, {}, {&progress, &times});
  ASSERT_EQ(times.size(), 2u);
  EXPECT_EQ(times[0].name, "decompress");
  EXPECT_EQ(times[0].bytes, std::filesystem::file_size(path));
  EXPECT_EQ(times[1].name, "open");
  progress.cancel = true;
  EXPECT_THROW(open_dump(path, {}, {&progress, nullptr}), Interrupted);
}

TEST_F(OpenDump, SaysWhereItCouldNotWrite) {
  OpenOptions options;
  options.temp_dir = folder / "missing";
  std::string path = write("core", zstd(core()));
  try {
    open_dump(path, options);
    FAIL();
  } catch (const Error &error) {
    EXPECT_NE(std::string(error.what()).find(options.temp_dir), std::string::npos);
  }
}

TEST_F(OpenDump, RandomDamageToCompressedDumpsDoesNoHarm) {
  std::mt19937 random(9);
  test::ElfCoreWriter writer{.format = {8, ByteOrder::little}};
  writer.segments = {{0x10000, std::vector<std::byte>(3000)}};
  for (u64 i = 0; i < 3000; ++i)
    writer.segments[0].bytes[i] = static_cast<std::byte>(random());
  std::vector<std::byte> plain = writer.write();
  for (const std::vector<std::byte> &good : {zstd(plain), gzip(plain)})
    for (int round = 0; round < 300; ++round) {
      std::vector<std::byte> file = good;
      file[random() % file.size()] ^= static_cast<std::byte>(1 + random() % 255);
      if (random() % 4 == 0)
        file.resize(random() % file.size());
      std::string path = write("damaged", file);
      try {
        open_dump(path, {folder});
      } catch (const Error &error) {
        EXPECT_EQ(std::string(error.what()).substr(0, path.size()), path);
      }
    }
}

} // namespace
} // namespace dnheap
