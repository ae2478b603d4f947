#include "analysis/verbs/verbs.h"

#include "analysis/inspectors/inspector.h"
#include "analysis/records/record.h"
#include "analysis/waits/thread_waits.h"

namespace dnheap {

namespace {

using enum AnswerPart;

constexpr Verb all_verbs[] = {
    {.name = "report",
     .group = "to begin with",
     .question = "what is going on?",
     .details =
         "One screen: findings, where all of the process's memory is, and who holds most of the live objects. "
         "Each holder is shown with the field to look at and the command to run next (dnheap path TARGET @1 "
         "shows the path to the first one). Objects that the program's own static fields hold belong to these "
         "fields, even if the runtime's timers or a method's local variable hold them, too. Unless the program is "
         "known to hang, it also shows what most threads and pending calls of the program do. Then memory that "
         "could be saved and, if there are many holes between objects, the neighbours of the holes. No values "
         "of strings or fields are in it: it is safe to attach.",
     .takes = {Takes::hubs, Takes::symbols},
     .tables = {"account", "suspects", "findings", "activity", "waste", "fragmentation"},
     .parts = contexts | names | fields | delegates | segments | gc | life_parts | thread_ids | suspended_calls |
              loader_heaps,
     .plan = plan_report,
     .answer = answer_report,
     .tells_resident = true,
     .reads_objects_only = true,
     .answers_without_heap = true,
     .is_shorter_without_heap = true},
    {.name = "stat",
     .group = "to begin with",
     .question = "which types fill the heap?",
     .details = "One row per type (per MethodTable): how many objects, how many bytes. Bytes are what dotnet-dump and "
                "ClrMD report; aligned_bytes, in JSON and CSV, are what the objects take in the heap. Free means the "
                "holes between objects. --by retained adds what would be freed with the instances. --live counts only "
                "live objects, --dead only garbage.",
     .takes = {Takes::type, Takes::generation, Takes::min_bytes, Takes::max_bytes, Takes::range, Takes::life,
               Takes::refers_to},
     .sort_columns = {"bytes", "count", "aligned_bytes", "type"},
     .by = {"bytes", "count", "retained"},
     .tables = {"types", "stages"},
     .parts = contexts | names,
     .plan = plan_stat,
     .answer = answer_stat},
    {.name = "path",
     .group = "to begin with",
     .question = "why is it alive?",
     .details = "For an object, or a suspect of the report (@1): how it is held, each step by its field. Owners are "
                "searched in this order: static fields of the program, its container of services, the framework's "
                "static fields, what flows with calls (values of AsyncLocal), methods on stacks, the runtime's queues "
                "and handles, and last words on stacks, which may be chance. The answer is the shortest path from the "
                "first of these owners that holds the object. --all shows the shortest path from each static field, "
                "method, handle and the like, nearest first. --no-stacks leaves out roots on stacks. --from ADDRESS "
                "shows the shortest path from another object. For a type: the paths to all its instances, equal ones "
                "as one row, with what would be freed if all of them went; give the type's full name, or a regular "
                "expression (RE2).",
     .subject = {"ADDR|TYPE|@N", "which object, type or suspect?"},
     .takes = {Takes::all, Takes::hubs, Takes::raw, Takes::from, Takes::no_stacks},
     .sort_columns = {"bytes", "instances"},
     .tables = {"paths"},
     .parts = contexts | names | fields | delegates | life_parts | thread_ids | suspended_calls,
     .plan = plan_path,
     .answer = answer_path},
    {.name = "show",
     .group = "to begin with",
     .question = "what is this object?",
     .details = "Its type, size, generation and fields, the objects that it refers to, the objects that refer to it "
                "and by which field, and what would be freed with it. For a MethodTable's address: the type, and how "
                "much of the heap its objects take. --closure adds everything that it reaches, whoever else holds it "
                "(SOS calls this objsize); --values shows the contents of strings and fields. --struct TYPE shows the "
                "memory at an address as a struct of that type: inside an object, in an array, or on a stack.",
     .subject = {"ADDR", "which object?"},
     .takes = {Takes::closure, Takes::values, Takes::struct_type},
     .tables = {"object", "fields", "elements", "references", "referrers", "series", "type"},
     .parts = contexts | names | fields | delegates | strings | life_parts | thread_ids,
     .plan = plan_show,
     .answer = answer_show},
    {.name = "account",
     .group = "memory",
     .question = "where is all of the process's memory?",
     .details =
         "Every mapped byte of the process is in exactly one class, so that the classes add up: the heap (objects, "
         "free space between them, memory that the GC keeps empty), the runtime's own memory, malloc by its arenas, "
         "stacks, files, and memory that nothing explains. --live (or --dead) shows live and dead objects separately, "
         "which takes a pass over the graph. For a live process it also shows how much of each class is resident or "
         "swapped out; if pages hold several classes, it shows at least and at most. If malloc has much of a dump's "
         "memory, or with --table native, it shows who has the addresses of malloc's blocks: fields of objects, "
         "libraries, the runtime, or nobody, so that they are lost; --table malloc shows the blocks by size. -v shows "
         "malloc's arenas and what was not identified.",
     .takes = {Takes::life},
     .tables = {"account", "native", "malloc", "arenas", "not_identified"},
     .parts = contexts | names | fields | segments | gc | loader_heaps,
     .plan = plan_account,
     .answer = answer_account,
     .tells_resident = true,
     .reads_objects_only = true},
    {.name = "segments",
     .group = "memory",
     .question = "where is the heap in memory?",
     .details = "One row per region or segment of the GC, and their sums by generation. Object sizes include their "
                "alignment, so that the columns add up.",
     .takes = {Takes::generation},
     .tables = {"segments", "generations"},
     .parts = contexts | segments,
     .plan = [](const Question &) { return Plan(Pass::tally); },
     .answer = answer_segments},
    {.name = "objects",
     .group = "memory",
     .question = "which objects are there?",
     .details = "One row per object, in address order unless --sort says otherwise. Use the filters: a heap holds "
                "millions. --near shows the objects around an address; --by size shows how many objects there are of "
                "each size; --refers-to younger shows those that a collection of younger generations has to look at. "
                "--format addresses writes the addresses alone, one per line, for scripts.",
     .takes = {Takes::type, Takes::generation, Takes::min_bytes, Takes::max_bytes, Takes::range, Takes::life,
               Takes::refers_to, Takes::near},
     .sort_columns = {"address", "bytes", "type"},
     .by = {"size"},
     .tables = {"objects", "sizes", "stages"},
     .parts = contexts | names,
     .plan = plan_objects,
     .answer = answer_objects,
     .reads_objects_only = true},
    {.name = "retained",
     .group = "memory",
     .question = "what would be freed?",
     .details = "Who alone keeps how much alive: by owner (static field, thread, kind of handle), by type, namespace "
                "and assembly, and the objects that hold most. --tree shows level by level who holds what (--top N: "
                "the N largest lines below each line). Exact: from the dominator tree of the whole heap.\nOwners have "
                "ranks: objects that the program's own static fields hold belong to these fields, even if the "
                "runtime's timers or a stack hold them, too. --plain ranks no owners, except words on stacks that may "
                "be references by chance: they own only objects that nothing else reaches. Objects that several owners "
                "of a rank hold together are (shared): the table of that name lists them by their owners.",
     .takes = {Takes::type, Takes::tree, Takes::depth, Takes::plain, Takes::hubs, Takes::raw},
     .tables = {"owners", "shared", "types", "namespaces", "assemblies", "objects", "tree"},
     .parts = contexts | names | life_parts | thread_ids | suspended_calls,
     .plan = plan_retained,
     .answer = answer_retained,
     .reads_objects_only = true},
    {.name = "waste",
     .group = "memory",
     .question = "which memory could be saved?",
     .details =
         "Bytes that a fix would save, by the field that holds them; no byte counts twice. Waste is of these kinds: "
         "collections that are empty, hold one element, or are less than a third full (List, Stack, Queue, Dictionary, "
         "HashSet, ConcurrentDictionary, StringBuilder, and other collections in arrays), with the arrays that belong "
         "to them; boxes; all but one of equal strings, of equal arrays without references, and of equal small objects "
         "without references; the zeros of arrays that contain little else; and holes beside pinned objects. Objects "
         "that the GC never frees are not waste. --live looks only at live objects, --dead only at garbage; neither "
         "looks at holes.",
     .takes = {Takes::life},
     .sort_columns = {"bytes", "count", "kind"},
     .tables = {"waste", "kinds", "stages"},
     .parts = contexts | names | fields | AnswerPart::strings | handles | suspended_calls,
     .looks_for_framework = true,
     .plan = plan_waste,
     .answer = answer_waste,
     .reads_objects_only = true,
     .reads_contents = true},
    {.name = "strings",
     .group = "memory",
     .question = "which strings occur more than once?",
     .details = "One row for strings of equal content: their number and length, the bytes that all but one of them "
                "waste, and the field that holds most of them; then the fields, by the bytes wasted in them. Literals "
                "of the program are never wasted. --values shows the contents, otherwise a hash stands for them. "
                "--live looks only at live strings, --dead only at garbage.",
     .takes = {Takes::life, Takes::values},
     .sort_columns = {"wasted", "count", "bytes", "length"},
     .tables = {"strings", "fields", "stages"},
     .parts = contexts | names | fields | AnswerPart::strings,
     .plan = plan_strings,
     .answer = answer_strings,
     .reads_objects_only = true,
     .reads_contents = true},
    {.name = "frag",
     .group = "memory",
     .question = "how large are the heap's holes, and what is beside them?",
     .details = "The heap's holes (Free objects) by generation and size, their share of the segments, and their "
                "neighbours: pinned objects, with the kind of handle, or objects that merely survived. Then the "
                "largest holes, with the objects before and after them; --by retained adds retained size and owner of "
                "these. Holes are usual in the large object heap, which is compacted on request only; in the pinned "
                "object heap, where nothing is ever moved, all neighbours count as pinned.",
     .by = {"bytes", "retained"},
     .tables = {"holes", "generations", "beside", "largest"},
     .parts = contexts | names | handles | stacks,
     .plan = plan_frag,
     .answer = answer_frag,
     .reads_objects_only = true},
    {.name = "threads",
     .group = "threads",
     .question = "which threads are there, and where is each one?",
     .details = "One row per thread of the runtime: its ids, name and state, the number of methods on its stack, the "
                "innermost method, and the exception that it is handling, or handled last. The row also shows what it "
                "waits for (a lock and its owner, a task), as far as the runtime's records, objects and references in "
                "its methods show it. --by retained adds what each thread alone keeps alive, which takes the graph of "
                "the whole heap. Threads that have ended are listed as long as their objects live.",
     .by = {"thread", "retained"},
     .tables = {"threads", "problems"},
     .parts = names | code | thread_ids | stacks | sync_blocks | suspended_calls,
     .plan = plan_threads,
     .answer = answer_threads,
     .answers_without_heap = true},
    {.name = "stack",
     .group = "threads",
     .question = "where is each thread, and what does it hold?",
     .details =
         "The methods on the stack of one thread, or of all threads, innermost first. Give a thread by the operating "
         "system's id or by its managed id. Between the methods are native functions, and the Frames that the runtime "
         "leaves where it is called. --all adds threads that run no managed code. If a module's .pdb is found (inside "
         "it, beside it, or below --symbols), "
         "each method has its current line. --mine shows the program's own methods alone; --merge shows stacks of the "
         "same methods once, those of most threads "
         "first; --roots also shows the references that each frame holds, and their slots.",
     .subject = {"THREAD", "which thread?", true},
     .takes = {Takes::all, Takes::merge, Takes::mine, Takes::roots, Takes::symbols},
     .tables = {"frames", "stacks", "references", "problems"},
     .parts = names | code | thread_ids | stacks,
     .plan = plan_stack,
     .answer = answer_stack,
     .answers_without_heap = true},
    {.name = "locks",
     .group = "threads",
     .question = "who waits for whom?",
     .details = "One row per lock that is held or waited for: Monitor (the lock statement), Lock, "
                "ReaderWriterLockSlim, SemaphoreSlim, ManualResetEventSlim, CountdownEvent, Barrier and Mutex; then "
                "deadlocks, in words, and what each thread waits for, as far as the runtime's records, objects and "
                "stacks show it. A semaphore does not record who took it, a reader-writer lock does not record who "
                "reads, and before .NET 11 a Mutex does not record who has it. --all also shows locks that nobody "
                "holds.",
     .takes = {Takes::all},
     .tables = {"locks", "deadlocks", "waits"},
     .parts = contexts | names | fields | delegates | sync_blocks | locks | stacks | thread_ids | thread_statics |
              suspended_calls | handles,
     .looks_for_framework = true,
     .plan =
         [](const Question &) {
           Plan plan = Plan(Pass::index).then("walk").then("tasks").then("headers").then(Pass::roots).then("walk");
           foresee_waits(plan);
           return plan;
         },
     .answer = answer_locks,
     .answers_without_heap = true},
    {.name = "async",
     .group = "threads",
     .question = "which asynchronous calls are pending?",
     .details = "One row for equal calls: asynchronous methods that await one another, from the one that waits for "
                "something else (a delay, a semaphore, a socket, a TaskCompletionSource) out to the one that nobody "
                "awaits. Each method has the number of its current await, as the compiler counts them. Then tasks by "
                "status, with those that failed unobserved, and the thread pool: its workers, and the work that waits "
                "for one. --by retained adds what would be freed with the calls.",
     .takes = {Takes::symbols},
     .by = {"count", "retained"},
     .tables = {"calls", "tasks", "pool", "queued"},
     .parts = contexts | names | fields | delegates | suspended_calls,
     .looks_for_framework = true,
     .plan = plan_async,
     .answer = answer_async},
    {.name = "exceptions",
     .group = "threads",
     .question = "what was thrown?",
     .details = "One row for exceptions on the heap that have the same type, HResult, and calls that they have passed "
                "through. Those that a thread is handling come first, with their stacks; in a crash dump that is the "
                "one that ended the process. With an address: one exception, with the calls that it has passed "
                "through. --values shows messages.",
     .subject = {"ADDR", "which exception?", true},
     .takes = {Takes::type, Takes::values, Takes::symbols},
     .tables = {"exceptions", "stacks"},
     .parts = contexts | names | fields | delegates | handles,
     .looks_for_framework = true,
     .plan = [](const Question &) { return Plan(Pass::tally).then("walk"); },
     .answer = answer_exceptions,
     .answers_without_heap = true},
    {.name = "info",
     .group = "inside the runtime",
     .question = "what is this dump, how was it interpreted, how complete is it?",
     .details =
         "The kind of dump, the runtime, the module files and symbols that were used or rejected and why, the source "
         "of the runtime's layout, and every part of the heap that could not be walked. --table stress_log shows the "
         "last messages of the runtime, for processes that were started with DOTNET_StressLog=1 (.NET 11).",
     .takes = {Takes::symbols},
     .tables = {"facts", "modules", "assemblies", "images", "symbols", "contracts", "stress_log", "gaps"},
     .parts = all_parts,
     .tells_missing_parts = true,
     .plan = [](const Question &) { return Plan(Pass::tally); },
     .answer = answer_info,
     .answers_without_heap = true},
    {.name = "gc",
     .group = "inside the runtime",
     .question = "what does the GC record about itself?",
     .details = "All data of the GC contract except objects and handles: the kind of GC, its state, heaps and "
                "generations, background collection, finalization queues, mechanisms by name, free regions and "
                "bookkeeping, why memory ran out the last time, and the settings that the process was started with (by "
                "environment variables, on Linux only, and runtimeconfig.json). memory_info shows how much memory the "
                "GC may use, a container's limit among it, and what a collection left, if a result of "
                "GC.GetGCMemoryInfo() is in gen0 or gen1: the runtime's own code calls it, too. Walks nothing else.",
     .tables = {"state", "settings", "memory_info", "heaps", "generations", "contexts", "background", "finalization",
                "internal_roots", "mechanisms", "free_regions", "bookkeeping", "oom", "problems"},
     .parts = gc_answer_parts,
     .plan = [](const Question &) { return Plan(Pass::runtime).perhaps(Pass::heap); },
     .answer = answer_gc},
    {.name = "handles",
     .group = "inside the runtime",
     .question = "which GC handles exist?",
     .details = "One row per GC handle whose object is not null, by kind, and the sums by kind. Weak handles keep "
                "nothing alive; strong and pinned ones keep their objects; a dependent one keeps its secondary as long "
                "as its object lives.",
     .takes = {Takes::type},
     .sort_columns = {"kind", "type"},
     .tables = {"handles", "kinds"},
     .parts = names | handles | ref_counts,
     .plan =
         [](const Question &question) {
           const bool names_types = !question.type_exact.empty() || !question.type_regex.empty();
           return Plan(names_types ? Pass::tally : Pass::heap); // because it needs the types of the heap
         },
     .answer = answer_handles},
    {.name = "roots",
     .group = "inside the runtime",
     .question = "what keeps objects alive?",
     .details = "Sums by kind, the largest groups, and one row per root: handles by kind, objects whose finalizer is "
                "due, static fields and thread statics by name, and references on stacks and in registers. Stacks are "
                "scanned for words that look like references (stack_conservative), so some of those may be left over "
                "from calls that have returned.",
     .takes = {Takes::type},
     .tables = {"kinds", "groups", "roots"},
     .parts = contexts | names | root_parts | ref_counts | thread_ids,
     .plan = [](const Question &) { return Plan(Pass::roots); },
     .answer = answer_roots},
    {.name = "contract",
     .group = "inside the runtime",
     .question = "which data contract did the target publish?",
     .details = "Every contract, type, field and global that dnheap uses, each with its origin: published by the "
                "target, discovered in its memory, or from a table shipped with dnheap; values that were not found; "
                "and values that are published and used although memory does not confirm them.",
     .tables = {"contracts", "types", "globals", "descriptors", "missing", "doubted"},
     .plan = [](const Question &) { return Plan(Pass::runtime); },
     .answer = answer_contract},
    {.name = "verify",
     .group = "inside the runtime",
     .question = "is the heap sound?",
     .details = "Looks at every object, the word before it (its sync block, the holder of its lock) and every "
                "reference. Problems are places without a sound object, references that lead to no object, headers "
                "that name a sync block that is not the object's, and types whose description of references is "
                "damaged. Problems that only concern dead objects are counted separately (--verbose lists them). A "
                "dump that was taken while the program went on may have some. --all also builds the graph of all "
                "references and its dominators, and checks that they agree with each other.",
     .takes = {Takes::all},
     .tables = {"problems", "totals", "invariants"},
     .parts = contexts | names | fields | sync_blocks | locks | life_parts,
     .plan = plan_verify,
     .answer = answer_verify},
    {.name = "inspect",
     .group = "inside the runtime",
     .question = "what does one inspector find: timers, events, collections, …?",
     .details = "Asks one inspector, by its name; without a name all of them, for the number of what each finds; "
                "'dnheap inspect' alone lists them. Equal objects are one row, with "
                "the field that holds them. timers: everything that waits in the runtime's queue (Timer, "
                "PeriodicTimer, CancellationTokenSource, Task.Delay), what it calls, how often, since when, and "
                "whether it is late. events: fields with "
                "delegates of several handlers, the methods and types of these. collections: elements, fill and bytes "
                "of lists, dictionaries, sets and queues, concurrent, immutable and old ones too, and of channels. "
                "pools: arrays that ArrayPool<T>.Shared keeps. contexts: AssemblyLoadContexts, and what keeps them "
                "from being unloaded. finalizers: objects that wait for their finalizer. http, db, sockets, "
                "safehandles: clients, connections and handles by state. caches: entries and limits of MemoryCache. "
                "di: scopes of service providers, and what they keep to dispose, by type. requests: requests of "
                "ASP.NET Core in "
                "flight, contexts of requests that ended, sessions. regex: regular expressions, how they are run, and "
                "their number of patterns. ef: entities that DbContexts track, and cached queries. asynclocals: "
                "values that ExecutionContexts carry, and what captured these. Types are recognized by base types and "
                "fields; objects of a type with a known name and other fields are left out, and a note says so.",
     .subject = {"NAME", "which inspector?", true, inspector_words},
     .tables = {"inspectors",  "timers",   "events", "collections", "pools",       "contexts",   "emitted",
                "finalizers",  "http",     "db",     "sockets",     "safehandles", "caches",     "di",
                "disposables", "requests", "regex",  "ef",          "queries",     "asynclocals"},
     .parts = contexts | names | fields | delegates | handles | suspended_calls | loader_heaps,
     .looks_for_framework = true,
     .plan = plan_inspect,
     .answer = answer_inspect,
     .answer_alone = answer_inspect_alone,
     .reads_objects_only = true},
    {.name = "extract",
     .group = "dumps and files",
     .question = "write a small core to share",
     .details =
         "Writes a small ELF core (-o FILE; compressed if FILE ends in .zst) with what heap analysis needs: all "
         "objects, types and their names, handles, statics, stacks in use, and the runtime's own data. Every verb "
         "gives the same answer on it, even without the files that --modules names; exceptions are account, and "
         "figures of report, summary, diff and check about memory outside of the heap's objects.\n--no-values blanks "
         "contents: strings, numbers and everything else on the heap that is not a reference, all words on stacks and "
         "in registers except pointers, environment variables and the command line; and, outside of heap and stacks, "
         "everything that dnheap did not read. What remains: names of types, fields, methods and files, addresses, "
         "sizes, lengths, and constants that are part of assemblies' metadata.",
     .takes = {Takes::no_values},
     .tables = {"extracted"},
     .parts = all_parts,
     .plan = plan_extract,
     .answer = answer_extract,
     .makes_file = true,
     .records_reads = true},
    {.name = "export",
     .group = "dumps and files",
     .question = "write the heap for other tools",
     .details =
         "Writes the heap as a file (-o FILE) for another tool, which --as names. doc/files.md describes what each "
         "format contains, in which units, and what is lost.\nndjson: all objects with their references, types and "
         "roots, one JSON object per line, for scripts.\nheapsnapshot: the same, for Chrome's and Edge's developer "
         "tools (Memory, Load) and VS Code.\ngcdump: the same, for PerfView, Visual Studio and dotnet-gcdump.\nsqlite: "
         "the same, and what would be freed with each object, as a database.\nspeedscope: who holds the live bytes as "
         "a flame graph, owners below, what they hold above; in bytes and in objects.\npprof: the same, for Go's pprof "
         "and other tools that read its profiles.\ndot: the objects around one object (--around ADDRESS, --depth "
         "steps, --limit objects), for Graphviz.\nSizes are aligned bytes, as objects take them in the heap. Files "
         "contain no values, except the contents of strings if --values is given.",
     .takes = {Takes::as, Takes::around, Takes::depth, Takes::limit, Takes::values},
     .as = {"ndjson", "heapsnapshot", "gcdump", "sqlite", "speedscope", "pprof", "dot"},
     .tables = {"exported"},
     .parts = contexts | names | fields | root_parts | thread_ids,
     .plan = plan_export,
     .answer = answer_export,
     .makes_file = true},
    {.name = "query",
     .group = "dumps and files",
     .question = "run SQL on the dump",
     .details =
         "Runs a SELECT of SQLite on the open dump, without writing it anywhere first. Tables: types (id, name, "
         "method_table, assembly, count, bytes, aligned_bytes), objects (address, type, bytes, aligned_bytes, "
         "generation, reached), refs (source, target, field, element), roots (kind, owner, object), owners (owner, "
         "kind, rank, retained_bytes, retained_objects: the rows of retained), dominators (object, dominator, owner, "
         "retained_bytes, retained_objects), plain_dominators (the same without ranks of owners, as retained --plain), "
         "strings (object, length, value: with --values), meta (key, value). doc/files.md describes them. Fast: an "
         "object by its address, refs by source or target; everything else goes over all rows. Nothing can be changed, "
         "and no other file can be opened. --limit ends after so many rows, --timeout after so many seconds.",
     .subject = {"SELECT", "which question?"},
     .takes = {Takes::limit, Takes::timeout, Takes::values},
     .tables = {"rows"},
     .parts = contexts | names | fields | root_parts | thread_ids,
     .plan = plan_query,
     .answer = answer_query},
    {.name = "diff",
     .group = "dumps and files",
     .question = "what grew, from one dump to the next?",
     .details = "Takes two dumps or more, the oldest first, or records that 'check --record' saved of them. Shows by "
                "owner (the same signature in each), by type, by class of memory and by kind of waste what is new, "
                "gone, grown, shrunk or steady, with rates per hour if the times of the dumps are known. Three dumps "
                "or more also have a trend: what grew each time, or never shrank. Each dump is opened, asked and "
                "closed before the next one, so this takes the memory of one.",
     .takes = {Takes::interval},
     .sort_columns = {"change", "after", "before"},
     .tables = {"owners", "types", "account", "waste", "dumps"},
     .plan = [](const Question &) { return plan_record(); },
     .answer_records = answer_diff,
     .takes_several = true},
    {.name = "check",
     .group = "dumps and files",
     .question = "does a dump stay within its budget?",
     .details = "Compares a dump, or a saved record of one, with a budget: limits per type, owner and class of memory, "
                "for sums, and for growth since a baseline. The exit code is 1 if one is exceeded; formats junit and "
                "github are for CI. --record saves the present figures, by names and signatures, as a baseline for "
                "later. --no-findings-of needs no budget: nothing of that kind may be wrong, as report finds it. "
                "doc/budget.md describes how to write a budget.",
     .takes = {Takes::limits},
     .tables = {"checks"},
     .plan = plan_check,
     .answer_records = answer_check},
    {.name = "summary",
     .group = "dumps and files",
     .question = "one JSON line per dump, for a store of many",
     .details =
         "One line of JSON for each dump (NDJSON): when it was taken, how complete it is, the verdict, where its "
         "memory is, who owns how much (by signature, which other dumps of the program share), types, waste, and where "
         "threads are. Lists are cut to the first rows plus one row for the rest; --top sets how many first rows. A "
         "line stays below 64 KiB unless more is asked for. Takes several dumps, one after the other; if a dump cannot "
         "be read, its line gives the reason (error). No values of strings or fields are in it.",
     .takes = {Takes::symbols},
     .tables = {"summary", "findings", "account", "owners", "types", "waste", "threads"},
     .parts =
         contexts | names | fields | delegates | segments | gc | life_parts | thread_ids | code | stacks | sync_blocks,
     .plan = plan_summary,
     .answer = answer_summary,
     .takes_each = true,
     .format = "ndjson",
     .reads_objects_only = true}, // other verbs ask its questions,
    {.name = "ps",
     .group = "processes",
     .question = "which .NET processes run here?",
     .details =
         "Takes no target. One row per process of this machine, or container, with a .NET runtime in it: its "
         "kind and version, the GC, how much memory it takes, whether its diagnostics port answers (dnheap collect), "
         "and whether its memory may be read (-p). Suspends none of them.",
     .sort_columns = {"pid", "memory"},
     .tables = {"processes"},
     .plan = [](const Question &) { return Plan().then("module files").then("runtime"); },
     .answer_alone = answer_ps},
};

} // namespace

std::span<const Verb> verbs() { return all_verbs; }

} // namespace dnheap
