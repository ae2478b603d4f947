// Memory of control groups: of a container, a service or a job. Linux only; on other systems nothing is known. Reads a
// dozen small files at each call; any thread.
#pragma once
#include "base/integers.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dnheap {

struct GroupMemory {
  u64 used = 0;  // without file pages that can be reclaimed at once
  u64 limit = 0; // the lower one of memory.max and memory.high
  u64 ooms = 0;  // how often it ran out of memory since it was created
};

// Returns the process's group and the groups above it, as far as they are visible from here and have a limit; the
// process's own group comes first. Reads the hierarchy of groups as this process sees it; if the groups are not there,
// as for a process in another container, as that process sees it.
std::vector<GroupMemory> group_memory(u64 pid);

// Returns how much more memory this process can use before its control group, or the machine, has none left; nullopt:
// unknown.
std::optional<u64> memory_left();
// The same for this process's control groups alone; nullopt: none of them has a limit.
std::optional<u64> group_memory_left();

// Returns the processors whose time a quota of this process's control groups allows, rounded up ("--cpus 1.5" is 2);
// nullopt: no limit.
std::optional<unsigned> group_processors();

// The location of a process's control group in the hierarchy of one controller ("memory", "cpu"), from /proc/PID/cgroup
// and /proc/PID/mountinfo.
struct GroupFolder {
  std::string mount, path; // path: below the mount, "" or "/a/b"
  bool is_unified = false; // cgroup2
};
std::vector<GroupFolder> memory_group_folders(std::string_view groups, std::string_view mounts);
std::vector<GroupFolder> group_folders(std::string_view controller, std::string_view groups, std::string_view mounts);
// Returns the limits of that group and of the groups above it, up to the mount. `root`: the folder below which all
// paths are read.
std::vector<GroupMemory> read_group_memory(const GroupFolder &folder, const std::string &root);
// Returns the lowest limit of processors among the same groups.
std::optional<unsigned> read_group_processors(const GroupFolder &folder, const std::string &root);

} // namespace dnheap
