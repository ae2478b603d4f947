#include "snapshot/files/symbol_file.h"
#include "support/debug_file_writer.h"
#include "support/run.h"
#include "support/xz.h"

#include <gtest/gtest.h>
#include <sstream>

namespace dnheap::test {
namespace {

std::string as_string(const std::vector<std::byte> &bytes) { return std::string(as_text(bytes)); }

std::vector<std::byte> as_bytes_of(const std::string &text) {
  const Bytes bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

class SymbolFiles : public testing::Test {
protected:
  SymbolFile open(const std::string &content, u64 most = SymbolFile::most_decompressed) {
    return SymbolFile(MappedFile::open(folder_.write("file.so", content)), most);
  }
  static std::string name_at(const SymbolFile &file, u64 address) {
    const std::optional<ElfFunction> found = file.find_function(address);
    return found ? std::string(found->name) : "";
  }
  TemporaryFolder folder_;
};

// Exports, and what .gnu_debugdata holds: this text.
std::string library_with(Format format, const std::string &inner) {
  DebugFileWriter out{.format = format, .symbols = {{"exported", 0x1000, 1, 0x40, 2}}, .exports = true};
  out.more = {{".gnu_debugdata", as_bytes_of(inner), 0}};
  return as_string(out.write());
}

std::string inner_file(Format format) {
  return as_string(
      DebugFileWriter{.format = format, .symbols = {{"hidden", 0x2000, 1, 0x40, 2}, {"unsized", 0xf00, 1, 0, 2}}}
          .write());
}

TEST_F(SymbolFiles, HaveTheSymbolsInside) {
  for (Format format : all_formats) {
    SCOPED_TRACE(name_of(format));
    const std::string inner = inner_file(format);
    const SymbolFile file = open(library_with(format, xz(inner)));
    EXPECT_EQ(file.decompressed_bytes(), inner.size());
    EXPECT_EQ(name_at(file, 0x2010), "hidden");
    EXPECT_EQ(name_at(file, 0x1010), "exported") << "it is nearer than the one without a size";
    EXPECT_EQ(name_at(file, 0xf20), "unsized");
    EXPECT_EQ(name_at(file, 0xe00), "");
    const SymbolFile alone = open(library_with(format, ""));
    EXPECT_EQ(name_at(alone, 0x2010), "");
    EXPECT_EQ(name_at(alone, 0x1010), "exported");
  }
}

TEST_F(SymbolFiles, LeaveOutWhatIsDamagedOrTooLarge) {
  const std::string inner = inner_file({}), packed = xz(inner);
  for (u64 most : {u64{0}, u64{1}, u64{inner.size() - 1}})
    EXPECT_EQ(open(library_with({}, packed), most).decompressed_bytes(), 0u) << most;
  EXPECT_EQ(open(library_with({}, packed), inner.size()).decompressed_bytes(), inner.size());
  EXPECT_EQ(open(library_with({}, xz({inner}, {.dictionary = 1u << 30}))).decompressed_bytes(), 0u);
  EXPECT_EQ(open(library_with({}, xz(std::string(80 << 20, 'x')))).decompressed_bytes(), 0u);
  EXPECT_EQ(open(library_with({}, xz(std::string(3 << 20, 'x')))).decompressed_bytes(), u64{3} << 20);
  for (u64 cut = 0; cut < packed.size(); cut += 5) {
    const SymbolFile file = open(library_with({}, packed.substr(0, cut)));
    EXPECT_EQ(file.decompressed_bytes(), 0u);
    EXPECT_EQ(name_at(file, 0x1010), "exported");
  }
  for (u64 at = 0; at < packed.size(); at += 3) {
    std::string harmed = packed;
    harmed[at] ^= 0x5a;
    const SymbolFile file = open(library_with({}, harmed));
    EXPECT_TRUE(file.decompressed_bytes() == 0 || file.decompressed_bytes() == inner.size()) << at;
    EXPECT_EQ(name_at(file, 0x1010), "exported");
  }
}

// As Fedora's packages are made: without .symtab, whose functions lie in .gnu_debugdata unless .dynsym has them.
TEST_F(SymbolFiles, OfARealLibrary) {
  folder_.write("a.c", "__attribute__((noinline)) static int inside(volatile int *x) { return *x * 3 + 1; }\n"
                       "int outside(volatile int *x) { return inside(x) + inside(x) * 2; }\n");
  const RunResult made = run("cd '" + folder_.path() +
                             "' && gcc -O1 -shared -fPIC -o a.so a.c && nm a.so > names &&"
                             " objcopy -S --keep-symbol=inside a.so inner && xz -k inner &&"
                             " strip --strip-all a.so && objcopy --add-section .gnu_debugdata=inner.xz a.so b.so");
  if (made.exit_code != 0)
    GTEST_SKIP() << "NOT TESTED: gcc, nm, objcopy, strip or xz is missing: " << made.err;
  const SymbolFile without(MappedFile::open(folder_.path("a.so"))), with(MappedFile::open(folder_.path("b.so")));
  std::istringstream names(read_file(folder_.path("names")));
  u64 found = 0;
  for (std::string line; std::getline(names, line);) {
    std::istringstream words(line);
    std::string address, kind, name;
    words >> address >> kind >> name;
    if (name != "inside" && name != "outside")
      continue;
    ++found;
    EXPECT_EQ(name_at(with, std::stoull(address, nullptr, 16) + 1), name);
    EXPECT_EQ(name_at(without, std::stoull(address, nullptr, 16) + 1), name == "outside" ? name : "");
  }
  EXPECT_EQ(found, 2u);
}

} // namespace
} // namespace dnheap::test
