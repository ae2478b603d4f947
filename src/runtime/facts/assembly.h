// LoadedAssembly: an assembly that the program has loaded, and its origin: .NET's own, or the program's (with all the
// libraries that the program brings). Plain data; Runtime::assemblies() lists them.
#pragma once
#include "base/integers.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dnheap {

struct LoadedAssembly {
  std::string name; // of its file: "Shop.dll"; an assembly made at run time has its own: "Rules1"
  std::string path; // empty: unknown, or the assembly lies in a bundle
  bool is_framework = false;
  const char *why = ""; // the reason for is_framework
  // As the runtime publishes them; nullopt: the runtime does not publish the value.
  std::optional<bool> is_collectible = {}, is_dynamic = {}, is_loaded = {};
  bool is_emitted = false; // made at run time, without an image: by Reflection.Emit
  Address module = 0;      // the runtime's own record of it; 0: unknown
  Address context = 0;     // the AssemblyLoadContext that loaded it; 0: unknown, or the default one if it has no object
  // Set for the program's assemblies: full names of types whose namespaces look like the framework's,
  // "Microsoft.Shop.Cart".
  std::vector<std::string> types_like_framework = {};
};

// True if the name is in one of .NET's namespaces: "System.Threading.TimerQueue", "Microsoft.Extensions.…".
bool has_framework_namespace(std::string_view name);

} // namespace dnheap
