// Minidumps: what Windows and the tools around it write. Memory points into the file, nothing is copied; reads the
// streams' tables only, so it costs the same for a dump larger than memory. For dump/open.cc alone.
// Source: the structures MINIDUMP_… and CONTEXT of the Windows SDK (minidumpapiset.h, winnt.h).
#pragma once
#include "target/target.h"

#include <optional>

namespace dnheap {

// Null when `file` is not a minidump; throws Error when it is one that cannot be read. `storage` keeps `file` alive.
std::unique_ptr<Target> open_minidump(Bytes file, std::shared_ptr<const void> storage);

// How long the minidump is that begins with these bytes, by its streams and lists of memory: ~0 where these are not all
// among them; nullopt: it is none. Other things that a stream refers to, as names, may lie behind that.
std::optional<u64> length_of_minidump(Bytes first);

} // namespace dnheap
