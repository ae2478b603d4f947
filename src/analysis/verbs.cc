#include "analysis/verbs.h"

#include "analysis/missing_parts.h"
#include "report/stored_rows.h"
#include "snapshot/snapshot.h"

#include <cmath>
#include <fmt/format.h>

namespace dnheap {

namespace {

constexpr Verb all_verbs[] = {
    {"stat", "which types fill the heap?",
     "One row per type (per MethodTable): how many objects, how many bytes. Bytes are what dotnet-dump and ClrMD "
     "report; "
     "aligned_bytes, in JSON and CSV, are what the objects take in the heap. Free is the holes between objects. --by "
     "retained adds what would be freed with the instances that hold it. --live and --dead count only what something "
     "keeps alive, or nothing.",
     "type gen min range live", "bytes count aligned_bytes type", "types stages", answer_stat, nullptr,
     "bytes count retained"},
    {"segments", "where does the heap lie?",
     "One row per region or segment of the GC, and their sums by generation. All bytes are aligned bytes, so that they "
     "add up.",
     "gen", "", "segments generations", answer_segments},
    {"objects", "which objects are there?",
     "One row per object, in address order unless --sort says otherwise. Use the filters: a heap holds millions.",
     "type gen min range live", "address bytes type", "objects stages", answer_objects},
    {"show", "what is this object?",
     "Its type, size, generation and fields, what it refers to, who refers to it and by which field, and what would be "
     "freed with it. Of a MethodTable's address: its type, and how much of the heap that takes. --closure adds what it "
     "reaches, whoever else holds that (what SOS calls objsize); --values shows "
     "the contents of strings and fields.",
     "closure values", "", "object fields elements references referrers series type", answer_show, "ADDR"},
    {"path", "why is it alive?",
     "Of an object: the shortest way from something that keeps it alive, each step by its field; --all shows the "
     "nearest way from each root that reaches it. Of a type: the ways of all its instances, those that are alike as "
     "one, with what would be freed if all of them went; the type's full name, or a regular expression (RE2).\n"
     "Static fields, handles and the like come first, however long the way: a word on a stack may be chance.",
     "all", "bytes instances", "paths", answer_path, "ADDR|TYPE"},
    {"retained", "what would be freed?",
     "Who alone keeps how much alive: by owner (static field, thread, kind of handle), by type, namespace and "
     "assembly, "
     "and the objects that hold most; --tree shows level by level who holds what. Exact: from the dominator tree of "
     "the "
     "whole heap.",
     "type tree", "", "owners types namespaces assemblies objects tree", answer_retained},
    {"handles", "which GC handles exist?",
     "One row per GC handle whose object is not null, by kind, and the sums by kind. Weak handles keep nothing alive; "
     "strong and pinned ones keep their objects; a dependent one keeps its secondary as long as its object lives.",
     "type", "kind type", "handles kinds", answer_handles},
    {"roots", "what keeps objects alive?",
     "Sums by kind, the largest groups, and one row per root: handles by kind, objects whose finalizer is due, static "
     "fields and thread statics by name, and what lies on stacks and in registers. Stacks are scanned for whatever "
     "looks like an object (stack_conservative), so some of those may be left over from calls that have returned.",
     "type", "", "kinds groups roots", answer_roots},
    {"gc", "what does the GC say of itself?",
     "Everything that the GC contract tells beside objects and handles: what kind of GC, its state, heaps and "
     "generations, background collection, finalization queues, mechanisms by name, free regions and bookkeeping, and "
     "why memory ran out the last time. Reads no object.",
     "", "",
     "state heaps generations contexts background finalization internal_roots mechanisms free_regions bookkeeping oom "
     "problems",
     answer_gc},
    {"info", "what is this dump, how was it understood, how complete is it?",
     "What kind of dump, which runtime, which module files were used or rejected and why, where the runtime's layout "
     "was "
     "learned from, and every stretch of the heap that could not be walked.",
     "", "", "facts modules contracts gaps", answer_info},
    {"exceptions", "what was thrown?",
     "One row for exceptions on the heap that are alike: type, HResult, and the calls that they have passed through. "
     "Those that a thread is dealing with come first, with their stacks; in a crash dump that is the one that ended "
     "the process. --values shows messages.",
     "type values", "", "exceptions stacks", answer_exceptions},
    {"locks", "who waits for whom?",
     "One row per lock that is held or waited for: of Monitor (the lock statement), Lock, ReaderWriterLockSlim, "
     "SemaphoreSlim and ManualResetEventSlim; then deadlocks, in words, and what each thread waits for, as far as the "
     "runtime's notes, objects and stacks tell. Semaphores do not say who took them, nor a lock who reads. --all: "
     "also what nobody holds.",
     "all", "", "locks deadlocks waits", answer_locks},
    {"async", "which asynchronous calls are pending?",
     "One row for calls that are alike: asynchronous methods that await one another, told from the one that waits for "
     "something else (a delay, a semaphore, a socket, a TaskCompletionSource) out to the one that nobody awaits; the "
     "number of the await that it stands at, as the compiler counts them. Then tasks by status, with those that failed "
     "and nobody looked at, and the thread pool: its workers, and what waits for one. --by retained adds what would be "
     "freed with the calls.",
     "", "", "calls tasks pool queued", answer_async, nullptr, "count retained"},
    {"verify", "is the heap sound?",
     "Looks at every object, the word in front of it (its sync block, who holds its lock) and every reference. "
     "Problems "
     "are places without a sound object, references that lead to no object, headers that name a sync block that is not "
     "the object's, and types whose references are not described soundly. What is wrong with dead objects only is "
     "counted "
     "apart (--verbose lists it). A dump taken while the program ran on may have some. --all also builds the graph of "
     "all references and its dominators, and checks that they agree with "
     "each other.",
     "all", "", "problems totals invariants", answer_verify},
    {"contract", "which data contract did the target publish?",
     "Every contract, type, field and global that dnheap goes by, each with its origin: published by the target, "
     "discovered "
     "in its memory, or from a table shipped with dnheap; and what was looked for in vain.",
     "", "", "contracts types globals descriptors missing", answer_contract},
    {"extract", "can it be made small enough to send?",
     "Writes a small ELF core (-o FILE; compressed if FILE ends in .zst) with what heap analysis needs: all objects, "
     "types "
     "and their names, handles, statics, stacks in use, and what the runtime says of itself. Every verb answers the "
     "same "
     "on it, without the files that --modules names, too.\n"
     "--no-values blanks contents: strings, numbers and whatever else on the heap is no reference, all words on stacks "
     "and in registers but pointers, environment variables and the command line; outside heap and stacks all that "
     "dnheap did not read. What remains: names of types, fields, methods and files, addresses, sizes, lengths, and "
     "constants that are part of assemblies' metadata.",
     "no-values", "", "extracted", answer_extract, nullptr, "", nullptr, true},
    {"ps", "which .NET processes run here?",
     "Takes no target. One row per process of this machine, or container, with a .NET runtime in it: which kind and "
     "version, which GC, and how much memory it takes. Stops none of them.",
     "", "pid memory", "processes", nullptr, nullptr, "", answer_ps},
};

// Rows are still to be pulled, by a writer that may wait for whoever reads the output: not with a process that waits.
void let_process_go(Snapshot &snapshot, const Question &question, report::Answer &answer) {
  if (snapshot.is_pausing())
    report::store_rows(answer, question.top, snapshot.options().temp_dir, snapshot.watch());
  snapshot.release_process();
  if (std::optional<double> seconds = snapshot.pause_seconds()) {
    answer.headline += fmt::format(", paused {:.0f} ms", std::ceil(*seconds * 1000));
    answer.target.push_back({"paused_ms", *seconds * 1000});
  }
}

} // namespace

report::Answer ask(const Verb &verb, Snapshot &snapshot, const Question &question) {
  constexpr int most_tries = 4;
  for (int tries = 1;; ++tries) {
    u64 before = snapshot.times_rebuilt();
    try {
      report::Answer answer = verb.answer(snapshot, question);
      snapshot.forget_lost_memory();
      if (snapshot.times_rebuilt() == before) {
        if (answer.completeness)
          add_missing_parts(snapshot.runtime().descriptor(), verb, question, answer);
        let_process_go(snapshot, question, answer);
        return answer;
      }
    } catch (const Interrupted &) {
      throw;
    } catch (const UsageError &) {
      throw;
    } catch (const Error &) {
      snapshot.forget_lost_memory();
      if (snapshot.times_rebuilt() == before || tries == most_tries)
        throw;
    }
    if (tries == most_tries)
      throw Error(snapshot.target().path + ": more and more of it cannot be read; copy it to a sound disk first");
  }
}

std::span<const Verb> verbs() { return all_verbs; }

} // namespace dnheap
