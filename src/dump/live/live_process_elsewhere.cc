// Systems whose processes cannot be read: ProcessMemory says so before any of this is called.
#include "dump/live/live_process.h"

namespace dnheap {

void LiveProcess::read_identity(u64) {}
void LiveProcess::read_maps(u64, const std::string &) {}
void LiveProcess::read_threads(u64) {}
void LiveProcess::read_system_threads() {}
std::optional<std::vector<std::pair<Address, Address>>> LiveProcess::resident() const { return std::nullopt; }

} // namespace dnheap
