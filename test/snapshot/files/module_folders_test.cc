// Where files of modules and their symbols are looked for.
#include "snapshot/files/module_folders.h"
#include "support/run.h"

#include <filesystem>
#include <gtest/gtest.h>

namespace dnheap::test {
namespace {

using Paths = std::vector<std::string>;

TEST(ModuleFolders, PathsOfWindowsAreLookedForBelowAFolder) {
  TemporaryFolder folder;
  for (const char *inside : {"/app", "/z/lib"})
    std::filesystem::create_directories(folder.path() + inside);
  const std::string app = folder.write("app/shop.pdb", "1"), lib = folder.write("z/lib/pool.pdb", "2");
  ModuleFolders folders({folder.path()});
  EXPECT_EQ(folders.candidates("Z:\\app\\shop.pdb", true), Paths{app}) << "as the file system's root";
  EXPECT_EQ(folders.candidates("Z:\\lib\\pool.pdb", true), Paths{lib}) << "as the folder of all drives";
}

TEST(ModuleFolders, NamesOfWindowsKnowNoCase) {
  TemporaryFolder folder;
  const std::string path = folder.write("Shop.PDB", "1");
  ModuleFolders folders({folder.path()});
  EXPECT_EQ(folders.candidates("Z:\\app\\shop.pdb", true), Paths{path});
  EXPECT_EQ(folders.candidates("/app/shop.pdb"), Paths{"/app/shop.pdb"});
}

TEST(ModuleFolders, ThePathItselfWhereItMayBeOneOfThisHost) {
  ModuleFolders folders(Paths{});
  EXPECT_EQ(folders.candidates("/app/shop.pdb"), Paths{"/app/shop.pdb"});
  EXPECT_EQ(folders.candidates("Z:\\app\\shop.pdb", true), Paths());
}

} // namespace
} // namespace dnheap::test
