#include "analysis/verbs/groups/verb_groups.h"
#include "analysis/verbs/verbs.h"
#include "analysis/waits/thread_waits.h"

namespace dnheap {

namespace {

using enum AnswerPart;

constexpr Verb thread_rows[] = {
    {.name = "threads",
     .group = "threads",
     .question = "which threads are there, and where is each one?",
     .details = "One row per thread of the runtime: its ids, name and state, the number of methods on its stack, the "
                "innermost method, and the exception that it is handling, or handled last. The row also shows what it "
                "waits for (a lock and its owner, a task), as far as the runtime's records, objects and references in "
                "its methods show it. --by retained adds what each thread alone keeps alive, which takes the graph of "
                "the whole heap. Threads that have ended are listed as long as their objects live. "
                "--kind background, foreground, pool worker, STA, unstarted, dead or waiting lists those alone.",
     .takes = {Takes::kind},
     .by = {"thread", "retained"},
     .tables = {"threads", "problems"},
     .parts = names | code | thread_ids | stacks | sync_blocks | suspended_calls,
     .plan = plan_threads,
     .answer = answer_threads,
     .answers_without_heap = true,
     .needs_process = true},
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
         "first; --roots also shows the references that each frame holds, and their slots. --table registers shows "
         "what "
         "the registers hold and lead to; with --values, those that lead nowhere, too.",
     .subject = {"THREAD", "which thread?", true},
     .takes = {Takes::all, Takes::merge, Takes::mine, Takes::roots, Takes::values, Takes::symbols},
     .tables = {"frames", "stacks", "references", "registers", "problems"},
     .parts = names | code | thread_ids | stacks,
     .plan = plan_stack,
     .answer = answer_stack,
     .answers_without_heap = true,
     .needs_process = true},
    {.name = "locks",
     .group = "threads",
     .question = "who waits for whom?",
     .details = "One row per lock that is held or waited for: Monitor (the lock statement), Lock, "
                "ReaderWriterLockSlim, SemaphoreSlim, ManualResetEventSlim, CountdownEvent, Barrier and Mutex; then "
                "deadlocks, in words, and what each thread waits for, as far as the runtime's records, objects and "
                "stacks show it. A semaphore does not record who took it, a reader-writer lock does not record who "
                "reads, and before .NET 11 a Mutex does not record who has it. --all also shows locks that nobody "
                "holds; --kind monitor, semaphore and so on shows one kind.",
     .takes = {Takes::all, Takes::kind},
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
     .answers_without_heap = true,
     .needs_process = true},
    {.name = "async",
     .group = "threads",
     .question = "which asynchronous calls are pending?",
     .details =
         "One row for equal calls: asynchronous methods that await one another, from the one that waits for "
         "something else (a delay, a semaphore, a socket, a TaskCompletionSource) out to the one that nobody "
         "awaits. Each method has the number of its current await, as the compiler counts them. Then tasks by "
         "status, with those that failed unobserved, and the thread pool: its workers, and the work that waits "
         "for one. --by retained adds what would be freed with the calls; --type shows the calls on whose stack a "
         "method, its state machine, its task or what it awaits is called so.",
     .takes = {Takes::type, Takes::symbols},
     .by = {"count", "retained"},
     .tables = {"calls", "tasks", "pool", "queued"},
     .parts = contexts | names | fields | delegates | suspended_calls,
     .looks_for_framework = true,
     .plan = plan_async,
     .answer = answer_async,
     .needs_process = true},
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
     .answers_without_heap = true,
     .needs_process = true},
};

} // namespace

std::span<const Verb> thread_verbs() { return thread_rows; }

} // namespace dnheap
