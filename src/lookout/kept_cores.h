// KeptCores: the folder that `watch` writes to: names for new cores, and no more than so many of them. Only files that
// have such names are ever removed; whoever renames one keeps it. One at a time works in a folder. A look at the folder
// per call; one thread.
#pragma once
#include "base/host/folder_lock.h"
#include "base/integers.h"

#include <string>
#include <string_view>
#include <vector>

namespace dnheap {

class KeptCores {
public:
  // `keep`: at least 1. Removes what a killed process left half written. Throws Error where nothing can be written
  // there, or another has it.
  KeptCores(std::string folder, u64 keep);

  // "FOLDER/watch-20261125T021007Z-4711.core.zst", of a time in seconds since 1970 (UTC).
  std::string next_path(u64 time, u64 pid) const;
  // The oldest first, by their names.
  std::vector<std::string> paths() const;
  // Removes the oldest until `keep` are left, but never `newest`, whatever the clock said; returns what is gone.
  std::vector<std::string> remove_oldest(const std::string &newest) const;

private:
  std::string folder_;
  u64 keep_;
  FolderLock lock_;
};

// Is that the name of such a file? `ending`: of more behind it, of one that is being written.
bool is_core_name(std::string_view name, std::string_view &ending);
std::string utc_text(u64 time, bool compact = false); // 2026-11-25T02:10:07Z, 20261125T021007Z

} // namespace dnheap
