// Handles mapped files that fail while they are read: a disk with bad sectors, a lost network, a file that another
// program cuts off or rewrites. The affected bytes are then *lost*: they may read as zeros, and no result may depend on
// them. Code that reads mapped files asks after each pass what was lost, and discards its results if anything was. The
// reading loops themselves pay nothing. All functions may be called from any thread.
#pragma once
#include "base/bytes.h"

#include <string>
#include <vector>

namespace dnheap {

// From now on a page of a MappedFile that cannot be loaded is replaced by zeros and counts as lost; otherwise it ends
// the process (SIGBUS). For programs, once, at their start; a library must not take signals without being asked. Faults
// anywhere else go to the previous handler.
void survive_mapping_faults();

struct LostBytes {
  Bytes bytes;          // in a mapping
  std::string reason;   // "could not be read from PATH (I/O error)"
  bool changed = false; // the whole file is lost, as another program wrote to it
};

// Returns everything lost of the currently mapped files, by host address. Also checks the files' sizes, since the rest
// of a cut file's last page reads as zeros without any fault. Costs a system call per mapped file.
std::vector<LostBytes> find_lost_bytes();
// Returns a number that grows whenever more is lost. Same cost.
u64 count_losses();

// For MappedFile. `others_may_write`: false for a file that only this process knows. Takes over the descriptor `file`.
struct WatchedMapping;
WatchedMapping *watch_mapping(Bytes bytes, int file, std::string name, bool others_may_write);
void unwatch_mapping(WatchedMapping *mapping); // before unmapping

} // namespace dnheap
