// thrown_in_pieces(): the exception that a method was throwing when the process ended, in a dump that has only pieces
// of the heap and no list of exceptions in flight. Walks these pieces. Not for several threads at once.
#pragma once
#include "analysis/threads/exception_objects.h"
#include "snapshot/snapshot.h"

#include <optional>

namespace dnheap {

// Returns the only exception whose innermost call is of `method`; nullopt: there is none, or there are several.
std::optional<ExceptionObject> thrown_in_pieces(const Snapshot &snapshot, ExceptionObjects &objects, Address method);

} // namespace dnheap
