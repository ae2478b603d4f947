#include "analysis/waits/kinds/named_mutex.h"

#include "base/text.h"

#include <set>

namespace dnheap {

std::string only_named_mutex(const Target &target) {
  constexpr std::string_view folder = "/.dotnet/shm/";
  constexpr u64 most_characters = 200;
  std::set<std::string> names;
  auto add = [&](const std::string &path) {
    if (const std::size_t at = path.find(folder); at != path.npos)
      names.insert(printable(path.substr(at + folder.size()), most_characters));
  };
  for (const Module &module : target.modules)
    add(module.path);
  for (const Mapping &mapping : target.mappings)
    add(mapping.name);
  return names.size() == 1 ? *names.begin() : "";
}

} // namespace dnheap
