#include "base/host/control_group.h"
#include "base/host/kernel_text.h"

#include <algorithm>

namespace dnheap {

namespace {

constexpr u64 most_text = 16 << 20; // bytes of mountinfo: hosts with many containers have thousands of mounts

// Returns the part of `text` before `separator`, and removes both from `text`.
std::string_view take_part(std::string_view &text, char separator) {
  const std::string_view part = text.substr(0, text.find(separator));
  text.remove_prefix(std::min(part.size() + 1, text.size()));
  return part;
}

bool has_word(std::string_view list, std::string_view word) {
  while (!list.empty())
    if (take_part(list, ',') == word)
      return true;
  return false;
}

// Returns "/a/b" from the line "0::/a/b" of the unified hierarchy, or from "4:memory:/a/b", the line of the older
// hierarchy that has the controller.
std::optional<std::string> group_in(std::string_view controller, std::string_view groups, bool is_unified) {
  while (!groups.empty()) {
    std::string_view line = take_part(groups, '\n');
    const std::string_view number = take_part(line, ':'), controllers = take_part(line, ':');
    if (is_unified ? number == "0" && controllers.empty() : has_word(controllers, controller))
      return std::string(line);
  }
  return std::nullopt;
}

std::optional<GroupMemory> read_one(const std::string &folder, bool is_unified) {
  constexpr u64 no_limit = u64{1} << 62;
  auto number = [&](const char *name) {
    return number_in(kernel_text(folder + name).value_or("")); // "max", no limit, is not a number
  };
  GroupMemory out;
  out.limit = number(is_unified ? "/memory.max" : "/memory.limit_in_bytes").value_or(no_limit);
  if (is_unified)
    out.limit = std::min(out.limit, number("/memory.high").value_or(no_limit));
  const std::optional<u64> used = number(is_unified ? "/memory.current" : "/memory.usage_in_bytes");
  if (!used || out.limit >= no_limit)
    return std::nullopt;
  const u64 files =
      number_behind(kernel_text(folder + "/memory.stat"), is_unified ? "inactive_file " : "total_inactive_file ")
          .value_or(0);
  out.used = *used - std::min(*used, files);
  const std::optional<std::string> events =
      kernel_text(folder + (is_unified ? "/memory.events" : "/memory.oom_control"));
  out.ooms = std::max(number_behind(events, "oom ").value_or(0), number_behind(events, "oom_kill ").value_or(0));
  return out;
}

std::vector<GroupMemory> group_memory(std::string_view groups, const std::string &mounts, const std::string &root) {
  std::vector<GroupMemory> out;
  for (const GroupFolder &folder : memory_group_folders(groups, kernel_text(mounts, most_text).value_or("")))
    if (out.empty())
      out = read_group_memory(folder, root);
  return out;
}

} // namespace

// Documentation/filesystems/proc.rst, mountinfo: id, parent, device, root, mount point, options, optional fields, "-",
// type, source, super options. Root and group are as this process's own namespace sees them.
std::vector<GroupFolder> group_folders(std::string_view controller, std::string_view groups, std::string_view mounts) {
  std::vector<GroupFolder> out;
  while (!mounts.empty()) {
    std::string_view line = take_part(mounts, '\n');
    std::string_view behind = line.substr(std::min(line.find(" - "), line.size()));
    for (int skipped = 0; skipped < 3; ++skipped)
      take_part(line, ' ');
    std::string_view root = take_part(line, ' ');
    const std::string_view mount = take_part(line, ' ');
    behind.remove_prefix(std::min<std::size_t>(3, behind.size()));
    const std::string_view type = take_part(behind, ' ');
    take_part(behind, ' ');
    const bool is_unified = type == "cgroup2";
    if (!is_unified && (type != "cgroup" || !has_word(behind, controller)))
      continue;
    const std::optional<std::string> group = group_in(controller, groups, is_unified);
    if (root == "/")
      root = "";
    if (!group || !group->starts_with(root))
      continue;
    std::string path = group->substr(root.size());
    if (path == "/")
      path = "";
    // "/.." is above the part visible from here.
    if ((!path.empty() && path[0] != '/') || (path + "/").find("/../") != path.npos)
      continue;
    out.push_back({std::string(mount), std::move(path), is_unified});
  }
  return out;
}

std::vector<GroupFolder> memory_group_folders(std::string_view groups, std::string_view mounts) {
  return group_folders("memory", groups, mounts);
}

std::vector<GroupMemory> read_group_memory(const GroupFolder &folder, const std::string &root) {
  std::vector<GroupMemory> out;
  for (std::string path = folder.path;; path.resize(path.rfind('/'))) {
    if (std::optional<GroupMemory> one = read_one(root + folder.mount + path, folder.is_unified))
      out.push_back(*one);
    if (path.empty())
      return out;
  }
}

// Tries our own hierarchy first, since it may show more groups above.
std::vector<GroupMemory> group_memory(u64 pid) {
  const std::string process = "/proc/" + std::to_string(pid);
  const std::string groups = kernel_text(process + "/cgroup").value_or("");
  std::vector<GroupMemory> out = group_memory(groups, "/proc/self/mountinfo", "");
  return out.empty() ? group_memory(groups, process + "/mountinfo", process + "/root") : out;
}

std::optional<u64> memory_left() {
  std::optional<u64> left = group_memory_left();
  if (std::optional<u64> kilobytes = number_behind(kernel_text("/proc/meminfo"), "MemAvailable:"))
    left = std::min(left.value_or(~u64{0}), *kilobytes * 1024);
  return left;
}

std::optional<u64> group_memory_left() {
  std::optional<u64> left;
  const std::string groups = kernel_text("/proc/self/cgroup").value_or("");
  for (const GroupMemory &group : group_memory(groups, "/proc/self/mountinfo", ""))
    left = std::min(left.value_or(~u64{0}), group.limit > group.used ? group.limit - group.used : 0);
  return left;
}

// cpu.max is "150000 100000" (so many microseconds in each period of 100000) or "max 100000"; the older hierarchy has
// these numbers in two files, with -1 for no limit.
std::optional<unsigned> read_group_processors(const GroupFolder &folder, const std::string &root) {
  std::optional<unsigned> least;
  for (std::string path = folder.path;; path.resize(path.rfind('/'))) {
    const std::string at = root + folder.mount + path;
    std::string quota, period;
    if (folder.is_unified) {
      const std::string both = kernel_text(at + "/cpu.max").value_or("");
      quota = both.substr(0, both.find(' '));
      period = both.substr(std::min(both.find(' '), both.size()));
    } else {
      quota = kernel_text(at + "/cpu.cfs_quota_us").value_or("");
      period = kernel_text(at + "/cpu.cfs_period_us").value_or("");
    }
    const std::optional<u64> time = number_in(quota), of = number_in(period);
    if (time && of && *time > 0 && *of > 0 && *time / *of < 1 << 16)
      least = std::min(least.value_or(~0u), static_cast<unsigned>((*time + *of - 1) / *of));
    if (path.empty())
      return least;
  }
}

std::optional<unsigned> group_processors() {
  const std::string groups = kernel_text("/proc/self/cgroup").value_or("");
  std::optional<unsigned> least;
  for (const GroupFolder &folder :
       group_folders("cpu", groups, kernel_text("/proc/self/mountinfo", most_text).value_or("")))
    if (const std::optional<unsigned> one = read_group_processors(folder, ""))
      least = std::min(least.value_or(~0u), *one);
  return least;
}

} // namespace dnheap
