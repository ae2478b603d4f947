#include "snapshot/files/module_folders.h"

#include "base/host/host.h"
#include "base/host/named_path.h"
#include "base/text.h"
#include "snapshot/files/file_identity.h"

#include <algorithm>

namespace dnheap {

namespace {

constexpr u64 max_files = 200000;         // files listed below one folder
constexpr u64 max_examined_files = 20000; // whose headers are read

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

ModuleFolders::ModuleFolders(const std::vector<std::string> &paths) {
  for (const std::string &path : paths)
    folders_.push_back({.path = path});
}

ModuleFolders::ModuleFolders(const std::vector<std::string> &paths, const Target &target) : ModuleFolders(paths) {
  if (!target.folder.empty())
    folders_.push_back({.path = target.folder, .is_closed = true});
  if (!target.file_root.empty())
    folders_.push_back({.path = target.file_root, .is_root = true});
}

bool ModuleFolders::has_file(const Folder &folder, const std::string &path) {
  return is_file(path) && (!folder.is_closed || is_inside(folder.path, path));
}

std::vector<std::string> ModuleFolders::candidates(const std::string &path, bool windows) {
  std::vector<std::string> out;
  const std::string name = path.substr(path.find_last_of(windows ? "/\\" : "/") + 1);
  for (Folder &folder : folders_) {
    bool below = false;
    for (const std::string &inside : windows ? as_host_paths(path) : std::vector{path})
      if (std::string at = folder.path + (inside.starts_with('/') ? "" : "/") + inside;
          !below && has_file(folder, at)) {
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
  if (may_open_named(path, windows))
    out.push_back(path);
  return out;
}

const std::multimap<std::string, std::string> &ModuleFolders::by_name(Folder &folder) {
  if (!folder.listed)
    for (const std::string &file :
         folder.is_closed ? files_inside(folder.path, max_files) : files_below(folder.path, max_files))
      folder.by_name.emplace(lower_case(file.substr(file.find_last_of('/') + 1)), file);
  folder.listed = true;
  return folder.by_name;
}

std::vector<std::string> ModuleFolders::identified(const std::string &identity) {
  std::vector<std::string> out;
  for (Folder &folder : folders_)
    if (!identity.empty() && !folder.is_root)
      for (auto [from, to] = by_identity(folder).equal_range(identity); from != to; ++from)
        out.push_back(from->second);
  return out;
}

const std::multimap<std::string, std::string> &ModuleFolders::by_identity(Folder &folder) {
  u64 examined = 0;
  if (!folder.identified)
    for (const auto &[name, path] : by_name(folder))
      if (const std::shared_ptr<const MappedFile> file =
              ++examined <= max_examined_files ? MappedFile::try_open(path) : nullptr)
        for (const std::string &identity : identities_of_file(file->bytes()))
          folder.by_identity.emplace(identity, path);
  folder.identified = true;
  return folder.by_identity;
}

} // namespace dnheap
