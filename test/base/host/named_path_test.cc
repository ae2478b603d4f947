// Paths that a dump names: which of them may be opened.
#include "base/host/named_path.h"

#include <gtest/gtest.h>

namespace dnheap {
namespace {

TEST(NamedPath, FilesOnDrivesOfWindows) {
  for (const char *path : {"C:\\app\\shop.pdb", "z:/app/shop.pdb", "Z:\\a"})
    EXPECT_TRUE(is_on_drive(path)) << path;
  // Servers, devices, and what depends on the folder that one is in.
  for (const char *path :
       {"\\\\server\\share\\shop.pdb", "//server/share/shop.pdb", "\\\\.\\pipe\\a", "\\\\?\\UNC\\server\\share\\a",
        "\\app\\shop.pdb", "/app/shop.pdb", "C:", "C:\\", "C:shop.pdb", "1:\\shop.pdb", "CC:\\shop.pdb", ""})
    EXPECT_FALSE(is_on_drive(path)) << path;
}

TEST(NamedPath, WindowsAsksNoServer) {
  EXPECT_TRUE(may_open_on_windows("C:\\app\\shop.pdb", true));
  EXPECT_TRUE(may_open_on_windows("/app/shop.pdb", false));
  EXPECT_FALSE(may_open_on_windows("\\\\server\\share\\shop.pdb", true));
  for (const char *path : {"//server/share/shop.pdb", "\\\\server\\share\\shop.pdb", "/\\server\\share\\shop.pdb"})
    EXPECT_FALSE(may_open_on_windows(path, false)) << path;
}

TEST(NamedPath, OthersOpenNoneOfWindows) {
  EXPECT_TRUE(may_open_named("/app/shop.pdb", false));
  EXPECT_FALSE(may_open_named("C:\\app\\shop.pdb", true));
}

} // namespace
} // namespace dnheap
