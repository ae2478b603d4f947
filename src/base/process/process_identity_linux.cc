#include "base/host/kernel_text.h"
#include "base/process/process.h"
#include "base/process/process_identity.h"

#include <algorithm>
#include <sys/stat.h>
#include <unistd.h>

namespace dnheap {

namespace {

// Returns the numbers of a line of /proc/PID/status: "NSpid:\t1234\t17".
std::string line_of_status(u64 pid, const std::string &key) {
  const std::string status = "\n" + process_text(pid, "status").value_or("");
  const std::size_t at = status.find("\n" + key);
  if (at == std::string::npos)
    return {};
  const std::size_t begin = at + 1 + key.size();
  return status.substr(begin, status.find('\n', begin) - begin);
}

} // namespace

u64 id_inside(u64 pid) {
  const std::string ids = line_of_status(pid, "NSpid:");
  const std::size_t last = ids.find_last_of("\t ");
  return last == std::string::npos ? pid : number_in(std::string_view(ids).substr(last)).value_or(pid);
}

// The second of four numbers is that of the effective user.
std::optional<u64> user_of(u64 pid) {
  const std::string users = line_of_status(pid, "Uid:");
  const std::size_t second = users.find('\t', 1);
  return second == std::string::npos ? std::nullopt : number_in(std::string_view(users).substr(second));
}

std::optional<u64> own_user() { return ::geteuid(); }

std::string command_line_of(u64 pid) {
  std::string out = process_text(pid, "cmdline").value_or("");
  while (out.ends_with('\0'))
    out.pop_back();
  std::ranges::replace(out, '\0', ' ');
  return out;
}

std::string root_folder_of(u64 pid) { return "/proc/" + std::to_string(pid) + "/root"; }

std::optional<std::string> environment_of(u64 pid, const std::string &name) {
  const std::optional<std::string> all = process_text(pid, "environ", 4 << 20);
  if (!all)
    return std::nullopt;
  const std::string text = std::string(1, '\0') + *all, key = std::string(1, '\0') + name + "=";
  const std::size_t at = text.find(key);
  if (at == std::string::npos)
    return "";
  const std::size_t begin = at + key.size();
  return text.substr(begin, text.find('\0', begin) - begin);
}

std::optional<bool> sees_file(u64 pid, const std::string &path) {
  const std::string root = root_folder_of(pid);
  struct stat here = {}, there = {};
  if (::stat(path.c_str(), &here) != 0)
    return false;
  if (::stat((root + path).c_str(), &there) == 0)
    return here.st_dev == there.st_dev && here.st_ino == there.st_ino;
  return ::stat((root + "/").c_str(), &there) == 0 ? std::optional(false) : std::nullopt;
}

bool open_files_can_be_written() { return true; }

} // namespace dnheap
