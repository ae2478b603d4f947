// The names under which the system knows a process: its user, and its id in the container that it runs in. One or two
// files of /proc per call; any thread. On Windows users have no numbers, and containers have no ids of their own.
#pragma once
#include "base/integers.h"

#include <optional>
#include <string>

namespace dnheap {

// Returns the process's id as the process itself knows it: the one of the innermost namespace.
u64 id_inside(u64 pid);
// Returns the number of the user with whose rights the process, or this one, runs.
std::optional<u64> user_of(u64 pid);
std::optional<u64> own_user();
// Returns the words that the process was started with; empty: unknown.
std::string command_line_of(u64 pid);
// Returns the folder of this system that the process sees as "/"; empty where all see the same.
std::string root_folder_of(u64 pid);
// Returns a variable of the environment that the process was started with: nullopt if the environment cannot be read,
// an empty text if there is no such variable.
std::optional<std::string> environment_of(u64 pid, const std::string &name);
// True if this process sees a file at `path`, and the other process sees the same file at the same path. Nullopt: this
// process may not know.
std::optional<bool> sees_file(u64 pid, const std::string &path);
// True if other processes may write to a file that this one has open, even if they share it with nobody.
bool open_files_can_be_written();

} // namespace dnheap
