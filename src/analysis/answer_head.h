// What every answer begins with: target facts, completeness, headline. For the files of this folder.
#pragma once
#include "analysis/verb.h"
#include "snapshot/snapshot.h"

namespace dnheap {

// Where objects and bytes of the heap are summed up. Of verbs whose main table ends in a total, which counts other
// bytes (as ClrMD does, or without Free objects), not in the headline: two totals on one screen would only raise the
// question which is right. Verbs that look at no object but those which threads and handles name have no sum, and
// nobody walks the heap for it.
enum class HeapSum : u8 { in_headline, in_table, none };

// An answer with command, target facts, completeness (from the walk of all objects, if there is a sum) and headline
// filled in.
report::Answer begin_answer(Snapshot &snapshot, const char *command, HeapSum sum = HeapSum::in_headline);

// The answer rests on less than it should, says a note: completeness and headline follow. What was walked may be all.
void set_incomplete(report::Answer &answer);
// Notes of what could not be read; if there are any the answer is incomplete.
void add_problems(const std::vector<std::string> &problems, report::Answer &answer);

// The target's facts alone, for verbs that read no heap. `runtime` may be null.
std::vector<report::Fact> target_facts(const Target &target, const Runtime *runtime);
// "core.dmp: .NET 10.0.14 on linux x64, workstation GC with regions"
std::string target_headline(const Target &target, const Runtime *runtime);

// Adds to the completeness notes why type names could not be told. Call after the last name.
void add_name_notes(Snapshot &snapshot, report::Answer &answer);

// Could all roots be read? If not, what nothing is seen to hold need not be garbage.
bool knows_all_roots(Snapshot &snapshot);
// Adds which roots could not be read: what they hold counts as garbage. Call when roots were asked for.
void add_root_notes(Snapshot &snapshot, report::Answer &answer);

// Adds which of the stacks that were walked for the answer are known in part only, where neither its notes nor its
// table `problems` say so: a wait, a call or an exception may be missing then.
void add_stack_notes(Snapshot &snapshot, report::Answer &answer);

// So many references of live objects lead to no object: what they led to is taken for dead.
void add_reference_notes(u64 bad, report::Answer &answer);
// The same for answers that rest on the graph. Marks only where it has references that lead nowhere.
void add_reference_notes(Snapshot &snapshot, report::Answer &answer);

// `name` as a word of a POSIX shell command.
std::string shell_word(const std::string &name);

} // namespace dnheap
