#include "analysis/names/framework_names.h"

namespace dnheap {

FrameworkNames::FrameworkNames(std::span<const LoadedAssembly> assemblies) {
  for (const LoadedAssembly &one : assemblies)
    own_.insert(one.types_like_framework.begin(), one.types_like_framework.end());
}

bool FrameworkNames::contain(std::string_view name) const {
  if (!has_framework_namespace(name))
    return false;
  if (own_.empty())
    return true;
  // The type's name ends at one of these, or earlier: "Type.field", "Type+Nested", "Type<T>", "Type[]", "Type.Run()".
  for (std::size_t at = name.find_first_of(".+<[(&* "); at != name.npos; at = name.find_first_of(".+<[(&* ", at + 1)) {
    if (own_.contains(std::string(name.substr(0, at))))
      return false;
    if (name[at] != '.')
      return true;
  }
  return !own_.contains(std::string(name));
}

} // namespace dnheap
