// has_telling_message(): whether an exception's message is worth a look. Reads at most 16 exceptions. Not for several
// threads at once.
#pragma once
#include "analysis/threads/exception_objects.h"
#include "snapshot/snapshot.h"

namespace dnheap {

// True if the exception, or one that caused it, has a message that its type and place do not say already. The message
// is a value of the program, so only `exceptions --values` shows it.
bool has_telling_message(const Snapshot &snapshot, ExceptionObjects &objects, const ExceptionObject &exception);

} // namespace dnheap
