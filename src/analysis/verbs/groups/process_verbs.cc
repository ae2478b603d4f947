#include "analysis/verbs/groups/verb_groups.h"
#include "analysis/verbs/verbs.h"

namespace dnheap {

namespace {

constexpr Verb process_rows[] = {
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

std::span<const Verb> process_verbs() { return process_rows; }

} // namespace dnheap
