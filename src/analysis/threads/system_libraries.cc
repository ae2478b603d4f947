#include "analysis/threads/system_libraries.h"

#include <algorithm>
#include <iterator>
#include <string>

namespace dnheap {

namespace {

// The beginnings of file names, in lower case; what follows is a version or an ending.
constexpr std::string_view system_libraries[] = {
    "libc",      "libm",     "libpthread", "libdl",    "librt",  "libstdc++",    "libc++",
    "libc++abi", "libgcc_s", "ld-linux",   "ld-musl",  "ld",     "linux-vdso",   "[vdso]",
    "ntdll",     "kernel32", "kernelbase", "ucrtbase", "msvcrt", "vcruntime140", "msvcp140"};

} // namespace

bool is_system_library(std::string_view file_name) {
  std::string lower(file_name);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c; });
  return std::any_of(std::begin(system_libraries), std::end(system_libraries), [&](std::string_view one) {
    // "libc.so.6", "libc-2.31.so", "ntdll.dll", "ld-linux-x86-64.so.2"; not "libcrypto.so.3" or "libc-client.so"
    const std::string_view rest = std::string_view(lower).substr(std::min(one.size(), lower.size()));
    const bool has_version = rest.size() > 1 && rest[0] == '-' && ((rest[1] >= '0' && rest[1] <= '9') || one[1] == 'd');
    return lower.starts_with(one) && (rest.empty() || rest[0] == '.' || has_version);
  });
}

} // namespace dnheap
