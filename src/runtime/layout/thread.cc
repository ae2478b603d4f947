#include "runtime/layout/thread.h"

#include "runtime/gc_1.h"
#include "runtime/layout/dac_table.h"

#include <algorithm>
#include <set>

namespace dnheap {

namespace {

// Steps along lists of threads, in all: any number of candidates may each lead through a list of any length.
constexpr u64 max_steps = 1 << 24;

class ThreadDerivation {
public:
  ThreadDerivation(Derivation &derivation, Address gc_variable)
      : d_(derivation), p_(static_cast<i64>(derivation.pointer_size)), table_(derivation, gc_variable) {
    for (const Thread &thread : d_.target.threads)
      os_ids_.insert(thread.id);
  }

  void run() {
    if (!find_thread_store())
      return;
    find_threads();
    find_gen0();
    find_contexts();
    find_global_context();
  }

private:
  // A thread is linked into the list by a word inside it: `nodes` are the addresses of those words.
  // Nodes beyond twice the target's threads fail every test that follows.
  std::vector<Address> chain(Address store, i64 first) {
    const u64 limit = 2 * os_ids_.size();
    std::vector<Address> nodes;
    if (++steps_ > max_steps)
      return nodes;
    std::set<Address> seen;
    for (std::optional<u64> at = d_.word(store + static_cast<u64>(first)); at && *at; at = d_.word(*at)) {
      if (++steps_ > max_steps || *at % d_.pointer_size || nodes.size() >= limit || !seen.insert(*at).second ||
          !d_.word(*at))
        return {};
      nodes.push_back(*at);
    }
    return nodes;
  }

  // g_dacTable holds the address of g_gcDacGlobals; it is found by that. Around it: ThreadStore::s_pThreadStore,
  // g_pFinalizerThread, g_pSuspensionThread, g_heap_type, g_gcDacGlobals, AppDomain::m_pTheAppDomain.
  // All variables that the table names, those shortly before g_gcDacGlobals first, since ThreadStore is one of them.
  std::vector<Address> variables() const {
    std::vector<Address> out;
    auto add = [&](i64 from, i64 to) {
      for (i64 i = from; i < to; ++i)
        if (std::optional<Address> variable = table_.variable(i))
          out.push_back(*variable);
    };
    add(-4, 8);
    add(-64, -4);
    add(8, 192);
    // Without the table (heap dumps of Windows leave constants out) any variable may be meant.
    if (out.empty())
      d_.scan_data([&](Address variable, u64 word) {
        if (word % d_.pointer_size == 0 && d_.memory.find(word))
          out.push_back(variable);
      });
    return out;
  }

  // The list's head is followed by its tail and a word; then comes its length. Its threads carry ids of the target's.
  bool is_thread_store(Address store, i64 first) {
    std::vector<Address> nodes = chain(store, first);
    i64 count = first + 3 * p_;
    if (nodes.empty() || d_.memory.try_load<u32>(store + static_cast<u64>(count)) != nodes.size() ||
        !id_distance(nodes))
      return false;
    // The tail, too, begins a list (of one): the head, if it is one, lies in the word before.
    std::vector<Address> before = chain(store, first - p_);
    if (before.size() > nodes.size() && before.back() == nodes.back())
      return false;
    nodes_ = nodes;
    count_ = count;
    return true;
  }
  // Distance from the link to the operating system's id, the same for all threads that have started.
  std::optional<i64> id_distance(const std::vector<Address> &nodes) const {
    std::optional<i64> best;
    u64 most = 0;
    for (i64 distance = -64 * p_; distance < 96 * p_; distance += p_) {
      std::set<u64> ids;
      u64 none = 0, wrong = 0;
      for (Address node : nodes) {
        u64 id = d_.word(node + static_cast<u64>(distance)).value_or(0);
        if (os_ids_.contains(id))
          ids.insert(id);
        else
          ++(id ? wrong : none);
      }
      // Threads that ended but are still listed, or have not started, have no id of a living thread: mostly 0, and
      // there may be many of those.
      bool enough = ids.size() >= wrong + none || (wrong == 0 && ids.size() > 1);
      if (ids.size() > most && ids.size() + wrong + none == nodes.size() && enough) {
        best = distance;
        most = ids.size();
      }
    }
    return best;
  }

