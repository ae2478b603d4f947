#include "base/process/process_identity.h"

namespace dnheap {

u64 id_inside(u64 pid) { return pid; }
std::optional<u64> user_of(u64) { return std::nullopt; }
std::optional<u64> own_user() { return std::nullopt; }
std::string command_line_of(u64) { return {}; }
std::string root_folder_of(u64) { return {}; }
std::optional<std::string> environment_of(u64, const std::string &) { return std::nullopt; }
std::optional<bool> sees_file(u64, const std::string &) { return std::nullopt; }

bool open_files_can_be_written() { return true; }

} // namespace dnheap
