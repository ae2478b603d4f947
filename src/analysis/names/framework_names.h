// FrameworkNames: decides whether a named thing is declared by .NET itself, or by the program. The namespace decides,
// except for types that a program declares in namespaces like .NET's: these types are kept in a set. A look-up costs
// the length of the name. Any thread.
#pragma once
#include "runtime/facts/assembly.h"

#include <span>
#include <string>
#include <unordered_set>

namespace dnheap {

class FrameworkNames {
public:
  explicit FrameworkNames(std::span<const LoadedAssembly> assemblies);
  // True if .NET declares the type, field or method: "System.Threading.TimerQueue",
  // "Microsoft.Shop.Cart<System.Int32>._items".
  bool contain(std::string_view name) const;

private:
  std::unordered_set<std::string> own_; // the program's types in such namespaces
};

} // namespace dnheap
