// The beginning of every answer: target facts, completeness, headline. For the files of this folder.
#pragma once
#include "analysis/verb.h"
#include "snapshot/snapshot.h"

namespace dnheap {

// Where an answer shows how many objects and bytes the heap has. The headline leaves this sum out if the main table
// ends in a total of other bytes (as ClrMD counts, or without Free objects): with two totals on one screen readers
// would ask which one is right. Verbs that look only at objects named by threads and handles have no sum, because it
// would cost a walk of the heap.
enum class HeapSum : u8 { in_headline, in_table, none };

// Returns an answer with command, target facts, completeness (from the walk of all objects, if there is a sum) and
// headline.
report::Answer begin_answer(const Snapshot &snapshot, const char *command, HeapSum sum = HeapSum::in_headline);

// Returns the target's facts alone, for verbs that read no heap. `runtime` may be null.
std::vector<report::Fact> target_facts(const Target &target, const Runtime *runtime);
// Returns ".NET 10.0.14 on linux x64, workstation GC, regions".
std::string runtime_headline(const Target &target, const Runtime &runtime);
// Returns "core.dmp: .NET 10.0.14 on linux x64, workstation GC with regions".
std::string target_headline(const Target &target, const Runtime *runtime);

// Adds notes about why type names are unknown. Call after the last name.
void add_name_notes(const Snapshot &snapshot, report::Answer &answer);

// True if all roots could be read. If not, objects that nothing seems to hold need not be garbage.
bool knows_all_roots(const Snapshot &snapshot);
// Adds notes about roots that could not be read: objects that only these roots hold count as garbage. Call after the
// Snapshot has read the roots.
void add_root_notes(const Snapshot &snapshot, report::Answer &answer);

// Adds notes about walked stacks that are only partly known, so that a wait, a call or an exception may be missing.
// Adds none if the answer's notes or its table `problems` show this already.
void add_stack_notes(const Snapshot &snapshot, report::Answer &answer);

// Adds a note that this many references of live objects lead to no object: the objects behind them count as dead.
void add_reference_notes(u64 bad, report::Answer &answer);
// The same for answers that use the graph. Marks the heap only if the graph has such references.
void add_reference_notes(const Snapshot &snapshot, report::Answer &answer);

// Returns `name` as a word of a POSIX shell command.
std::string shell_word(const std::string &name);

} // namespace dnheap
