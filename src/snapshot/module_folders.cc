#include "snapshot/module_folders.h"

#include "base/host.h"

namespace dnheap {

namespace {

constexpr u64 max_files = 200000; // looked at below one folder

} // namespace

std::vector<std::string> ModuleFolders::candidates(const std::string &path) {
  std::vector<std::string> out;
  for (Folder &folder : folders_) {
    if (std::string below = folder.path + (path.starts_with('/') ? "" : "/") + path; is_file(below)) {
      folder.is_root = true;
      out.push_back(below);
    } else if (!folder.is_root) { // a whole file system is not searched
      auto [from, to] = by_name(folder).equal_range(path.substr(path.find_last_of('/') + 1));
      for (; from != to; ++from)
        out.push_back(from->second);
    }
  }
  out.push_back(path);
  return out;
}

const std::multimap<std::string, std::string> &ModuleFolders::by_name(Folder &folder) {
  if (!folder.listed)
    for (const std::string &file : files_below(folder.path, max_files))
      folder.by_name.emplace(file.substr(file.find_last_of('/') + 1), file);
  folder.listed = true;
  return folder.by_name;
}

} // namespace dnheap
