// MappedViews: the views of memory-mapped files that the program has open, by the objects that stand for them
// (SafeMemoryMappedViewHandle): where each lies, and of which file it is. One walk of the heap, if it has such objects.
// Throws Error, Interrupted. Not for several threads at once.
#pragma once
#include "snapshot/snapshot.h"

#include <string>
#include <vector>

namespace dnheap {

struct MappedView {
  Address handle = 0; // the object
  Address start = 0;
  u64 bytes = 0;    // as the object says
  u64 stored = 0;   // bytes that the target has of it
  std::string file; // its path; empty: of no file, or the target does not name it
};

inline constexpr const char *view_handle = "Microsoft.Win32.SafeHandles.SafeMemoryMappedViewHandle";

// Returns the open views, by the address of their objects. A view whose size was never set is left out.
std::vector<MappedView> find_mapped_views(const Snapshot &snapshot);

// "1.2 GiB of tiles.bin", "1.2 GiB of tiles.bin and 3 other files", "1.2 GiB of tiles.bin, and 12.0 MiB of no file"
std::string files_text(const std::vector<MappedView> &views);

} // namespace dnheap