  bool find_thread_store() {
    auto first_of = [&](Address store) {
      return Derivation::search(0, 64 * p_, p_, [&](i64 first) { return is_thread_store(store, first); });
    };
    std::vector<Address> candidates;
    if (std::optional<u64> published = d_.descriptor.try_number("ThreadStore"))
      candidates = {*published};
    else
      candidates = variables();
    for (Address variable : candidates) {
      Address store = d_.word(variable).value_or(0);
      if (store < 0x10000)
        continue;
      std::optional<i64> published = d_.descriptor.try_offset("ThreadStore", "FirstThreadLink");
      std::vector<i64> first =
          published && is_thread_store(store, *published) ? std::vector{*published} : first_of(store);
      if (first.empty())
        continue;
      if (!published && first.size() == 1)
        take_nearest(candidates, variable, store, first[0]);
      if (!d_.descriptor.try_number("ThreadStore"))
        d_.descriptor.set_number("ThreadStore", variable, true, Origin::discovered);
      bool chosen = d_.choose(
          "ThreadStore", "FirstThreadLink", [&] { return first; }, [&](i64 x) { return is_thread_store(store, x); },
          "a list of as many threads as a word behind it counts, with ids of the target's threads");
      return chosen && is_thread_store(store, d_.descriptor.offset("ThreadStore", "FirstThreadLink")) &&
             d_.choose(
                 "ThreadStore", "ThreadCount", [&] { return std::vector{count_}; },
                 [&](i64 x) { return d_.memory.try_load<u32>(store + static_cast<u64>(x)) == nodes_.size(); },
                 "the length of the thread list");
    }
    d_.descriptor.missing["ThreadStore"] =
        std::to_string(candidates.size()) +
        " candidates; each must pass: a list of threads with ids of the target's threads";
    return false;
  }

  // Other variables may point shortly before the store that the list's head is in: nothing is nearer than the store.
  void take_nearest(const std::vector<Address> &candidates, Address &variable, Address &store, i64 &first) const {
    const Address head = store + static_cast<u64>(first);
    for (Address candidate : candidates)
      if (Address at = d_.word(candidate).value_or(0); at > store && at < head && at % d_.pointer_size == 0) {
        variable = candidate;
        store = at;
        first = static_cast<i64>(head - at);
      }
  }

  // Where in a Thread the link lies: some variables of the table (the finalizer thread) point at a Thread itself.
  // Others happen to point shortly before one: then it must begin like one.
  void find_threads() {
    std::vector<Address> sorted = nodes_;
    std::sort(sorted.begin(), sorted.end());
    std::set<i64> votes;
    for (Address variable : variables()) {
      Address thread = d_.word(variable).value_or(0);
      if (thread < 0x10000 || thread % d_.pointer_size)
        continue;
      auto node = std::upper_bound(sorted.begin(), sorted.end(), thread);
      for (; node != sorted.end() && *node - thread < 128 * d_.pointer_size; ++node)
        votes.insert(static_cast<i64>(*node - thread));
    }
    auto voted = [&](i64 x) { return votes.contains(x); };
    std::vector<i64> found(votes.begin(), votes.end());
    std::optional<i64> id_at = id_distance(nodes_);
    if (id_at)
      find_stacks(*id_at);
    if (found.size() > 1 && std::any_of(found.begin(), found.end(), [&](i64 x) { return begins_with_frame(x); }))
      std::erase_if(found, [&](i64 x) { return !begins_with_frame(x); });
    if (!d_.choose(
            "Thread", "LinkNext", [&] { return found; },
            [&](i64 x) { return votes.empty() ? x > 0 && x % p_ == 0 : voted(x); },
            "the distance from a Thread that the runtime names to its link in the thread list"))
      return;
    link_ = d_.descriptor.offset("Thread", "LinkNext");
    if (id_at)
      d_.choose(
          "Thread", "OSId", [&] { return std::vector{link_ + *id_at}; },
          [&](i64 x) {
            return std::any_of(nodes_.begin(), nodes_.end(), [&](Address node) {
              return os_ids_.contains(d_.word(node + static_cast<u64>(x - link_)).value_or(0));
            });
          },
          "ids of the target's threads");
    for (Address node : nodes_)
      threads_.push_back(node - static_cast<u64>(link_));
  }

