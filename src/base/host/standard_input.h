// Standard input as a source of bytes, for a dump that comes through a pipe. For dump/open.cc.
#pragma once
#include "base/bytes.h"

#include <functional>
#include <string>

namespace dnheap {

// Returns the path of the regular file that standard input reads from its beginning; empty if it is anything else, or
// if the file has no name that leads to it.
std::string file_at_standard_input();
// Passes everything to `take`, in pieces of at most 1 MiB, until the end. Calls `check` before each piece, and several
// times a second while nothing comes (Windows: only before each piece); it may throw. Throws Error if standard input is
// a terminal or cannot be read.
void read_standard_input(const std::function<void(Bytes)> &take, const std::function<void()> &check);

} // namespace dnheap
