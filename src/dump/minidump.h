// Minidumps: what Windows and the tools around it write. Memory points into the file, nothing is copied; reads the
// streams' tables only, so it costs the same for a dump larger than memory. For dump/open.cc alone.
// Source: the structures MINIDUMP_… and CONTEXT of the Windows SDK (minidumpapiset.h, winnt.h).
#pragma once
#include "target/target.h"

namespace dnheap {

// Null when `file` is not a minidump; throws Error when it is one that cannot be read. `storage` keeps `file` alive.
std::unique_ptr<Target> open_minidump(Bytes file, std::shared_ptr<const void> storage);

} // namespace dnheap
