// Text files in which the Linux kernel tells of processes and control groups, and the numbers in them. Linux only, for
// base/*_linux.cc. A system call or three; any thread.
#pragma once
#include "base/integers.h"

#include <optional>
#include <string>
#include <string_view>

namespace dnheap {

// Some `limit` bytes at most; nullopt, and errno, when it cannot be read.
std::optional<std::string> kernel_text(const std::string &path, u64 limit = 1 << 20);

// The number that the text begins with, behind spaces and tabs.
std::optional<u64> number_in(std::string_view text, int base = 10);

// "Uid:\t1000\t…" of /proc/PID/status and the like: the first number behind the key, which begins a line.
std::optional<u64> number_behind(const std::optional<std::string> &text, std::string_view key, int base = 10);

} // namespace dnheap
