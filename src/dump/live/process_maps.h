// The memory map of a Linux process, as /proc/PID/maps lists it. Parses text; any thread. For dump/live/ alone.
#pragma once
#include "base/integers.h"

#include <string_view>
#include <vector>

namespace dnheap {

// Takes the next word off the front of a line; empty at its end.
std::string_view next_word(std::string_view &text);

// A line of /proc/PID/maps.
struct ProcessMapping {
  Address start = 0, end = 0;
  bool readable = false, writable = false, executable = false, is_shared = false;
  u64 file_offset = 0, device = 0, inode = 0; // device: as stat() numbers it
  std::string_view path;                      // a file's path begins with a slash; else "", "[heap]" etc.
};
// Returns the mappings by address. Leaves out invalid lines, and those that begin before the previous one ends. The
// paths point into `text`.
std::vector<ProcessMapping> parse_process_maps(std::string_view text);

} // namespace dnheap
