// ModuleFolders: the folders in which a user keeps files of the target's modules. Each is listed once, on first need.
// For snapshot/ alone.
#pragma once
#include <map>
#include <string>
#include <vector>

namespace dnheap {

class ModuleFolders {
public:
  // `root`: the folder that is "/" for a live process, if known.
  explicit ModuleFolders(const std::vector<std::string> &paths, const std::string &root = "") {
    for (const std::string &path : paths)
      folders_.push_back({path, false, {}, false});
    if (!root.empty())
      folders_.push_back({root, true, {}, false});
  }

  // Returns files that may be the one at `path` in the process, the likeliest first; the path itself on this host comes
  // last. `windows`: a Windows path: case-insensitive, and not a path of this host.
  std::vector<std::string> candidates(const std::string &path, bool windows = false);

private:
  struct Folder {
    std::string path;
    bool is_root;
    std::multimap<std::string, std::string> by_name; // lower-case file name → paths, in the order of files_below()
    bool listed;
  };

  const std::multimap<std::string, std::string> &by_name(Folder &folder);

  std::vector<Folder> folders_;
};

} // namespace dnheap
