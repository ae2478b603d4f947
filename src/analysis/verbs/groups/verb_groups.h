// VerbGroups: the rows of all verbs, a file for each heading of the help, where a reader looks for a verb. Rows are
// constants; a new verb is a row in one of these files. Any thread.
#pragma once
#include "analysis/verb.h"

namespace dnheap {

std::span<const Verb> first_verbs();   // to begin with
std::span<const Verb> memory_verbs();  // memory
std::span<const Verb> thread_verbs();  // threads
std::span<const Verb> runtime_verbs(); // inside the runtime
std::span<const Verb> file_verbs();    // dumps and files
std::span<const Verb> process_verbs(); // processes

} // namespace dnheap
