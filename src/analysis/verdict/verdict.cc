#include "analysis/verdict/verdict.h"

#include "analysis/suspects/suspect.h"
#include "analysis/verdict/hang_texts.h"
#include "base/share.h"
#include "base/text.h"

#include <algorithm>
#include <fmt/format.h>

namespace dnheap {

namespace {

constexpr u64 mib = u64{1} << 20;

std::string percent(u64 part, u64 whole) { return fmt::format("{:.0f} %", 100 * share_of(part, whole)); }

// True if the bytes matter to somebody who looks for memory, and their share is no accident.
bool is_much(u64 part, u64 whole, double least_share, u64 least) {
  return part >= least && share_of(part, whole) >= least_share;
}

bool has_many_copies(const VerdictFacts &f) { return is_much(f.copies, f.live, 0.4, 16 * mib); }

// True if live memory is mostly duplicates: sharing equal ones helps more than to know who holds them.
bool is_mostly_copies(const VerdictFacts &f) { return is_much(f.copies, f.live, 0.6, 16 * mib); }

bool is_suspect_much(const VerdictFacts &f) { return is_much(f.suspect, f.live, 0.3, 16 * mib); }

// True if there are enough of something, each of them different.
bool is_suspect_of_many(const VerdictFacts &f, u64 count) {
  return count >= least_elements && is_suspect_much(f) && !is_mostly_copies(f);
}

bool is_nearly_all(const VerdictFacts &f) { return is_much(f.holder, f.live, 0.8, 8 * mib); }

// What grows by doubling has a quarter too much on average: nothing to speak of.
bool is_much_unused(const VerdictFacts &f) { return is_much(f.room, f.live, 0.3, 16 * mib); }

// True if live memory is mostly waste, or much of it room for more, which would be hidden behind words about memory
// that is harmless.
bool is_mostly_waste(const VerdictFacts &f) { return is_much(f.waste, f.live, 0.5, 16 * mib) || is_much_unused(f); }

bool is_little_alive(const VerdictFacts &f) { return share_of(f.live, f.live + f.dead) < 0.2; }

// True if holes are much of the heap. Holes beside many pinned objects count from a smaller size on: the GC can use,
// but never close them, as long as the handles are there.
bool is_fragmented(const VerdictFacts &f) {
  const u64 least = f.pinned >= least_elements && f.free_beside_pinned >= f.free_inside / 2 ? 16 * mib : 32 * mib;
  return is_much(f.free_inside, f.in_heap(), 0.4, least);
}

std::string suspect_text(const VerdictFacts &f) { return way_and_text(f.suspect_way, f.suspect_text); }

std::string may_grow_text(const VerdictFacts &f, u64 bytes, const std::string &holder) {
  return fmt::format("{} of live memory ({}) is held by {}.{}", percent(bytes, f.live), bytes_text(bytes), holder,
                     only_growth_matters);
}

constexpr const char *room_advice = "A capacity that fits, TrimExcess, or a copy when it is complete, saves that.";

std::string much_waste_text(const VerdictFacts &f) {
  if (is_much_unused(f) && f.room * 2 >= f.waste)
    return fmt::format("{} of live memory ({}) is unused room: {}. {}", percent(f.room, f.live), bytes_text(f.room),
                       f.room_text, room_advice);
  return fmt::format("{} of live memory ({}) is waste: {}.", percent(f.waste, f.live), bytes_text(f.waste),
                     f.waste_text);
}

// Memory that is harmless may be most of the process, and a leak may grow beside it. Who holds it comes before its
// waste, since less waste helps only if somebody keeps it.
std::string harmless_text(const VerdictFacts &f, std::string text) {
  const bool is_of_suspect = is_suspect_of_many(f, f.suspect_elements);
  const bool is_of_holder = f.holder_elements >= least_elements && is_nearly_all(f);
  if (is_of_suspect)
    text += " " + may_grow_text(f, f.suspect, suspect_text(f));
  else if (is_of_holder)
    text += " " + may_grow_text(f, f.holder, f.holder_text);
  if (is_mostly_waste(f))
    text += (is_of_suspect || is_of_holder ? " " : " But ") + much_waste_text(f);
  return text;
}

constexpr const char *in_large_object_heap = ". They are in the large object heap, which the GC does not compact by "
                                             "itself: use large arrays again (ArrayPool), or set "
                                             "GCSettings.LargeObjectHeapCompactionMode.";

std::string native_text(const VerdictFacts &f) {
  return fmt::format("Not the managed heap: native code holds {} from malloc, {} of the process; the GC's heap takes "
                     "{}.{}",
                     bytes_text(f.malloc_in_use), percent(f.malloc_in_use, f.process), bytes_text(f.heap),
                     f.native_owner.empty() ? "" : " " + f.native_owner);
}

struct Rule {
  const char *name, *group;              // rules of a group follow each other
  u64 (*explains)(const VerdictFacts &); // bytes; 0: does not apply
  std::string (*text)(const VerdictFacts &);
  const char *verb = "", *options = ""; // as of MemoryVerdict
  bool is_size_alone = false;           // as of MemoryVerdict
};

// Groups that explain memory without a fault of the program's: they count only if they explain most.
constexpr std::string_view harmless_groups[] = {"dead", "empty", "freed"};

bool is_in_harmless_group(const Rule &rule) {
  return std::find(std::begin(harmless_groups), std::end(harmless_groups), rule.group) != std::end(harmless_groups);
}

constexpr Rule rules[] = {
    // If several rules of a group explain the same bytes, the first one counts: it knows more.
    {"contexts_cannot_unload", "live",
     [](const VerdictFacts &f) { return f.suspect_contexts && is_suspect_much(f) ? f.suspect : 0; },
     [](const VerdictFacts &f) {
       return fmt::format("{} unloading, but cannot finish: {} of live memory is held by {}. Remove the objects of a "
                          "context there when it unloads.",
                          f.suspect_contexts == 1 ? "1 AssemblyLoadContext is"
                                                  : count_text(f.suspect_contexts) + " AssemblyLoadContexts are",
                          percent(f.suspect, f.live), suspect_text(f));
     }},
    {"http_clients", "live",
     [](const VerdictFacts &f) { return is_suspect_of_many(f, f.suspect_http_clients) ? f.suspect : 0; },
     [](const VerdictFacts &f) {
       return fmt::format("{} HttpClients, each with connections of its own, are held by {}: one shared HttpClient, or "
                          "IHttpClientFactory, is enough. {} of live memory is held by {}.",
                          count_text(f.suspect_http_clients), f.http_clients_field, percent(f.suspect, f.live),
                          suspect_text(f));
     }},
    {"db_connections", "live",
     [](const VerdictFacts &f) { return is_suspect_of_many(f, f.suspect_db_connections) ? f.suspect : 0; },
     [](const VerdictFacts &f) {
       return fmt::format("{} connections to databases are open and held by {}: nobody disposed of them. {} of live "
                          "memory is held by {}.",
                          count_text(f.suspect_db_connections), f.db_connections_field, percent(f.suspect, f.live),
                          suspect_text(f));
     }},
    // Arrays that lie in a pool are free: who returned them, and who needed so many at once, is in no dump.
    {"pooled_arrays", "live",
     [](const VerdictFacts &f) { return is_much(f.pooled, f.live, 0.5, 16 * mib) ? f.pooled : 0; },
     [](const VerdictFacts &f) {
       return fmt::format("{} keeps {} {} ({}, {} of live memory) that nobody rents now.", f.pooled_by,
                          count_text(f.pooled_arrays), f.pooled_arrays == 1 ? "array" : "arrays", bytes_text(f.pooled),
                          percent(f.pooled, f.live));
     },
     "", "", true},
    // A cache that is bounded, or a table that was loaded once, looks the same in one dump.
    {"one_owner", "live",
     [](const VerdictFacts &f) { return is_suspect_of_many(f, f.suspect_elements) ? f.suspect : 0; },
     [](const VerdictFacts &f) { return may_grow_text(f, f.suspect, suspect_text(f)); }, "", "", true},
    {"few_owners", "live",
     [](const VerdictFacts &f) {
       return f.large_suspects >= 2 && f.large_suspects <= 5 && !is_suspect_much(f) && !is_mostly_copies(f) &&
                      is_much(f.large_suspects_bytes, f.live, 0.6, 32 * mib)
                  ? f.large_suspects_bytes
                  : 0;
     },
     [](const VerdictFacts &f) {
       return fmt::format(
           "{} of live memory is held by {} owners: {}. One dump does not show which of them grow: dnheap diff of two "
           "dumps does.",
           percent(f.large_suspects_bytes, f.live), count_text(f.large_suspects), f.large_suspects_text);
     },
     "", "", true},
    {"many_owners", "live",
     [](const VerdictFacts &f) {
       return std::max(f.largest, f.holder) * 5 < f.live && is_much(f.live, f.process, 0.5, 64 * mib) &&
                      !has_many_copies(f)
                  ? f.live
                  : 0;
     },
     [](const VerdictFacts &f) {
       return fmt::format(
           "{} of live objects fill {} of the process, and no single owner holds much of them: they are spread "
           "over many small owners.",
           bytes_text(f.live), percent(f.live, f.process));
     },
     "", "", true},
    // A holder that belongs to the runtime, and keeps the program's objects: the runtime's timers, what flows with
    // calls.
    {"one_holder", "live",
     [](const VerdictFacts &f) {
       return f.holder_elements >= least_elements && is_nearly_all(f) && !is_mostly_copies(f) ? f.holder : 0;
     },
     [](const VerdictFacts &f) { return may_grow_text(f, f.holder, f.holder_text); }, "", "", true},
    {"duplicate_data", "copies", [](const VerdictFacts &f) { return has_many_copies(f) ? f.copies : 0; },
     [](const VerdictFacts &f) {
       return fmt::format("Duplicate data: {} of live memory ({}) are copies of other objects: {}. Sharing equal "
                          "objects would save these bytes.{}",
                          percent(f.copies, f.live), bytes_text(f.copies), f.copies_text,
                          is_mostly_copies(f) && is_nearly_all(f) ? " They are held by " + f.holder_text + "." : "");
     },
     "waste", " --live"},
    {"dead_objects", "dead",
     [](const VerdictFacts &f) {
       return f.knows_all_roots && is_much(f.dead, f.live + f.dead, 0.5, 32 * mib) ? f.dead : 0;
     },
     [](const VerdictFacts &f) {
       return harmless_text(
           f, fmt::format("{}{} of the objects ({}) are dead and wait for a collection of their generation.",
                          is_little_alive(f) ? "Little is alive: " : "", percent(f.dead, f.live + f.dead),
                          bytes_text(f.dead)));
     },
     "stat", " --dead"},
    {"finalizers", "finalizers",
     [](const VerdictFacts &f) {
       // If many objects wait while one finalizer runs, more will come, however small they are.
       const bool is_stuck = !f.finalizer_place.empty() && f.finalizer_objects >= 1000;
       return is_much(f.finalizers, f.live, 0.3, is_stuck ? 0 : 16 * mib) ? f.finalizers : 0;
     },
     [](const VerdictFacts &f) {
       return fmt::format("{} objects wait for their finalizer and hold {}{}: the finalizer thread {}.",
                          count_text(f.finalizer_objects), bytes_text(f.finalizers),
                          f.finalizers_text.empty() ? "" : ", most of it " + f.finalizers_text,
                          f.finalizer_place.empty() ? "does not keep up, or is blocked" : f.finalizer_place);
     }},
    {"fragmentation", "holes", [](const VerdictFacts &f) { return is_fragmented(f) ? f.free_inside : 0; },
     [](const VerdictFacts &f) {
       std::string out = fmt::format("Fragmentation: {} of the heap's {} are holes between objects",
                                     bytes_text(f.free_inside), bytes_text(f.in_heap()));
       if (!f.beside_holes.empty())
         out += ": " + f.beside_holes;
       if (f.pinned > 1)
         out += fmt::format("; {} pinned objects cannot be moved", count_text(f.pinned));
       return out + (f.free_in_loh * 2 > f.free_inside ? in_large_object_heap : ".");
     },
     "frag"},
    {"gc_holds_empty_memory", "empty",
     [](const VerdictFacts &f) { return is_much(f.gc_empty, f.heap, 0.5, 64 * mib) ? f.gc_empty : 0; },
     [](const VerdictFacts &f) {
       return harmless_text(f, fmt::format("{} of the {} that the GC has committed are empty; it keeps them for later.",
                                           bytes_text(f.gc_empty), bytes_text(f.heap)));
     },
     "gc"},
    // The runtime keeps names, types and code of each assembly in memory from malloc, and in heaps of its own.
    {"made_assemblies", "native",
     [](const VerdictFacts &f) {
       const u64 kept = f.malloc_in_use + f.runtime;
       return f.made_assemblies >= many_assemblies && is_much(kept, f.process, 0.1, 16 * mib) && kept > f.heap ? kept
                                                                                                               : 0;
     },
     [](const VerdictFacts &f) {
       return fmt::format("Not the managed heap: {} assemblies lie in no file ({}), so they were made at run time or "
                          "loaded from bytes{}. The runtime keeps data about each of them: the runtime and native code "
                          "have {} from malloc, the runtime's own heaps take {}; the GC's heap takes {}.",
                          count_text(f.made_assemblies), f.made_assemblies_name,
                          f.made_assemblies_by.empty() ? "" : "; " + f.made_assemblies_by, bytes_text(f.malloc_in_use),
                          bytes_text(f.runtime), bytes_text(f.heap));
     },
     "info", " --table assemblies"},
    {"native", "native",
     [](const VerdictFacts &f) {
       return is_much(f.malloc_in_use, f.process, 0.4, 64 * mib) && f.malloc_in_use > f.heap ? f.malloc_in_use : 0;
     },
     native_text, "account", " --table native"},
    // A small program that uses native libraries looks the same, but the heap is not what fills it.
    {"mostly_native", "native",
     [](const VerdictFacts &f) {
       return is_much(f.malloc_in_use, f.asked_for(), 0.5, 24 * mib) && f.malloc_in_use > f.heap ? f.malloc_in_use : 0;
     },
     native_text, "account", " --table native", true},
    {"other_allocator", "native",
     [](const VerdictFacts &f) {
       const bool is_most = is_much(f.perhaps_theirs, f.process, 0.4, 64 * mib) && f.perhaps_theirs > f.heap;
       return is_most && !f.other_allocators.empty() ? f.perhaps_theirs : 0;
     },
     [](const VerdictFacts &f) {
       return fmt::format("Probably not the managed heap: {}, {} of the process, may be what native code has from {}, "
                          "whose blocks are not read; the GC's heap takes {}.",
                          bytes_text(f.perhaps_theirs), percent(f.perhaps_theirs, f.process), f.other_allocators,
                          bytes_text(f.heap));
     }},
    {"malloc_keeps_freed_memory", "freed",
     [](const VerdictFacts &f) {
       return is_much(f.malloc_free, f.process, 0.4, 64 * mib) && f.malloc_free > f.malloc_in_use ? f.malloc_free : 0;
     },
     [](const VerdictFacts &f) {
       return harmless_text(f, fmt::format("Malloc keeps {} that native code has freed.", bytes_text(f.malloc_free)));
     },
     "account", " --table native"},
    {"threads", "stacks",
     [](const VerdictFacts &f) { return f.threads >= 500 && is_much(f.stacks, f.process, 0.3, 0) ? f.stacks : 0; },
     [](const VerdictFacts &f) {
       return fmt::format("Too many threads: the stacks of {} threads take {} of address space, {} of the process{}.",
                          count_text(f.threads), bytes_text(f.stacks), percent(f.stacks, f.process),
                          f.threads_place.empty() ? "" : "; " + f.threads_place);
     }},
    // Deep recursion, or much on the stacks. It may be as it should be.
    {"deep_stacks", "stacks",
     [](const VerdictFacts &f) { return is_much(f.stacks_in_use, f.process, 0.25, 64 * mib) ? f.stacks_in_use : 0; },
     [](const VerdictFacts &f) {
       return fmt::format("Not the managed heap: what {} threads have on their stacks takes {}, {} of the process ({} "
                          "for each thread){}.",
                          count_text(f.threads), bytes_text(f.stacks_in_use), percent(f.stacks_in_use, f.process),
                          bytes_text(f.stacks_in_use / std::max<u64>(f.threads, 1)),
                          f.threads_place.empty() ? "" : "; " + f.threads_place);
     },
     "threads", "", true},
};

struct HangRule {
  const char *name, *verb;
  bool (*applies)(const HangFacts &);
  Sureness (*sureness)(const HangFacts &);
  std::string (*text)(const HangFacts &);
  // Chooses another verb, or gives it options; null: the verb is the same for all.
  void (*choose)(const HangFacts &, HangVerdict &) = nullptr;
};

Sureness certain(const HangFacts &) { return Sureness::certain; }

// "12 threads wait", "1 call waits"
std::string waiters(u64 count, const char *what) {
  return fmt::format("{} {}{}", count_text(count), what, count == 1 ? " waits" : "s wait");
}

constexpr HangRule hang_rules[] = {
    {"deadlock", "locks", [](const HangFacts &f) { return f.deadlocks > 0; },
     [](const HangFacts &f) { return f.deadlock_sureness; },
     [](const HangFacts &f) {
       constexpr const char *words[] = {"Deadlock", "Probably a deadlock", "Perhaps a deadlock"};
       std::string out = fmt::format("{}: {}", words[static_cast<u8>(f.deadlock_sureness)], f.deadlock_text);
       out += f.deadlocks > 1 ? fmt::format("; {} circles in all.", count_text(f.deadlocks)) : ".";
       return out + (f.deadlock_places.empty() ? "" : " " + f.deadlock_places + ".");
     }},
    {"orphaned_lock", "locks", [](const HangFacts &f) { return f.orphaned_waiters > 0; }, certain,
     [](const HangFacts &f) {
       return fmt::format("{} for {}: nobody lets it go.", waiters(f.orphaned_waiters, "thread"), f.orphaned_text);
     }},
    // Threads behind a deadlock wait, too, but are not the reason.
    {"lost_signal", "locks",
     [](const HangFacts &f) { return f.lost_waiters > 0 && !(f.deadlocks && f.has_lost_followers); },
     [](const HangFacts &) { return Sureness::probable; }, lost_text},
    {"exit_blocked", "threads", [](const HangFacts &f) { return !f.exit_begun.empty(); },
     [](const HangFacts &f) { return f.exit_sureness; },
     [](const HangFacts &f) {
       return fmt::format("The process is ending ({}), but waits for {}: the thread that runs it {}{}. {}",
                          f.exit_begun, f.is_exit_handler ? "a handler of AppDomain.ProcessExit" : "a finalizer",
                          f.exit_place, f.exit_lock_holder.empty() ? "" : "; " + f.exit_lock_holder + " has that lock",
                          f.exit_sureness == Sureness::possible ? "That is a hang only if this never ends."
                                                                : "The process stays until it goes on.");
     }},
    // Only one finalizer runs at a time, so all others wait for what it waits for.
    {"finalizer_blocked", "stack",
     [](const HangFacts &f) {
       return f.is_finalizer_waiting && f.finalizer_objects >= least_elements && f.exit_begun.empty();
     },
     [](const HangFacts &f) { return f.finalizer_lock_holder.empty() ? Sureness::probable : Sureness::certain; },
     [](const HangFacts &f) {
       return fmt::format(
           "{} objects wait for their finalizers, and the thread that runs these {}{}. No finalizer runs "
           "until it goes on.",
           count_text(f.finalizer_objects), f.finalizer_text,
           f.finalizer_lock_holder.empty() ? "" : "; " + f.finalizer_lock_holder + " has that lock");
     },
     [](const HangFacts &f, HangVerdict &to) {
       if (!f.finalizer_lock_holder.empty())
         to.verb = "locks";
       else if (f.finalizer_os_id)
         to.options = fmt::format(" {}", *f.finalizer_os_id);
     }},
    {"semaphore_taken", "locks", [](const HangFacts &f) { return f.crowd > 0; },
     [](const HangFacts &f) {
       return f.crowd_holder.empty() && !f.is_perhaps_signal ? Sureness::probable : Sureness::possible;
     },
     [](const HangFacts &f) {
       std::string out = fmt::format("{} {} wait{} for a {}, of which none is free", count_text(f.crowd),
                                     !f.are_threads ? "calls"
                                     : !f.are_calls ? "threads"
                                                    : "threads and calls",
                                     f.crowd_place.empty() ? "" : " in " + f.crowd_place, f.crowd_text);
       if (f.crowds > 1)
         out += fmt::format(", and others for {} more", count_text(f.crowds - 1));
       if (f.crowd_holder.empty())
         return out + ". Its holder is unknown: perhaps " +
                (f.is_perhaps_signal
                     ? "it was not released, or it is a signal that nobody has given."
                     : "a call that took it left without Release, as with an exception: release it in a "
                       "finally.");
       return out + fmt::format(". {} probably has it. That is a hang only if this never ends.", f.crowd_holder);
     }},
    // Threads behind a deadlock wait, too, but are not the reason.
    {"lock_contended", "locks", [](const HangFacts &f) { return f.contenders >= least_contenders && !f.deadlocks; },
     [](const HangFacts &f) { return f.is_holder_waiting ? Sureness::probable : Sureness::possible; }, contended_text},
    {"lock_chain", "locks",
     [](const HangFacts &f) {
       return f.chain_threads > 0 && !f.deadlocks && !f.lost_waiters && f.contenders < least_contenders;
     },
     [](const HangFacts &) { return Sureness::possible; }, chain_text},
    {"console_blocked", "threads", [](const HangFacts &f) { return f.console_waiters > 0; },
     [](const HangFacts &) { return Sureness::probable; }, console_text},
    {"pool_starved", "threads", [](const HangFacts &f) { return f.pool.is_starved(); },
     [](const HangFacts &f) { return f.pool.blocked ? Sureness::probable : Sureness::possible; }, pool_text},
};

} // namespace

std::vector<HangVerdict> judge_hangs(const HangFacts &facts) {
  std::vector<HangVerdict> out;
  for (const HangRule &rule : hang_rules)
    if (rule.applies(facts)) {
      out.push_back({rule.name, rule.sureness(facts), rule.text(facts), rule.verb});
      if (rule.choose)
        rule.choose(facts, out.back());
    }
  return out;
}

namespace {

// Returns " If the program hangs, …", where nothing is known of what it does.
std::string verbs_for_hangs(const VerdictFacts &f) {
  return f.has_threads && f.activity.empty() ? " If the program hangs, the verbs threads, locks and async show why."
                                             : "";
}

std::string garbage_text(const VerdictFacts &f) {
  return fmt::format("{} {}, {} committed by the GC.", bytes_text(f.dead),
                     f.knows_all_roots ? "garbage" : "without a known holder", bytes_text(f.heap));
}

std::string figures_of_heap(const VerdictFacts &f) {
  return fmt::format("{} live, {}{}{}", bytes_text(f.live), garbage_text(f),
                     is_nearly_all(f)
                         ? fmt::format(" {} of live memory is held by {}.", percent(f.holder, f.live), f.holder_text)
                         : "",
                     verbs_for_hangs(f));
}

// Where one owner holds nearly all, or most is waste, no words may clear the memory.
std::string nothing_text(const VerdictFacts &f) {
  const std::string activity = f.activity.empty() ? "" : " " + f.activity;
  if (is_mostly_waste(f))
    return fmt::format("{}{} {}", much_waste_text(f), activity, figures_of_heap(f));
  if (is_nearly_all(f))
    return fmt::format("Nothing shows that this is too much: {} live, {} held by {}; one dump cannot show growth.{} "
                       "{}{}",
                       bytes_text(f.live), percent(f.holder, f.live), f.holder_text, activity, garbage_text(f),
                       verbs_for_hangs(f));
  // Whoever looks at a small heap asks what the program does.
  return activity.empty() ? "No memory problem found: " + figures_of_heap(f)
                          : fmt::format("{} {}{}", f.activity, no_memory_problem, figures_of_heap(f));
}

} // namespace

std::vector<MemoryVerdict> judge(const VerdictFacts &facts, bool is_incomplete) {
  struct Found {
    const Rule *rule;
    u64 bytes;
  };
  std::vector<Found> found;
  for (const Rule &rule : rules)
    if (const u64 bytes = rule.explains(facts)) {
      const bool is_of_last = !found.empty() && std::string_view(found.back().rule->group) == rule.group;
      if (!is_of_last)
        found.push_back({&rule, bytes});
      else if (bytes > found.back().bytes)
        found.back() = {&rule, bytes};
    }
  std::stable_sort(found.begin(), found.end(), [](const Found &a, const Found &b) { return a.bytes > b.bytes; });
  auto is_harmless = [](const Found &one) { return is_in_harmless_group(*one.rule); };
  if (!found.empty() && is_harmless(found.front()))
    found.resize(1);
  std::erase_if(found, [&](const Found &one) { return &one != &found.front() && is_harmless(one); });
  std::vector<MemoryVerdict> out;
  for (const auto &[rule, bytes] : found)
    out.push_back({rule->name, rule->text(facts), bytes, rule->verb, rule->options, rule->is_size_alone});
  constexpr const char *incomplete = "The dump is incomplete";
  if (out.empty()) {
    out.push_back({"nothing",
                   is_incomplete // no all-clear
                       ? fmt::format("{} (see the notes); in the readable part nothing stands out: {}", incomplete,
                                     figures_of_heap(facts))
                       : nothing_text(facts),
                   0});
  } else if (is_incomplete) {
    out.front().text += fmt::format(" {}, so this may be wrong: see the notes.", incomplete);
  }
  return out;
}

bool is_harmless_rule(std::string_view name) {
  return std::any_of(std::begin(rules), std::end(rules),
                     [&](const Rule &rule) { return rule.name == name && is_in_harmless_group(rule); });
}

std::vector<std::string_view> fault_rules() {
  std::vector<std::string_view> out;
  for (const Rule &rule : rules)
    if (!rule.is_size_alone)
      out.emplace_back(rule.name);
  for (const HangRule &rule : hang_rules)
    out.emplace_back(rule.name);
  return out;
}

} // namespace dnheap
