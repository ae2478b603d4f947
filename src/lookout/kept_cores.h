// KeptCores: the folder that `watch` writes to: makes names for new cores, and limits their number. Only files with
// names of this form are ever removed, so a renamed core stays. Only one program at a time may use a folder. Each call
// looks at the folder. Not for several threads at once.
#pragma once
#include "base/host/folder_lock.h"
#include "base/integers.h"

#include <string>
#include <string_view>
#include <vector>

namespace dnheap {

class KeptCores {
public:
  // `keep`: at least 1. Removes half-written files of killed processes. Throws Error if the folder is not writable, or
  // if another program uses it.
  KeptCores(std::string folder, u64 keep);

  // Returns "FOLDER/watch-20261125T021007Z-4711.core.zst", from a time in seconds since 1970 (UTC).
  std::string next_path(u64 time, u64 pid) const;
  // Returns the cores, oldest first, according to their names.
  std::vector<std::string> paths() const;
  // Removes the oldest until `keep` are left, but never `newest`, whatever the clock said; returns the removed ones.
  std::vector<std::string> remove_oldest(const std::string &newest) const;

private:
  std::string folder_;
  u64 keep_;
  FolderLock lock_;
};

// True if `name` begins with the name of a core that `watch` made. `ending` receives the rest of the name: files that
// are still being written have one.
bool is_core_name(std::string_view name, std::string_view &ending);

} // namespace dnheap