  // A Thread begins with its state and, one or two words on, the address of its topmost Frame (vm/threads.h, m_pFrame):
  // on the thread's own stack, or all ones when it has none. Of the distances those that fit every thread.
  bool begins_with_frame(i64 distance) const {
    const u64 none = d_.pointer_size == 4 ? ~u32{0} : ~u64{0};
    for (i64 place : {p_, 2 * p_}) {
      u64 on_stack = 0, elsewhere = 0;
      for (auto [node, stack] : stacks_) {
        std::optional<u64> frame = d_.word(node + static_cast<u64>(place - distance));
        if (frame && *frame - stack.first < stack.second)
          ++on_stack;
        else if (frame != none)
          ++elsewhere;
      }
      if (on_stack && !elsewhere)
        return true;
    }
    return false;
  }
  // Of each node whose thread lives: where its stack begins, and how much of it is known.
  void find_stacks(i64 id_at) {
    constexpr u64 largest_stack = 64 << 20;
    std::map<u64, Address> node_of;
    for (Address node : nodes_)
      node_of[d_.word(node + static_cast<u64>(id_at)).value_or(0)] = node;
    for (const Thread &thread : d_.target.threads)
      if (auto node = node_of.find(thread.id); node != node_of.end())
        if (u64 known = d_.memory.peek_up_to(thread.stack_pointer, largest_stack).size())
          stacks_.emplace_back(node->second, std::pair{thread.stack_pointer, known});
  }

  // What gen0 occupies: allocation contexts lie inside.
  void find_gen0() {
    Gc1 gc(d_.memory, d_.descriptor);
    std::vector<std::string> ignored; // the heap reports the same again
    for (Address heap : gc.get_gc_heaps())
      for (const GCHeapSegmentInfo &s : gc.enumerate_heap_segments(gc.get_heap_data(heap), ignored))
        if (s.generation == GCSegmentGeneration::gen0)
          gen0_.emplace_back(s.start, s.end);
    std::sort(gen0_.begin(), gen0_.end());
  }

  enum class Context : u8 { none, empty, set };
  // A context is empty (both null), or a stretch of one gen0 segment. Memory not yet handed out is nearly always zero
  // (the GC may skip clearing for arrays that ask for it): `strict_` demands that.
  Context context_at(Address at) const {
    auto pointer = d_.word(at), limit = d_.word(at + d_.pointer_size);
    if (!pointer || !limit)
      return Context::none;
    if (*pointer == 0 && *limit == 0)
      return Context::empty;
    auto segment = std::upper_bound(gen0_.begin(), gen0_.end(), std::pair{*pointer, ~u64{0}});
    if (segment == gen0_.begin() || *pointer > *limit || *limit > std::prev(segment)->second || *pointer % 4)
      return Context::none;
    if (strict_ && *pointer < *limit && d_.word(*pointer).value_or(0) != 0)
      return Context::none;
    return Context::set;
  }
  // Nothing was put yet into what the context at that place may hand out: other pairs of variables lie in gen0 too.
  bool is_clear(Address at) const {
    constexpr u64 largest_quantum = 256 << 10;
    Address pointer = d_.word(at).value_or(0), limit = d_.word(at + d_.pointer_size).value_or(0);
    Bytes free = limit - pointer <= largest_quantum ? d_.memory.view(pointer, limit - pointer) : Bytes();
    return !free.empty() && std::all_of(free.begin(), free.end(), [](std::byte b) { return b == std::byte{}; });
  }
  // Each thread has a context at that place, and at least one a filled one.
  bool all_contexts(const std::function<std::optional<Address>(Address thread)> &place, bool &any) const {
    any = false;
    for (Address thread : threads_) {
      std::optional<Address> at = place(thread);
      if (!at)
        continue; // a thread without runtime locals has no context
      Context context = context_at(*at);
      if (context == Context::none)
        return false;
      any |= context == Context::set;
    }
    return true;
  }

  void find_contexts() {
    if (threads_.empty())
      return;
    for (bool strict : {true, false}) {
      strict_ = strict;
      if (d_.descriptor.find_field("Thread", "RuntimeThreadLocals") ? check_published_contexts() : search_contexts())
        return;
    }
    strict_ = true;
    // After a collection no thread has a context, and then there is nothing to find or to skip.
    d_.descriptor.missing["Thread.AllocContext"] =
        "no candidate; each must pass: null, or inside gen0, for every thread";
  }

