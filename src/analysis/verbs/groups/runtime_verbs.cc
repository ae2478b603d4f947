#include "analysis/inspectors/inspector.h"
#include "analysis/verbs/groups/verb_groups.h"
#include "analysis/verbs/verbs.h"

namespace dnheap {

namespace {

using enum AnswerPart;

constexpr Verb runtime_rows[] = {
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
                "GC.GetGCMemoryInfo() is in gen0 or gen1: the runtime's own code calls it, too; collections "
                "shows the last collections, their pauses, and how much of all time was spent in pauses. Walks nothing "
                "else.",
     .tables = {"state", "settings", "memory_info", "collections", "heaps", "generations", "contexts", "background",
                "finalization", "internal_roots", "mechanisms", "free_regions", "bookkeeping", "oom", "problems"},
     .parts = gc_answer_parts,
     .plan = [](const Question &) { return Plan(Pass::runtime).perhaps(Pass::heap); },
     .answer = answer_gc,
     .needs_process = true},
    {.name = "handles",
     .group = "inside the runtime",
     .question = "which GC handles exist?",
     .details = "One row per GC handle whose object is not null, by kind, and the sums by kind. Weak handles keep "
                "nothing alive; strong and pinned ones keep their objects; a dependent one keeps its secondary as long "
                "as its object lives. --kind pinned lists the pinned ones alone, --kind weak all weak kinds.",
     .takes = {Takes::type, Takes::kind},
     .sort_columns = {"kind", "type"},
     .tables = {"handles", "kinds"},
     .parts = names | handles | ref_counts,
     .plan =
         [](const Question &question) {
           const bool names_types = !question.type_exact.empty() || !question.type_regex.empty();
           return Plan(names_types ? Pass::tally : Pass::heap); // because it needs the types of the heap
         },
     .answer = answer_handles,
     .needs_process = true},
    {.name = "roots",
     .group = "inside the runtime",
     .question = "what keeps objects alive?",
     .details = "Sums by kind, the largest groups, and one row per root: handles by kind, objects whose finalizer is "
                "due, static fields and thread statics by name, and references on stacks and in registers. Stacks are "
                "scanned for words that look like references (stack_conservative), so some of those may be left over "
                "from calls that have returned. --kind static, stack, handle or pinned lists those alone.",
     .takes = {Takes::type, Takes::kind},
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
     .answer = answer_contract,
     .needs_process = true},
    {.name = "lookup",
     .group = "inside the runtime",
     .question = "what lies at an address, or has this name or token?",
     .details = "For an address: the object there, its type, the AssemblyLoadContext that loaded the type; a "
                "MethodTable's type with the type it derives from and its methods; the method of a MethodDesc or of an "
                "address in its code; a module of the runtime with its types; a native function; a stack; a mapped "
                "file. For a name: types (Shop.Cart), methods (Shop.Cart.Add) and modules (Shop.dll), exact names "
                "first, whether there are objects of them or not; Shop.dll!Shop.Cart and Shop.dll!0x06000001, a token, "
                "look in one module. Code itself is not shown.",
     .subject = {"ADDR|NAME", "which address, name or token?"},
     .takes = {Takes::symbols},
     .tables = {"found", "methods", "types"},
     .parts = names | code | assembly_flags,
     .plan = [](const Question &) { return Plan(Pass::index); },
     .answer = answer_lookup,
     .answers_without_heap = true,
     .needs_process = true},
    {.name = "memory",
     .group = "inside the runtime",
     .question = "what lies in memory from an address on?",
     .details = "One row per word of the size of a pointer, with what its value leads to: an object, a type, a method, "
                "a native function, a stack. Without --values only words that lead somewhere are shown; with it --by "
                "bytes, words, dwords, qwords and chars show lines of contents, as debuggers do, --by string and "
                "wide_string the characters up to a zero. --limit sets how many words, bytes or characters are shown "
                "(128 bytes if it is not given), --range where they end.",
     .subject = {"ADDR", "which address?"},
     .takes = {Takes::range, Takes::limit, Takes::values, Takes::symbols},
     .by = {"pointers", "bytes", "words", "dwords", "qwords", "chars", "string", "wide_string"},
     .tables = {"memory"},
     .parts = names | code | assembly_flags,
     .plan = [](const Question &) { return Plan(Pass::index); },
     .answer = answer_memory,
     .answers_without_heap = true,
     .needs_process = true},
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
                "from being unloaded. finalizers: objects that wait for their finalizer, and those that have one. "
                "http, db, sockets, "
                "safehandles: clients, connections and handles by state. caches: entries and limits of MemoryCache. "
                "di: scopes of service providers, and what they keep to dispose, by type. requests: requests of "
                "ASP.NET Core in "
                "flight, contexts of requests that ended, sessions. regex: regular expressions, how they are run, and "
                "their number of patterns. ef: entities that DbContexts track, and cached queries. asynclocals: "
                "values that ExecutionContexts carry, and what captured these. Types are recognized by base types and "
                "fields; objects of a type with a known name and other fields are left out, and a note says so.",
     .subject = {"NAME", "which inspector?", true, inspector_words},
     .tables = {"inspectors", "timers",      "events",   "collections", "pools",   "contexts",    "emitted",
                "finalizers", "registered",  "http",     "db",          "sockets", "safehandles", "caches",
                "di",         "disposables", "requests", "regex",       "ef",      "queries",     "asynclocals"},
     .parts = contexts | names | fields | delegates | handles | suspended_calls | loader_heaps,
     .looks_for_framework = true,
     .plan = plan_inspect,
     .answer = answer_inspect,
     .answer_alone = answer_inspect_alone,
     .reads_objects_only = true,
     .needs_process = true},
};

} // namespace

std::span<const Verb> runtime_verbs() { return runtime_rows; }

} // namespace dnheap
