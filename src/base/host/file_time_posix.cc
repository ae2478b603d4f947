#include "base/host/file_time.h"

#include <ctime>
#include <sys/stat.h>

namespace dnheap {

std::optional<u64> modified_at(const std::string &path) {
  struct stat status;
  if (::stat(path.c_str(), &status) != 0 || status.st_mtime <= 0)
    return std::nullopt;
  return static_cast<u64>(status.st_mtime);
}

u64 seconds_now() { return static_cast<u64>(std::time(nullptr)); }

u64 ticks_now() {
  timespec now = {};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<u64>(now.tv_sec) * 1000 + static_cast<u64>(now.tv_nsec) / 1'000'000;
}

} // namespace dnheap
