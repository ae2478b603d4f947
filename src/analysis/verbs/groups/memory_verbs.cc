#include "analysis/verbs/groups/verb_groups.h"
#include "analysis/verbs/verbs.h"

namespace dnheap {

namespace {

using enum AnswerPart;

constexpr Verb memory_rows[] = {
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
         "libraries, the runtime, or nobody, so that they are lost; --table malloc shows the blocks by size. --table "
         "views shows views of memory-mapped files, by file and by what holds them. --table "
         "loaders shows the memory of the runtime's loader heaps by the assemblies that are unloaded together. -v "
         "shows malloc's arenas and what was not identified.",
     .takes = {Takes::life},
     .tables = {"account", "native", "malloc", "views", "arenas", "loaders", "not_identified"},
     .parts = contexts | names | fields | segments | gc | loader_heaps,
     .plan = plan_account,
     .answer = answer_account,
     .tells_resident = true,
     .reads_objects_only = true,
     .needs_process = true},
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
     .details =
         "One row per object, in address order unless --sort says otherwise. Use the filters: a heap holds "
         "millions. --near shows the objects around an address; --by size shows how many objects there are of "
         "each size; --refers-to younger shows those that a collection of younger generations has to look at. "
         "--by retained shows what each object alone holds; --fields adds fields of one's choice, and --by-field "
         "sums the objects up by the value of one, as in: --type-exact Shop.Order --by-field _state --values. "
         "--format addresses writes the addresses alone, one per line, for scripts.",
     .takes = {Takes::type, Takes::generation, Takes::min_bytes, Takes::max_bytes, Takes::range, Takes::life,
               Takes::refers_to, Takes::near, Takes::fields, Takes::values},
     .sort_columns = {"address", "bytes", "type"},
     .by = {"size", "retained"},
     .tables = {"objects", "sizes", "groups", "stages"},
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
         "to them; room for 64 KiB or more that nothing uses at the end of those that are not full, of MemoryStream "
         "and "
         "ArrayBufferWriter too; boxes; all but one of equal strings, of equal arrays without references, and of equal "
         "small objects "
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
     .needs_process = true,
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
     .needs_process = true,
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
     .reads_objects_only = true,
     .needs_process = true},
};

} // namespace

std::span<const Verb> memory_verbs() { return memory_rows; }

} // namespace dnheap
