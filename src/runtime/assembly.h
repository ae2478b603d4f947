// LoadedAssembly: an assembly that the program has loaded, and whose it is: .NET's own, or the program's with all that
// it brings. Plain data; Runtime::assemblies() lists them.
#pragma once
#include "base/integers.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dnheap {

struct LoadedAssembly {
  std::string name; // of its file: "Shop.dll"; of one that is made at run time its own: "Rules1"
  std::string path; // empty: not known, or it lies in a bundle
  bool is_framework = false;
  const char *why = ""; // that is thought
  // As the runtime says it; nullopt where it does not publish that.
  std::optional<bool> is_collectible = {}, is_dynamic = {}, is_loaded = {};
  Address context = 0; // the AssemblyLoadContext that loaded it; 0: not known, or the runtime's own has no object yet
  // Of the program's: full names of its types whose namespaces look like the framework's, "Microsoft.Shop.Cart".
  std::vector<std::string> types_like_framework = {};
};

// Is that a name in a namespace of .NET's: "System.Threading.TimerQueue", "Microsoft.Extensions.…"?
bool has_framework_namespace(std::string_view name);

} // namespace dnheap
