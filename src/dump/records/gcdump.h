// A .gcdump as a target: the objects are laid out as memory. For dump/open.cc alone.
#pragma once
#include "base/watch.h"
#include "target/target.h"

namespace dnheap {

bool is_gcdump(Bytes file);

// Returns null if `file` is not a .gcdump; throws Error if it is one that cannot be read. Nothing of the
// file is needed afterwards.
std::unique_ptr<Target> open_gcdump(Bytes file, unsigned threads, const Watch &watch);

} // namespace dnheap
