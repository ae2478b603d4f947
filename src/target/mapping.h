// Mapping: a stretch of the target's address space that was mapped, as the container tells: of a core one segment, of a
// live process one line of its map. Whether its bytes are known is another matter. Plain data.
#pragma once
#include "base/integers.h"

#include <string>

namespace dnheap {

struct Mapping {
  Address start = 0, end = 0;
  Address stored_end = 0; // the container holds the bytes of [start, stored_end)
  // As the container says. None of them: reserved, not accessible, no memory.
  bool readable = true, writable = true, executable = false;
  bool is_shared = false; // of a live process: written memory is other processes', too, or a file's
  std::string name = {};  // of a live process: "[heap]", "/memfd:doublemapper (deleted)", a file's path

  bool is_accessible() const { return readable || writable || executable; }
};

} // namespace dnheap
