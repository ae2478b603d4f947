// GCSettings: the GC settings that a process started with: environment variables (DOTNET_GCHeapHardLimit) and
// properties of its runtimeconfig.json (System.GC.HeapHardLimit), which AppContext keeps. Other variables and
// properties are not looked at. Looks at all static fields: some 10 ms. Not for several threads at once.
#pragma once
#include "base/notes.h"
#include "snapshot/snapshot.h"

#include <optional>
#include <string>
#include <vector>

namespace dnheap {

struct GCSetting {
  std::string name, value; // as written there
  bool is_environment = false;
  // The limit in bytes, if the setting limits the heap to a number of bytes.
  std::optional<u64> hard_limit = {};
};

struct GCSettings {
  std::vector<GCSetting> list; // environment variables first, as they take precedence
  Notes problems;              // sources that are not in the dump

  const GCSetting *hard_limit() const;
};

GCSettings find_gc_settings(const Snapshot &snapshot);

// Parses "DOTNET_GCHeapHardLimit=C800000"; nullopt if the variable is not about the GC.
std::optional<GCSetting> gc_setting_of_variable(std::string_view variable);

} // namespace dnheap
