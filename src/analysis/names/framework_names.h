// FrameworkNames: is what a name is of declared by .NET itself, or by the program? Told from the namespace, but that a
// program may have types in namespaces like .NET's. A set of these types; a look-up costs the length of the name. Any
// thread.
#pragma once
#include "runtime/assembly.h"

#include <span>
#include <string>
#include <unordered_set>

namespace dnheap {

class FrameworkNames {
public:
  explicit FrameworkNames(std::span<const LoadedAssembly> assemblies);
  // Of a type, a field or a method: "System.Threading.TimerQueue", "Microsoft.Shop.Cart<System.Int32>._items".
  bool contain(std::string_view name) const;

private:
  std::unordered_set<std::string> own_; // types of the program's
};

} // namespace dnheap
