#include "analysis/verbs/groups/verb_groups.h"
#include "analysis/verbs/verbs.h"

namespace dnheap {

namespace {

using enum AnswerPart;

constexpr Verb first_rows[] = {
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
     .details =
         "Its type, size, generation and fields, the objects that it refers to, the objects that refer to it "
         "and by which field, and what would be freed with it. For a collection: its entries, in the order in "
         "which it lists them. For a MethodTable's address: the type, and how much of the heap its objects take. "
         "--closure adds everything that it reaches, whoever else holds it "
         "(SOS calls this objsize); --values shows the contents of strings, fields and entries. --struct TYPE shows "
         "the "
         "memory at an address as a struct of that type: inside an object, in an array, or on a stack.",
     .subject = {"ADDR", "which object?"},
     .takes = {Takes::closure, Takes::values, Takes::struct_type},
     .tables = {"object", "entries", "fields", "elements", "references", "referrers", "series", "type"},
     .parts = contexts | names | fields | delegates | strings | life_parts | thread_ids,
     .plan = plan_show,
     .answer = answer_show},
};

} // namespace

std::span<const Verb> first_verbs() { return first_rows; }

} // namespace dnheap
