#include "base/host/file_time.h"
#include "base/host/windows.h"

#include <ctime>

namespace dnheap {

std::optional<u64> modified_at(const std::string &path) {
  WIN32_FILE_ATTRIBUTE_DATA about;
  if (!::GetFileAttributesExW(wide(path).c_str(), GetFileExInfoStandard, &about))
    return std::nullopt;
  constexpr u64 per_second = 10'000'000, year_1970 = 11'644'473'600; // seconds after 1601
  const u64 time = (u64{about.ftLastWriteTime.dwHighDateTime} << 32 | about.ftLastWriteTime.dwLowDateTime) / per_second;
  return time > year_1970 ? std::optional(time - year_1970) : std::nullopt;
}

u64 seconds_now() { return static_cast<u64>(std::time(nullptr)); }

u64 ticks_now() { return ::GetTickCount64(); }

} // namespace dnheap
