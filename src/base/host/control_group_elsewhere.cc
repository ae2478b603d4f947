#include "base/host/control_group.h"

namespace dnheap {

std::vector<GroupMemory> group_memory(u64) { return {}; }
std::optional<u64> memory_left() { return std::nullopt; }
std::optional<u64> group_memory_left() { return std::nullopt; }
std::optional<unsigned> group_processors() { return std::nullopt; }
std::vector<GroupFolder> group_folders(std::string_view, std::string_view, std::string_view) { return {}; }
std::optional<unsigned> read_group_processors(const GroupFolder &, const std::string &) { return std::nullopt; }
std::vector<GroupFolder> memory_group_folders(std::string_view, std::string_view) { return {}; }
std::vector<GroupMemory> read_group_memory(const GroupFolder &, const std::string &) { return {}; }

} // namespace dnheap
