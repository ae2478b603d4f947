// The beginning of every answer: target facts, completeness, headline. For the files of this folder.
#pragma once
#include "analysis/verb.h"
#include "snapshot/snapshot.h"

namespace dnheap {

// Where the sum of objects and bytes of the heap is shown. It is not in the headline of verbs whose main table ends in
// a total of other bytes (as ClrMD counts, or without Free objects): two totals on one screen would only raise the
// question which is right. Verbs that look only at objects named by threads and handles have no sum, and nobody walks
// the heap for it.
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
// Adds notes about roots that could not be read: objects held by them count as garbage. Call after the roots were asked
// for.
void add_root_notes(const Snapshot &snapshot, report::Answer &answer);

// Adds notes about walked stacks that are only partly known, unless its notes or its table `problems` show them
// already: a wait, a call or an exception may be missing then.
void add_stack_notes(const Snapshot &snapshot, report::Answer &answer);

// Notes that so many references of live objects lead to no object: the objects behind them count as dead.
void add_reference_notes(u64 bad, report::Answer &answer);
// The same for answers that use the graph. Marks the heap only if the graph has such references.
void add_reference_notes(const Snapshot &snapshot, report::Answer &answer);

// Returns `name` as a word of a POSIX shell command.
std::string shell_word(const std::string &name);

} // namespace dnheap
