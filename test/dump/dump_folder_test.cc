// A folder as target: as collectors leave it, as parts of one dump, and what is refused.
#include "dump/open.h"
#include "support/elf_writer.h"
#include "support/run.h"

#include <filesystem>
#include <gtest/gtest.h>
#include <zlib.h>

namespace dnheap::test {
namespace {

std::string core_text(i32 pid = 77) {
  ElfCoreWriter writer{.format = {8, ByteOrder::little}};
  writer.segments = {{0x10000, std::vector<std::byte>(50000, std::byte{0x5a})}};
  writer.pid = pid;
  const std::vector<std::byte> bytes = writer.write();
  return {reinterpret_cast<const char *>(bytes.data()), bytes.size()};
}

std::string gzipped_text(const std::string &text) {
  std::string out(text.size() + 1000, '\0');
  z_stream stream{};
  deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  stream.next_in = reinterpret_cast<Bytef *>(const_cast<char *>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef *>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

// What open_dump says against the folder, without its path.
std::string folder_complaint(const TemporaryFolder &folder) {
  try {
    open_dump(folder.path());
  } catch (const Error &error) {
    const std::string text = error.what();
    EXPECT_TRUE(text.starts_with(folder.path() + ": ")) << text;
    return text.substr(std::min(text.size(), folder.path().size() + 2));
  }
  return "opened";
}

void expect_whole_core(const TemporaryFolder &folder, const std::string &first, const std::string &note) {
  const std::unique_ptr<Target> target = open_dump(folder.path());
  EXPECT_EQ(target->path, folder.path(first));
  EXPECT_EQ(target->folder, folder.path());
  EXPECT_EQ(target->pid, 77u);
  EXPECT_EQ(target->memory.known_bytes(0x10000, 0x10000 + 50000), 50000u);
  EXPECT_EQ(target->notes.texts(), note.empty() ? std::vector<std::string>() : std::vector{note});
}

// Cuts the text into files of that size.
void split_into(const TemporaryFolder &folder, const std::string &text, u64 size,
                const std::vector<std::string> &names) {
  for (u64 i = 0; i < names.size(); ++i)
    folder.write(names[i], text.substr(std::min<u64>(text.size(), i * size), size));
}

TEST(DumpFolder, TheDumpAmongTextsAndModules) {
  TemporaryFolder folder;
  std::filesystem::create_directory(folder.path("modules"));
  folder.write("info.json", "{}");
  folder.write("empty", "");
  folder.write("notes.txt.gz", gzipped_text("some text"));
  folder.write("modules/libcoreclr.so", std::string("\x7f"
                                                    "ELF\2\1\1\0\0\0\0\0\0\0\0\0\3\0",
                                                    18));
  folder.write("modules/core", core_text());
  expect_whole_core(folder, "modules/core", "");
  std::filesystem::remove(folder.path("modules/core"));
  folder.write("shop.core.gz", gzipped_text(core_text()));
  expect_whole_core(folder, "shop.core.gz", "");
}

TEST(DumpFolder, PartsInTheOrderOfTheirNumbers) {
  for (const auto &[names, note] : std::initializer_list<std::pair<std::vector<std::string>, const char *>>{
           {{"core.0001", "core.0002", "core.0003"}, "joined from 3 parts, core.0001 to core.0003"},
           {{"core.part8", "core.part9", "core.part10"}, ""},
           {{"x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11"}, "joined from 11 parts, x1 to x11"},
           {{"core.aa", "core.ab", "core.ac"}, "joined from 3 parts, core.aa to core.ac"}}) {
    SCOPED_TRACE(names.front());
    TemporaryFolder folder;
    const std::string text = core_text();
    split_into(folder, text, text.size() / names.size() + 1, names);
    folder.write("core.json", "{}");
    if (*note)
      expect_whole_core(folder, names.front(), note);
    else // they begin with no first number
      EXPECT_EQ(open_dump(folder.path())->pid, 77u);
  }
  TemporaryFolder packed;
  const std::string text = gzipped_text(core_text());
  split_into(packed, text, text.size() / 2 + 1, {"core.gz.0", "core.gz.1"});
  expect_whole_core(packed, "core.gz.0", "joined from 2 parts, core.gz.0 to core.gz.1");
}

// The number of a whole one is the process's.
TEST(DumpFolder, AWholeDumpHasNoParts) {
  TemporaryFolder folder;
  folder.write("core.1", core_text());
  folder.write("core.2", "something else");
  expect_whole_core(folder, "core.1", "");
}

TEST(DumpFolder, WhatIsRefused) {
  TemporaryFolder folder;
  EXPECT_EQ(folder_complaint(folder), "it has no files");
  folder.write("text", "text");
  EXPECT_EQ(folder_complaint(folder), "its only file is no dump");

  TemporaryFolder other;
  other.write("core", core_text());
  std::filesystem::create_symlink(other.path("core"), folder.path("core"));
  std::filesystem::create_directory_symlink(other.path(), folder.path("more"));
  EXPECT_EQ(folder_complaint(folder), "its only file is no dump; links are not followed");

  folder.write("b.core", core_text());
  EXPECT_EQ(folder_complaint(folder), "opened");
  folder.write("a\ncore.gz", gzipped_text(core_text(78)));
  EXPECT_EQ(folder_complaint(folder), "it has 2 dumps: a?core.gz, b.core; name one");
  for (int i = 0; i < 20; ++i)
    folder.write("c" + std::to_string(i), core_text());
  EXPECT_NE(folder_complaint(folder).find("it has 22 dumps: "), std::string::npos);
  EXPECT_NE(folder_complaint(folder).find(", …; name one"), std::string::npos);
}

TEST(DumpFolder, AMissingPart) {
  TemporaryFolder folder;
  const std::string text = core_text();
  split_into(folder, text, text.size() / 4 + 1, {"core.0", "core.1", "core.2", "core.3"});
  EXPECT_EQ(folder_complaint(folder), "opened");
  std::filesystem::remove(folder.path("core.1"));
  EXPECT_EQ(folder_complaint(folder), "a part of the dump is missing between core.0 and core.2");
  std::filesystem::remove(folder.path("core.0"));
  EXPECT_EQ(folder_complaint(folder), "none of its 2 files is a dump");
}

} // namespace
} // namespace dnheap::test
