// The verdict: what is wrong with a process's memory, and what hangs in it, in one sentence each, by explicit rules.
// Each rule is a row of a table in verdict.cc: when it applies, how many bytes it explains, its text. Rules of one
// group explain the same bytes: the one that explains most counts. If none applies, nothing is wrong. Plain numbers in,
// text out; any thread.
#pragma once
#include "analysis/threads/pool_stands.h"
#include "analysis/waits/sureness.h"
#include "base/integers.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dnheap {

inline constexpr u64 least_elements = 100;  // fewer elements are not a collection that grows
inline constexpr u64 least_contenders = 5;  // threads that wait for one lock: fewer are usual
inline constexpr u64 many_assemblies = 500; // assemblies that are in no file; those of a large program are in files

// Facts about threads and asynchronous methods that do not go on.
struct HangFacts {
  u64 deadlocks = 0;
  Sureness deadlock_sureness = Sureness::certain; // of the surest
  std::string deadlock_text;                      // the surest: "threads Buyer and Seller wait for each other"
  std::string deadlock_places;                    // of its threads: "Buyer waits for a lock in Shop.Buy (Shop.cs:41)"
  u64 orphaned_waiters = 0;                       // threads that wait for locks whose owners have ended
  std::string orphaned_text; // one of these: "Shop.Gate 0x…, which managed thread 4 had when it ended"
  // The largest crowd before a semaphore: how many wait, for what ("SemaphoreSlim (static Shop.Cart._gate)"), and its
  // holder, if one is known ("Shop.Cart.Pay").
  u64 crowd = 0;
  bool are_threads = false, are_calls = false;
  bool is_perhaps_signal = false; // unknown whether the waiting methods release it, so that it may be a signal
  std::string crowd_text, crowd_holder;
  std::string crowd_place; // where most of them wait: "Shop.Cart.Pay (Cart.cs:41)"; empty: at several places
  u64 crowds = 0;          // how many there are
  // Events that nobody can signal any more, although threads wait for them: how many threads wait for the first of
  // them, how many other events there are, and the first in words: where a waiting thread stands ("waits for a
  // countdown in Shop.Press.Print"), the thread's name, the type, which signals are missing ("1 of 10 signals is
  // missing"; empty: the only one), and what kind of object it is.
  enum class Lost : u8 { event, pulse, semaphore, place, item };
  u64 lost_waiters = 0, lost_others = 0;
  std::string lost_thread, lost_place, lost_type, lost_missing;
  Lost lost = Lost::event;
  bool has_lost_followers = false; // threads that wait for these threads refer to it, too
  // The lock with most waiters whose owner, or whose readers, may still release it: how many wait, for which lock, who
  // has or reads it, and where that thread stands.
  u64 contenders = 0;
  std::string contended_text, contended_by,
      holder_place;               // "Shop.Cache", "thread Loader has", "sleeps in Shop.Cache.Load"
  bool is_holder_waiting = false; // false: the owner, or a reader, runs
  // If that thread waits for another lock: who has that one, and so on ("Thread Loader has that lock, and sleeps in
  // Shop.Load"); empty: it does not.
  std::string contended_behind;
  // The longest chain of threads of which each waits for what the next one has: how many threads it has, and the chain
  // in words ("Thread Order waits for a lock in Shop.Buy; thread Loader has that lock, and …"). Empty: the last one
  // goes on by itself, or there is no such chain.
  u64 chain_threads = 0;
  std::string chain_text;
  // Threads that wait until the console takes what others wrote: how many, where most of them stand, and the thread
  // that writes ("wait for a pulse in Shop.Audit", "thread Logger"). 0: the console takes all output.
  u64 console_waiters = 0;
  std::string console_place, console_writer;
  // How many objects wait for the thread that runs finalizers, whether that thread waits itself, and who has the lock
  // that it waits for ("thread Loader, which sleeps in Shop.Cache.Load"; empty: it waits for no lock).
  u64 finalizer_objects = 0;
  bool is_finalizer_waiting = false;
  std::string finalizer_lock_holder;
  std::optional<u64> finalizer_os_id; // of that thread
  // The end of the process, if it waits: how it began ("thread Stopper called Environment.Exit in Shop.Host.Stop";
  // empty: the process does not end), whether for a handler of ProcessExit or for a finalizer, where the thread that
  // runs it stands, and who has the lock that this thread waits for.
  std::string exit_begun, exit_place, exit_lock_holder;
  bool is_exit_handler = false;
  Sureness exit_sureness = Sureness::probable;
  PoolStands pool;
  // The place of the largest group of threads in one state ("700 sleep, in Shop.Poller.Run"), and the place of the
  // thread that runs finalizers ("waits for an event in Shop.Handle.Finalize"). Empty: unknown, or it runs none.
  std::string threads_text, finalizer_text;
  // The calls for whose tasks most workers of the pool wait: "11 of the tasks are calls of Shop.Orders.LoadAsync";
  // empty: unknown.
  std::string pool_tasks;
  // Where most workers stand in the program's methods, and which method most of the waiting items run (pool_places.h);
  // empty: unknown.
  std::string pool_place, pool_work;
  std::string note; // what was not looked at
};

