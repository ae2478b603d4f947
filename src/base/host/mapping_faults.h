// What becomes of a mapped file that fails while it is read: a disk with bad sectors, a network that went away, a file
// that is cut off or written anew under us. Its bytes are then *lost*: they may read as zeros, and nothing that was
// made from them may count. Whoever reads mapped files asks after each pass what was lost meanwhile, and if anything
// was, throws away what it made. Nothing here costs the loops anything. All functions may be called from any thread.
#pragma once
#include "base/bytes.h"

#include <string>
#include <vector>

namespace dnheap {

// From now on a page of a MappedFile that cannot be loaded is replaced by zeros and counts as lost; otherwise it ends
// the process (SIGBUS). For programs, once, at their start; a library does not take signals without being asked. Faults
// anywhere else go to whatever handled them before.
void survive_mapping_faults();

struct LostBytes {
  Bytes bytes;          // in a mapping
  std::string reason;   // "could not be read from PATH (I/O error)"
  bool changed = false; // the whole file, because somebody else wrote to it
};

// All that is lost of the files that are mapped now, by host address. Looks at the sizes of the files as well: the rest
// of a last page reads as zeros without any fault. Costs a system call per mapped file.
std::vector<LostBytes> find_lost_bytes();
// Grows whenever more is lost. The same cost.
u64 count_losses();

// For MappedFile. `others_may_write`: false for a file that only this process knows. Takes over the descriptor `file`.
struct WatchedMapping;
WatchedMapping *watch_mapping(Bytes bytes, int file, std::string name, bool others_may_write);
void unwatch_mapping(WatchedMapping *mapping); // before unmapping

} // namespace dnheap
