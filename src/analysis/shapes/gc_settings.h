// GCSettings: what a process was told of its GC before it began: environment variables (DOTNET_GCHeapHardLimit) and
// properties of its runtimeconfig.json (System.GC.HeapHardLimit), which are kept by AppContext. Other variables and
// properties are not looked at. Takes a look at all static fields: some 10 ms. One thread.
#pragma once
#include "snapshot/snapshot.h"

#include <optional>
#include <string>
#include <vector>

namespace dnheap {

struct GCSetting {
  std::string name, value; // as they are written there
  bool is_environment = false;
  // In bytes, if the setting limits the heap and says so in bytes.
  std::optional<u64> hard_limit = {};
};

struct GCSettings {
  std::vector<GCSetting> list;       // those of the environment first, which win
  std::vector<std::string> problems; // which source is not in the dump

  const GCSetting *hard_limit() const;
};

GCSettings find_gc_settings(Snapshot &snapshot);

// Of "DOTNET_GCHeapHardLimit=C800000"; nullopt: the variable is not about the GC.
std::optional<GCSetting> gc_setting_of_variable(std::string_view variable);

} // namespace dnheap