struct VerdictFacts {
  bool has_threads = true;     // false: the source is a listing of the heap
  bool knows_all_roots = true; // false: objects that count as dead may be held
  u64 process = 0;             // accessible bytes of the process, as far as the dump shows
  u64 heap = 0;                // what the GC has committed
  u64 live = 0, dead = 0;      // objects
  u64 free_inside = 0;         // between objects
  u64 gc_empty = 0;            // committed and empty: free regions, to be given back, after the last objects
  u64 malloc_in_use = 0, malloc_free = 0;
  std::string native_owner; // who has the addresses of most of malloc's blocks, and how many these are; empty: unknown
  std::string other_allocators; // beside malloc, as AccountMap names them
  u64 perhaps_theirs = 0;
  u64 runtime = 0; // memory of the runtime itself: loader heaps, code, the GC's tables
  u64 stacks = 0, threads = 0;
  u64 finalizers = 0; // bytes held only by objects whose finalizers are due
  u64 finalizer_objects = 0;
  std::string finalizers_text;      // the largest suspect among these objects
  std::string finalizer_place;      // HangFacts::finalizer_text
  std::string threads_place;        // HangFacts::threads_text
  u64 pinned = 0;                   // handles whose objects cannot be moved
  u64 free_beside_pinned = 0;       // bytes of `free_inside` beside such an object; 0: not looked at
  std::string beside_holes;         // the objects beside most of the free bytes inside, in words; empty: not looked at
  u64 copies = 0;                   // bytes of live strings and small objects that are equal to others
  std::string copies_text;          // the largest group of copies, and the field that holds it
  u64 waste = 0;                    // live bytes that are waste
  std::string waste_text;           // the largest group of wasteful objects, and the field that holds it
  u64 made_assemblies = 0;          // assemblies in no file: made at run time, or loaded from bytes
  std::string made_assemblies_name; // the largest group of these that differ only in a number: its count and a name
  std::string made_assemblies_by;   // who makes that group, or which field leads to most assemblies; empty: unknown
  u64 largest = 0; // bytes of the largest suspect that the program itself, or its container of services, holds
  // The largest of these with many elements, or with contexts that cannot unload; if there is none, the largest of all.
  u64 suspect = 0, suspect_elements = 0;
  std::string suspect_text, suspect_way;
  // The largest suspect, whoever holds it, except words on stacks and the finalizer queue.
  u64 holder = 0, holder_elements = 0;
  std::string holder_text;
  // Suspects with many elements, each of which holds a tenth of live memory or more: their number, their bytes
  // together, and each by name: "static Shop.A._items (25 %), …".
  u64 large_suspects = 0, large_suspects_bytes = 0;
  std::string large_suspects_text;
  // Resources of which there should be few (kept_resources.h): how many of them the suspect holds, and by which field.
  u64 suspect_contexts = 0, suspect_http_clients = 0, suspect_db_connections = 0;
  std::string http_clients_field, db_connections_field;
  u64 stacks_in_use = 0; // bytes of `stacks` between a thread's stack pointer and its stack's begin
  // What ArrayPool<T>.Shared keeps: bytes, arrays, and the pool with most of them ("ArrayPool<Byte>.Shared").
  u64 pooled = 0, pooled_arrays = 0;
  std::string pooled_by;
  // Where to begin if the program hangs: "4 threads wait for a lock in Shop.Buy; if the program hangs, begin there."
  // Empty: its threads are idle, or nobody looked.
  std::string activity;
  u64 room = 0;          // bytes in live collections and buffers that have room for more than they hold
  std::string room_text; // the largest group of these
  u64 files = 0;         // bytes of `process` in programs, libraries and mapped files
  u64 free_in_loh = 0;   // bytes of `free_inside` in the large object heap; 0: not looked at

  u64 in_heap() const { return live + dead + free_inside; }
  // What the process asked for while it ran, where libraries and stacks would hide what is large.
  u64 asked_for() const { return process - std::min(process, files + stacks); }
};

// Ends the sentence about who holds most: a table that is as large as it should be looks the same in one dump.
inline constexpr std::string_view only_growth_matters =
    " That matters only if it grows, which dnheap diff of two dumps shows.";

// Stands before the figures of a heap in which nothing is wrong, behind what the program does.
inline constexpr std::string_view no_memory_problem = "No memory problem: ";

struct MemoryVerdict {
  std::string rule; // "one_owner", … "nothing": a word for scripts
  std::string text; // one or two sentences
  u64 bytes = 0;    // how many bytes it explains
  // A verb that shows more ("waste"), and its options after the target (" --live"); empty: the path to the first
  // suspect shows more.
  const char *verb = "", *options = "";
  // Somebody holds much, and nothing else is notable about it: a cache that is bounded looks the same. No finding.
  bool is_size_alone = false;
};

// Returns what is wrong, one verdict for each group of rules, the one that explains most bytes first; if nothing is,
// the verdict "nothing". Never empty. `is_incomplete`: part of the heap, or of what keeps objects alive, is unknown.
std::vector<MemoryVerdict> judge(const VerdictFacts &facts, bool is_incomplete = false);

struct HangVerdict {
  std::string rule; // "deadlock", "pool_starved"
  Sureness sureness = Sureness::certain;
  std::string text;         // one or two sentences
  const char *verb = "";    // a verb that shows more
  std::string options = {}; // after the verb's target
};

// The names of the rules for memory and for hangs whose verdicts are findings.
std::vector<std::string_view> fault_rules();

// True for a rule that explains memory without a fault of the program's.
bool is_harmless_rule(std::string_view rule);

// Returns the verdicts of all rules that apply, in the order of the table. Empty: nothing is known to hang.
std::vector<HangVerdict> judge_hangs(const HangFacts &facts);

} // namespace dnheap
