// The folder of `watch`: no more than so many files, and no other files touched.
#include "base/error.h"
#include "base/text.h"
#include "lookout/kept_cores.h"
#include "support/run.h"

#include <filesystem>
#include <gtest/gtest.h>
#include <set>
#include <unistd.h>

namespace dnheap {
namespace {

namespace fs = std::filesystem;

std::set<std::string> names_in(const std::string &folder) {
  std::set<std::string> out;
  for (const fs::directory_entry &entry : fs::directory_iterator(folder))
    out.insert(entry.path().filename().string());
  return out;
}

TEST(KeptCores, NamesTellWhenAndOfWhat) {
  const test::TemporaryFolder folder;
  const KeptCores cores(folder.path(), 3);
  EXPECT_EQ(cores.next_path(1764036607, 4711), folder.path("watch-20251125T021007Z-4711.core.zst"));
  folder.write("watch-20251125T021007Z-4711.core.zst", "");
  EXPECT_EQ(cores.next_path(1764036607, 4711), folder.path("watch-20251125T021007Z-4711-2.core.zst"));
  EXPECT_EQ(utc_text(951827696), "2000-02-29T12:34:56Z");
}

TEST(KeptCores, TheOldestGo) {
  const test::TemporaryFolder folder;
  const KeptCores cores(folder.path(), 2);
  std::vector<std::string> paths;
  for (u64 time = 1764036607; time < 1764036612; ++time)
    paths.push_back(folder.write("watch-" + utc_text(time, true) + "-7.core.zst", "x"));
  EXPECT_EQ(cores.paths(), paths);
  EXPECT_EQ(cores.remove_oldest(paths[4]), std::vector(paths.begin(), paths.begin() + 3));
  EXPECT_EQ(cores.paths(), std::vector(paths.begin() + 3, paths.end()));
  // The clock was put back meanwhile: what was just written stays.
  const std::string newest = folder.write("watch-19990101T000000Z-7.core.zst", "x");
  EXPECT_EQ(cores.remove_oldest(newest), std::vector{paths[3]});
  EXPECT_TRUE(fs::exists(newest));
}

TEST(KeptCores, OtherFilesStay) {
  const test::TemporaryFolder folder;
  const std::string core = "watch-20251125T021007Z-4711.core.zst";
  std::set<std::string> others;
  for (const char *name : {"watch-20251125T021007Z-4711.core", "kept-watch-20251125T021007Z-4711.core.zst",
                           "watch-2025112T021007Z-4711.core.zst", "watch-20251125T021007Z-.core.zst",
                           "watch-20251125T021007Z-4711.core.zst.bak", "watch-20251125T021007Z-4711-x.core.zst",
                           "core.1234", "watch-20251125T021008Z-4711.core.zst.12345678"}) {
    folder.write(name, "x");
    others.insert(name);
  }
  fs::create_directory(folder.path("watch-20251125T021001Z-1.core.zst"));
  fs::create_symlink("core.1234", folder.path("watch-20251125T021002Z-1.core.zst"));
  others.insert({"watch-20251125T021001Z-1.core.zst", "watch-20251125T021002Z-1.core.zst"});
  folder.write(core, "x");
  folder.write("watch-20251125T021006Z-4711.core.zst.a1B2c3", "half"); // of one that was killed
  const KeptCores cores(folder.path(), 1);
  cores.remove_oldest(folder.write("watch-20251125T021009Z-4711.core.zst", "x"));
  others.insert("watch-20251125T021009Z-4711.core.zst");
  EXPECT_EQ(names_in(folder.path()), others);
}

TEST(KeptCores, OneAtATimeWorksInAFolder) {
  const test::TemporaryFolder folder;
  {
    const KeptCores cores(folder.path(), 1);
    try {
      const KeptCores second(folder.path(), 1);
      ADD_FAILURE() << "two in one folder";
    } catch (const Error &error) {
      EXPECT_EQ(error.what(), "another dnheap watch writes to " + folder.path() + ": each needs a folder of its own");
    }
  }
  const KeptCores after(folder.path(), 1);
  EXPECT_TRUE(names_in(folder.path()).empty()) << "nothing is left of trying whether it can be written to";
}

TEST(KeptCores, AFolderThatCannotBeWrittenToIsRefused) {
  const test::TemporaryFolder folder;
  EXPECT_THROW(KeptCores(folder.path("none"), 1), Error);
  EXPECT_THROW(KeptCores(folder.write("file", ""), 1), Error);
  if (::geteuid() != 0) {
    fs::permissions(folder.path(), fs::perms::owner_read | fs::perms::owner_exec);
    EXPECT_THROW(KeptCores(folder.path(), 1), Error);
    fs::permissions(folder.path(), fs::perms::owner_all);
  }
}

} // namespace
} // namespace dnheap
