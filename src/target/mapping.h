// Mapping: a mapped stretch of the target's address space, according to the container: one segment of a core, one line
// of a live process's map. Its bytes may still be unknown. Plain data.
#pragma once
#include "base/integers.h"

#include <string>

namespace dnheap {

struct Mapping {
  Address start = 0, end = 0;
  Address stored_end = 0; // the container holds the bytes of [start, stored_end)
  // As the container says. All false: reserved, inaccessible, no memory.
  bool readable = true, writable = true, executable = false;
  bool is_shared = false; // live process: written memory also belongs to other processes or a file
  std::string name = {};  // live process: "[heap]", "/memfd:doublemapper (deleted)", a file's path

  bool is_accessible() const { return readable || writable || executable; }
};

} // namespace dnheap
