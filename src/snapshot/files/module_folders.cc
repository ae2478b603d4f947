#include "snapshot/files/module_folders.h"

#include "base/host/host.h"
#include "base/text.h"

#include <algorithm>

namespace dnheap {

namespace {

constexpr u64 max_files = 200000; // files listed below one folder

// Returns "Z:\\app\\coreclr.dll" as possible paths below the root of its file system: app/coreclr.dll,
// z/app/coreclr.dll.
std::vector<std::string> as_host_paths(std::string path) {
  if (path.starts_with('/'))
    return {path.substr(1)};
  std::replace(path.begin(), path.end(), '\\', '/');
  if (path.size() > 3 && path[1] == ':' && path[2] == '/')
    return {path.substr(3), lower_case(path.substr(0, 1)) + path.substr(2)};
  return {path};
}

} // namespace

std::vector<std::string> ModuleFolders::candidates(const std::string &path, bool windows) {
  std::vector<std::string> out;
  const std::string name = path.substr(path.find_last_of(windows ? "/\\" : "/") + 1);
  for (Folder &folder : folders_) {
    bool below = false;
    for (const std::string &inside : windows ? as_host_paths(path) : std::vector{path})
      if (std::string at = folder.path + (inside.starts_with('/') ? "" : "/") + inside; !below && is_file(at)) {
        folder.is_root = below = true;
        out.push_back(at);
      }
    if (!below && !folder.is_root) { // never search a whole file system
      auto [from, to] = by_name(folder).equal_range(lower_case(name));
      for (; from != to; ++from)
        if (windows || from->second.ends_with("/" + name))
          out.push_back(from->second);
    }
  }
  if (!windows)
    out.push_back(path);
  return out;
}

const std::multimap<std::string, std::string> &ModuleFolders::by_name(Folder &folder) {
  if (!folder.listed)
    for (const std::string &file : files_below(folder.path, max_files))
      folder.by_name.emplace(lower_case(file.substr(file.find_last_of('/') + 1)), file);
  folder.listed = true;
  return folder.by_name;
}

} // namespace dnheap
