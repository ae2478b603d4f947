// What control groups say of memory and processors: that of a container, a service, a job. Linux only; elsewhere
// nothing is known. A dozen small files are read at each call; any thread.
#pragma once
#include "base/integers.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dnheap {

struct GroupMemory {
  u64 used = 0;  // but for files' pages that can be had back at once
  u64 limit = 0; // that it is held to: the lower one of memory.max and memory.high
  u64 ooms = 0;  // how often it had no memory left, since it was made
};

// Of the process's group, and of those above it, that can be seen from here and have a limit; its own first. Looks into
// this process's hierarchy, or, of a process in another container, into that one's.
std::vector<GroupMemory> group_memory(u64 pid);

// Memory that this process may still use before its control group, or the machine, has none left; nullopt: unknown.
std::optional<u64> memory_left();
// The same of its control groups alone; nullopt: none has a limit.
std::optional<u64> group_memory_left();

// Processors whose time this process's control groups allow it, rounded up: those of a quota ("--cpus 1.5" is 2).
// nullopt: no limit.
std::optional<unsigned> group_processors();

// Where a process's group of a controller ("memory", "cpu") is, as /proc/PID/cgroup and /proc/PID/mountinfo tell.
struct GroupFolder {
  std::string mount, path; // path: below the mount, "" or "/a/b"
  bool is_unified = false; // cgroup2
};
std::vector<GroupFolder> memory_group_folders(std::string_view groups, std::string_view mounts);
std::vector<GroupFolder> group_folders(std::string_view controller, std::string_view groups, std::string_view mounts);
// The limits in such a folder and above it, up to the mount, as seen below `root`.
std::vector<GroupMemory> read_group_memory(const GroupFolder &folder, const std::string &root);
std::optional<unsigned> read_group_processors(const GroupFolder &folder, const std::string &root); // the least of them

} // namespace dnheap
