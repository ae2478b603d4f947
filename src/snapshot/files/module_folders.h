// ModuleFolders: the folders in which a user keeps files of the target's modules. Each is listed once, on first need.
// For snapshot/ alone.
#pragma once
#include <map>
#include <string>
#include <vector>

namespace dnheap {

class ModuleFolders {
public:
  // `root`: what a live process sees as "/", if known.
  explicit ModuleFolders(const std::vector<std::string> &paths, const std::string &root = "") {
    for (const std::string &path : paths)
      folders_.push_back({path, false, {}, false});
    if (!root.empty())
      folders_.push_back({root, true, {}, false});
  }

  // Files that may be the one at `path` in the process, the likeliest first; the path itself, on this host, is the
  // last. `windows`: a path of Windows, which does not tell cases apart, and which this host does not have.
  std::vector<std::string> candidates(const std::string &path, bool windows = false);

private:
  struct Folder {
    std::string path;
    bool is_root;
    std::multimap<std::string, std::string> by_name; // file name in lower case → path, in the order of files_below()
    bool listed;
  };

  const std::multimap<std::string, std::string> &by_name(Folder &folder);

  std::vector<Folder> folders_;
};

} // namespace dnheap
