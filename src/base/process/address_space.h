// The address space of a process, as Windows describes it: stretches of memory, and the images in it. Costs a system
// call for each stretch. Any thread. On Windows only.
#pragma once
#include "base/integers.h"

#include <optional>
#include <string>
#include <vector>

namespace dnheap {

struct MemoryStretch {
  enum class Kind : u8 { reserved, own, file, image }; // own: in no file; image: a program or library
  Address start = 0, end = 0;
  Address allocation = 0; // start of what was mapped in one go
  Kind kind = Kind::reserved;
  bool readable = false, writable = false, executable = false;
  bool is_guarded = false; // touching it raises an exception in the process
};

struct LoadedImage {
  Address base = 0;
  u64 size = 0;
  std::string path;
};

enum class ProcessorKind : u8 { unknown, x64, x86, arm64 };

class AddressSpace {
public:
  // Throws Error if this program may not look.
  explicit AddressSpace(u64 pid);
  ~AddressSpace();
  AddressSpace(const AddressSpace &) = delete;
  AddressSpace &operator=(const AddressSpace &) = delete;

  // For which kind of processor the process's code is.
  ProcessorKind processor() const;
  // By address; free memory is left out.
  std::vector<MemoryStretch> stretches() const;
  // What the process's loader lists, the program first.
  std::vector<LoadedImage> images() const;
  // Returns the path of the file mapped at an address; empty if there is none.
  std::string path_at(Address address) const;

private:
  void *process_ = nullptr;
};

} // namespace dnheap