  bool search_contexts() {
    const char *predicate = "null, or inside gen0 and not yet handed out, for every thread";
    // .NET 9 on: it lies in a structure in thread-local storage that the Thread points at; behind one word (the
    // combined limit) from .NET 10 on. 8.0: in the Thread itself.
    // Where a part of the way is published, the search goes on from there.
    const i64 outer = d_.descriptor.try_offset("RuntimeThreadLocals", "AllocContext").value_or(0);
    const std::optional<i64> told = d_.descriptor.try_offset("EEAllocContext", "GCAllocationContext");
    i64 inner = 0;
    auto indirect = [&](i64 x, i64 y) {
      bool any;
      return all_contexts(
                 [&](Address thread) -> std::optional<Address> {
                   std::optional<u64> locals = d_.follow(thread, {x});
                   return locals ? std::optional(*locals + static_cast<u64>(y)) : std::nullopt;
                 },
                 any) &&
             any;
    };
    auto inline_at = [&](i64 x) {
      bool any;
      return all_contexts([&](Address thread) { return std::optional(thread + static_cast<u64>(x)); }, any) && any;
    };
    std::vector<i64> in_thread = Derivation::search(0, 200 * p_, p_, inline_at);
    if (!in_thread.empty()) {
      return d_.choose(
          "Thread", "AllocContext", [&] { return in_thread; }, inline_at, predicate);
    }
    for (i64 y : told ? std::vector{*told} : std::vector{i64{0}, p_}) {
      std::vector<i64> found = Derivation::search(0, 100 * p_, p_, [&](i64 x) { return indirect(x, outer + y); });
      if (found.empty())
        continue;
      inner = y;
      if (!d_.choose(
              "Thread", "RuntimeThreadLocals", [&] { return found; }, [&](i64 x) { return indirect(x, outer + inner); },
              predicate))
        return false;
      d_.choose(
          "RuntimeThreadLocals", "AllocContext", [&] { return std::vector{outer}; },
          [&](i64 x) { return indirect(d_.descriptor.offset("Thread", "RuntimeThreadLocals"), x + inner); }, predicate);
      return d_.choose(
          "EEAllocContext", "GCAllocationContext", [&] { return std::vector{inner}; },
          [&](i64 x) { return indirect(d_.descriptor.offset("Thread", "RuntimeThreadLocals"), outer + x); }, predicate);
    }
    return false;
  }

  bool check_published_contexts() const {
    i64 x = d_.descriptor.offset("Thread", "RuntimeThreadLocals");
    i64 y = d_.descriptor.try_offset("RuntimeThreadLocals", "AllocContext").value_or(0) +
            d_.descriptor.try_offset("EEAllocContext", "GCAllocationContext").value_or(0);
    bool any;
    return all_contexts(
        [&](Address thread) -> std::optional<Address> {
          std::optional<u64> locals = d_.follow(thread, {x});
          return locals ? std::optional(*locals + static_cast<u64>(y)) : std::nullopt;
        },
        any);
  }

  // The context of threads that have none of their own. Mostly empty, and an empty one cannot, and need not, be found.
  void find_global_context() {
    if (d_.descriptor.find_global("GlobalAllocContext"))
      return;
    i64 inner = d_.descriptor.try_offset("EEAllocContext", "GCAllocationContext").value_or(0);
    std::set<Address> found;
    for (Address variable : variables())
      if (context_at(variable + static_cast<u64>(inner)) == Context::set &&
          is_clear(variable + static_cast<u64>(inner)))
        found.insert(variable);
    if (found.size() == 1)
      d_.descriptor.set_number("GlobalAllocContext", *found.begin(), true, Origin::discovered);
  }

  Derivation &d_;
  const i64 p_;
  const DacTable table_;
  i64 count_ = 0, link_ = 0;
  bool strict_ = true;
  std::set<u64> os_ids_;
  u64 steps_ = 0;
  std::vector<Address> nodes_, threads_;
  std::vector<std::pair<Address, std::pair<Address, u64>>> stacks_; // node → from the stack pointer on, known bytes
  std::vector<std::pair<Address, Address>> gen0_;
};

} // namespace

void derive_thread(Derivation &derivation, Address gc_variable) { ThreadDerivation(derivation, gc_variable).run(); }

} // namespace dnheap
