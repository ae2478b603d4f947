// Lists the files inside a single-file program (PublishSingleFile): they follow the executable, which names in its own
// data where their list begins. One search of the file for a mark, then a walk over the list; nothing is copied but
// paths. For snapshot/; from any thread. Source: dotnet/runtime
// src/installer/managed/Microsoft.NET.HostModel/Bundle/Manifest.cs, src/native/corehost/apphost/bundle_marker.cpp.
#pragma once
#include "base/bytes.h"

#include <string>
#include <vector>

namespace dnheap {

struct BundledFile {
  u64 offset = 0, size = 0; // in the program's file, and complete there
  bool compressed = false;
  std::string path;
};

// Empty if the file is not a single-file program, or if its list is damaged.
std::vector<BundledFile> read_bundle(Bytes file);

} // namespace dnheap
