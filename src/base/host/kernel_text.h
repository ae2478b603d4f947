// Reads the text files in which the Linux kernel describes processes and control groups, and the numbers in them. Linux
// only, for base/*_linux.cc. One to three system calls; any thread.
#pragma once
#include "base/integers.h"

#include <optional>
#include <string>
#include <string_view>

namespace dnheap {

// Returns at most about `limit` bytes; nullopt, with errno set, if the file cannot be read.
std::optional<std::string> kernel_text(const std::string &path, u64 limit = 1 << 20);

// Returns the number at the beginning of the text, after spaces and tabs.
std::optional<u64> number_in(std::string_view text, int base = 10);

// Returns the first number after the key, which begins a line: "Uid:\t1000\t…" of /proc/PID/status and similar files.
std::optional<u64> number_behind(const std::optional<std::string> &text, std::string_view key, int base = 10);

} // namespace dnheap
