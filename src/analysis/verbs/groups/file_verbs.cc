#include "analysis/records/record.h"
#include "analysis/verbs/groups/verb_groups.h"
#include "analysis/verbs/verbs.h"

namespace dnheap {

namespace {

using enum AnswerPart;

constexpr Verb file_rows[] = {
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
     .records_reads = true,
     .needs_process = true},
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
         "strings (object, length, value: with --values), entries (collection, position, key, key_object, value, "
         "value_object: of the collection whose address is given or joined; key and value with --values), meta (key, "
         "value). doc/files.md describes them. Fast: an object by its address, refs by source or target; everything "
         "else goes over all rows. Nothing can be changed, "
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
                "or more also have a trend: what grew each time, or never shrank; up to six have a column each, and "
                "JSON has the figures of any number (series). Each dump is opened, asked and closed before the next "
                "one, so this takes the memory of one.",
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
};

} // namespace

std::span<const Verb> file_verbs() { return file_rows; }

} // namespace dnheap
