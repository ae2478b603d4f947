// Where a process's memory group is, and what such groups say, from texts and files as kernels have them.
#include "base/host/control_group.h"
#include "support/run.h"

#include <filesystem>
#include <gtest/gtest.h>
#include <unistd.h>

namespace dnheap {
namespace {

constexpr u64 mib = 1 << 20;

std::string found(std::string_view groups, std::string_view mounts) {
  std::string out;
  for (const GroupFolder &folder : memory_group_folders(groups, mounts))
    out += (out.empty() ? "" : " ") + folder.mount + "|" + folder.path + (folder.is_unified ? "|2" : "|1");
  return out;
}

TEST(ControlGroup, IsFoundByItsMount) {
  const char *unified = "30 23 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n";
  EXPECT_EQ(found("0::/system.slice/shop.service\n", unified), "/sys/fs/cgroup|/system.slice/shop.service|2");
  EXPECT_EQ(found("0::/\n", unified), "/sys/fs/cgroup||2") << "in a container, where the group is the root";
  EXPECT_EQ(found("0::/../other\n", unified), "") << "of another container, seen from a namespace";
  EXPECT_EQ(found("0::/../other\n", "30 23 0:26 /../other /sys/fs/cgroup ro shared:3 - cgroup2 cgroup rw\n"),
            "/sys/fs/cgroup||2")
      << "the same through that one's own mount";
  EXPECT_EQ(found("0::/a/b\n", "30 23 0:26 /a /cg rw - cgroup2 cgroup rw\n"), "/cg|/b|2");
  EXPECT_EQ(found("0::/ab\n", "30 23 0:26 /a /cg rw - cgroup2 cgroup rw\n"), "") << "/ab is not below /a";
}

TEST(ControlGroup, OlderHierarchiesHaveOneForMemory) {
  const char *mounts = "31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755\n"
                       "32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"
                       "35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
                       "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n";
  EXPECT_EQ(found("8:pids:/\n4:memory:/docker/ab\n1:cpu,cpuacct:/\n0::/\n", mounts),
            "/sys/fs/cgroup/memory|/docker/ab|1 /sys/fs/cgroup/unified||2");
}

TEST(ControlGroup, EachControllerHasItsOwnInOlderHierarchies) {
  const char *mounts = "32 31 0:29 / /cg/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"
                       "35 31 0:32 / /cg/memory rw - cgroup cgroup rw,memory\n";
  const std::vector<GroupFolder> folders = group_folders("cpu", "4:memory:/m\n1:cpu,cpuacct:/c\n", mounts);
  ASSERT_EQ(folders.size(), 1u);
  EXPECT_EQ(folders[0].mount + folders[0].path, "/cg/cpu,cpuacct/c");
}

TEST(ControlGroup, TextThatIsNoneIsNoGroup) {
  for (const char *text :
       {"", "\n", "x", "a b c d e f - cgroup2", " - cgroup2 x y\n", "1 2 3 / /m rw - cgroup2 x rw"}) {
    EXPECT_EQ(found(text, text), "");
    found("0::/a", text);
    found(text, "30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
  }
}

class GroupFiles : public testing::Test {
protected:
  test::TemporaryFolder root;

  void write(const std::string &name, const std::string &text) {
    std::filesystem::create_directories(std::filesystem::path(root.path(name)).parent_path());
    root.write(name, text);
  }
  std::vector<GroupMemory> read(const std::string &path, bool is_unified) {
    return read_group_memory({"/cg", path, is_unified}, root.path());
  }
};

TEST_F(GroupFiles, ProcessorsOfAQuota) {
  auto processors = [&](const std::string &path, bool is_unified) {
    return read_group_processors({"/cg", path, is_unified}, root.path()).value_or(0);
  };
  write("cg/a/b/cpu.max", "150000 100000\n");
  write("cg/a/cpu.max", "max 100000\n");
  EXPECT_EQ(processors("/a/b", true), 2u);
  EXPECT_EQ(processors("/a", true), 0u);
  write("cg/a/cpu.max", "20000 100000\n");
  EXPECT_EQ(processors("/a/b", true), 1u) << "the group above allows less";
  write("cg/c/cpu.cfs_quota_us", "400000\n");
  write("cg/c/cpu.cfs_period_us", "100000\n");
  write("cg/cpu.cfs_quota_us", "-1\n");
  write("cg/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(processors("/c", false), 4u);
  EXPECT_EQ(processors("", false), 0u);
  for (const char *none : {"", "\n", "0 100000", "100000 0", "100000", "x y", "99999999999999999999 1"}) {
    write("cg/d/cpu.max", none);
    EXPECT_EQ(processors("/d", true), 0u) << none;
  }
}

TEST_F(GroupFiles, Unified) {
  write("cg/a/b/memory.max", "104857600\n");
  write("cg/a/b/memory.high", "max\n");
  write("cg/a/b/memory.current", "94371840\n");
  write("cg/a/b/memory.stat", "anon 1\ninactive_file 4194304\nactive_file 7\n");
  write("cg/a/b/memory.events", "low 0\nhigh 3\nmax 8\noom 2\noom_kill 1\noom_group_kill 0\n");
  write("cg/a/memory.max", "max\n");
  write("cg/a/memory.high", "209715200\n");
  write("cg/a/memory.current", "125829120\n");
  write("cg/memory.stat", "anon 1\n"); // the root has no limit, and no use
  const std::vector<GroupMemory> groups = read("/a/b", true);
  ASSERT_EQ(groups.size(), 2u);
  EXPECT_EQ(groups[0].limit, 100 * mib);
  EXPECT_EQ(groups[0].used, 86 * mib);
  EXPECT_EQ(groups[0].ooms, 2u);
  EXPECT_EQ(groups[1].limit, 200 * mib);
  EXPECT_EQ(groups[1].used, 120 * mib);
}

TEST_F(GroupFiles, Older) {
  write("cg/a/memory.limit_in_bytes", "104857600\n");
  write("cg/a/memory.usage_in_bytes", "94371840\n");
  write("cg/a/memory.stat", "cache 1\ninactive_file 5\ntotal_inactive_file 4194304\n");
  write("cg/a/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 3\n");
  write("cg/memory.limit_in_bytes", "9223372036854771712\n"); // none
  write("cg/memory.usage_in_bytes", "99999999999\n");
  const std::vector<GroupMemory> groups = read("/a", false);
  ASSERT_EQ(groups.size(), 1u);
  EXPECT_EQ(groups[0].used, 86 * mib);
  EXPECT_EQ(groups[0].ooms, 3u);
}

TEST(ControlGroup, OfThisProcessCanBeAsked) {
  for (const GroupMemory &group : group_memory(static_cast<u64>(::getpid()))) {
    EXPECT_GT(group.limit, 0u);
    EXPECT_GT(group.used, 0u);
  }
}

TEST(MemoryLeft, IsKnownOnLinux) {
  std::optional<u64> left = memory_left();
  ASSERT_TRUE(left);
  EXPECT_GT(*left, 0u);
}

} // namespace
} // namespace dnheap
