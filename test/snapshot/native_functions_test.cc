// Names of native functions of Windows, from the .pdb that the module names, in a folder that the user named.
#include "image/pe_image.h"
#include "snapshot/native_functions.h"
#include "snapshot/snapshot.h"
#include "support/heap_builder.h"
#include "support/pdb_writer.h"
#include "support/pe_writer.h"
#include "support/run.h"

#include <gtest/gtest.h>

namespace dnheap::test {
namespace {

constexpr Address library_at = 0x7ff000000000;

class WindowsFunctions : public testing::Test {
protected:
  WindowsFunctions() {
    pdb.sections = {{PeWriter::code, 0x1000}};
    pdb.symbols = {{1, 0x0, "?first@Shop@@YAXXZ"}, {1, 0x40, "inside"}, {1, 0x300, "leaf"}};
  }
  void open(const PeWriter &writer) {
    image = writer.write();
    std::unique_ptr<Target> target = heap.target();
    target->os = OperatingSystem::windows;
    Module module;
    module.path = "C:\\app\\shop.dll";
    module.base = library_at;
    module.extents = {{library_at, library_at + PeWriter::image_size, 0}};
    target->modules.push_back(module);
    std::vector<Range> ranges(target->memory.ranges().begin(), target->memory.ranges().end());
    for (const Range &range : PeWriter::mapped(image, library_at))
      ranges.push_back(range);
    target->memory = Memory(target->format(), ranges);
    snapshot = std::make_unique<Snapshot>(std::move(target), SnapshotOptions());
    snapshot->search_symbols_in({folder.path()});
    functions = std::make_unique<NativeFunctions>(*snapshot);
  }
  std::string function_at(u32 rva, bool is_return = false) {
    return functions->find(snapshot->target().modules.back(), library_at + rva, is_return);
  }
  void put(const PdbWriter &writer) { folder.write(named(), std::string(as_text(writer.write()))); }
  std::string named() const { // the file that PeWriter's images name
    const std::vector<std::byte> file = PeWriter().write();
    const std::string path = PeImage::from_file(file)->code_view()->path;
    return path.substr(path.find_last_of("/\\") + 1);
  }

  HeapBuilder heap{HeapShape()};
  TemporaryFolder folder;
  PdbWriter pdb;
  std::vector<std::byte> image;
  std::unique_ptr<Snapshot> snapshot;
  std::unique_ptr<NativeFunctions> functions;
};

TEST_F(WindowsFunctions, OfTheModulesPdb) {
  const std::vector<std::byte> file = PeWriter().write();
  pdb.age = PeImage::from_file(file)->code_view()->age;
  put(pdb);
  open(PeWriter());
  EXPECT_EQ(function_at(PeWriter::code + 0x10), "Shop::first+0x10");
  EXPECT_EQ(function_at(PeWriter::code + 0x80), "Shop::first+0x80") << "a label within the function";
  EXPECT_EQ(function_at(PeWriter::code + 0x100, true), "Shop::first+0x100") << "a call was its last instruction";
  EXPECT_EQ(function_at(PeWriter::code + 0x110), "") << "of the second function there is no symbol";
  EXPECT_EQ(function_at(PeWriter::code + 0x310), "leaf+0x10") << "no entry in the table of functions";
  EXPECT_TRUE(functions->refused().empty());
}

TEST_F(WindowsFunctions, NotOfAnotherBuildsPdb) {
  const std::vector<std::byte> file = PeWriter().write();
  pdb.age = PeImage::from_file(file)->code_view()->age + 1;
  put(pdb);
  open(PeWriter());
  EXPECT_EQ(function_at(PeWriter::code + 0x10), "");
  EXPECT_EQ(function_at(PeWriter::code + 0x20), "");
  ASSERT_EQ(functions->refused().size(), 1u) << "said once";
  EXPECT_NE(functions->refused()[0].find(": it belongs to another build"), std::string::npos);
}

TEST_F(WindowsFunctions, NotOfADamagedPdb) {
  folder.write(named(), "Microsoft C/C++ MSF 7.00");
  open(PeWriter());
  EXPECT_EQ(function_at(PeWriter::code + 0x10), "");
  ASSERT_EQ(functions->refused().size(), 1u);
  EXPECT_NE(functions->refused()[0].find(": it is no .pdb of native code"), std::string::npos);
}

TEST_F(WindowsFunctions, NothingIsSaidWhereThereIsNoPdb) {
  open(PeWriter());
  EXPECT_EQ(function_at(PeWriter::code + 0x10), "");
  EXPECT_TRUE(functions->refused().empty());
}

} // namespace
} // namespace dnheap::test
