// ModuleFolders: the folders in which a user keeps files of the target's modules. Each is listed once, on first need,
// and so are the builds of its files. For snapshot/ alone.
#pragma once
#include "target/target.h"

#include <map>
#include <string>
#include <vector>

namespace dnheap {

class ModuleFolders {
public:
  // Without a target: these folders only.
  explicit ModuleFolders(const std::vector<std::string> &paths);
  // Those, the folder that the user named as target, and the folder that is "/" for a live process.
  ModuleFolders(const std::vector<std::string> &paths, const Target &target);

  // Returns files that may be the one at `path` in the process, the likeliest first; the path itself comes last, where
  // it may be one of this host (named_path.h). `windows`: a Windows path, case-insensitive.
  std::vector<std::string> candidates(const std::string &path, bool windows = false);
  // Returns the files of that identity (file_identity.h), whatever their names; none for an empty one, and none in a
  // folder that is the root of a file system. Reads the headers of all files below the folders, once.
  std::vector<std::string> identified(const std::string &identity);

private:
  struct Folder {
    std::string path;
    bool is_root = false;
    bool is_closed = false;                               // no link out of it is followed
    std::multimap<std::string, std::string> by_name = {}; // lower-case file name → paths, in the order of files_below()
    bool listed = false;
    std::multimap<std::string, std::string> by_identity = {}; // → paths, in the same order
    bool identified = false;
  };

  static bool has_file(const Folder &folder, const std::string &path);
  const std::multimap<std::string, std::string> &by_name(Folder &folder);
  const std::multimap<std::string, std::string> &by_identity(Folder &folder);

  std::vector<Folder> folders_;
};

} // namespace dnheap
