// Minidumps, as Windows and related tools write them. Memory points into the file, nothing is copied. Reads only the
// streams' tables, so a dump larger than memory costs no more. For dump/open.cc alone. Source: the structures
// MINIDUMP_… and CONTEXT of the Windows SDK (minidumpapiset.h, winnt.h).
#pragma once
#include "target/target.h"

#include <optional>

namespace dnheap {

// Returns null if `file` is not a minidump; throws Error if it is one that cannot be read. `storage` keeps `file`
// alive.
std::unique_ptr<Target> open_minidump(Bytes file, std::shared_ptr<const void> storage);

// Returns the length of the minidump that begins with these bytes, from its streams and lists of memory: ~0 if these
// are incomplete; nullopt: not a minidump. Other things that a stream refers to, such as names, may lie after that.
std::optional<u64> length_of_minidump(Bytes first);

} // namespace dnheap
