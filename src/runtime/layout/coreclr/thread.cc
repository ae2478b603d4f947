#include "runtime/layout/coreclr/thread.h"

#include "runtime/layout/coreclr/dac_table.h"
#include "runtime/layout/coreclr/thread_contexts.h"
#include "runtime/layout/coreclr/thread_size.h"
#include "runtime/vm/thread_list.h"

#include <algorithm>
#include <set>
#include <unordered_set>

namespace dnheap {

namespace {

// Total steps along lists of threads: any number of candidates may each lead through a list of any length.
constexpr u64 max_steps = 1 << 24;
// In one list. Threads that have ended stay in it until their objects are collected, so there may be far more of them
// than the target has threads.
constexpr u64 max_threads = 1 << 20;
// Range of the OS id in a Thread, in words from its link.
constexpr i64 first_id_word = -64, end_id_word = 96;

class ThreadDerivation {
public:
  ThreadDerivation(Derivation &derivation, const Gc &gc, Address gc_variable)
      : d_(derivation), gc_(gc), p_(static_cast<i64>(derivation.pointer_size)), table_(derivation, gc_variable) {
    for (const Thread &thread : d_.target.threads)
      os_ids_.insert(thread.id);
  }

  void run() {
    if (!take_published()) {
      if (!find_thread_store())
        return;
      find_threads();
    }
    find_finalizer_thread();
    derive_thread_contexts(d_, gc_, threads_, variables());
  }

private:
  // A target that publishes its list need not prove it: the reader reports a damaged list.
  bool take_published() {
    const ContractDescriptor &d = d_.descriptor;
    const std::optional<u64> variable = d.try_number("ThreadStore");
    const std::optional<i64> first = d.try_offset("ThreadStore", "FirstThreadLink"),
                             link = d.try_offset("Thread", "LinkNext"),
                             count = d.try_offset("ThreadStore", "ThreadCount");
    const Address store = variable ? d_.word(*variable).value_or(0) : 0;
    if (!store || !first || !link || !count)
      return false;
    const ThreadList list = read_thread_list(d_.memory, store + static_cast<u64>(*first), static_cast<u64>(*link),
                                             d_.memory.try_load<u32>(store + static_cast<u64>(*count)));
    link_ = *link;
    for (Address thread : list.threads)
      nodes_.push_back(thread + static_cast<u64>(link_));
    derive_id(id_distances(nodes_));
    add_threads();
    return true;
  }

  // Range of the searched variables in the table, counted from g_gcDacGlobals.
  static constexpr i64 first_variable = -64, end_variable = 192;

  // A thread is linked into the list by a word inside it. Returns the addresses of those words; empty if there are more
  // than `most`, as in a list with a cycle.
  std::vector<Address> chain(Address head, u64 most) {
    std::vector<Address> nodes;
    if (++steps_ > max_steps)
      return nodes;
    for (std::optional<u64> at = d_.word(head); at && *at; at = d_.word(*at)) {
      if (++steps_ > max_steps || *at % d_.pointer_size || nodes.size() >= most || !d_.word(*at))
        return {};
      nodes.push_back(*at);
    }
    return nodes;
  }

  // Around the entry of g_gcDacGlobals, g_dacTable has: ThreadStore::s_pThreadStore, g_pFinalizerThread,
  // g_pSuspensionThread, g_heap_type, g_gcDacGlobals, AppDomain::m_pTheAppDomain. Returns all variables in range,
  // beginning with those shortly before g_gcDacGlobals, since ThreadStore is one of them.
  std::vector<Address> variables() const {
    std::vector<Address> out;
    auto add = [&](i64 from, i64 to) {
      for (i64 i = from; i < to; ++i)
        if (std::optional<Address> variable = table_.variable(i))
          out.push_back(*variable);
    };
    add(-4, 8);
    add(first_variable, -4);
    add(8, end_variable);
    // Without the table (heap dumps of Windows leave constants out), every variable is a candidate.
    if (out.empty())
      d_.scan_data([&](Address variable, u64 word) {
        if (word % d_.pointer_size == 0 && d_.memory.find(word))
          out.push_back(variable);
      });
    return out;
  }

  // The list's head is followed by its tail and a word; then comes its length. The list's threads have ids of the
  // target's threads, except in a process in a container of its own, which numbers threads in another way; so a target
  // that publishes its layout need not prove this.
  bool is_thread_store(Address store, i64 first, bool published = false) {
    const Address head = store + static_cast<u64>(first);
    const i64 count = first + 3 * p_;
    const u64 length = d_.memory.try_load<u32>(store + static_cast<u64>(count)).value_or(0);
    if (length == 0 || length > max_threads)
      return false;
    std::vector<Address> nodes = chain(head, length);
    if (nodes.size() != length || (!published && id_distances(nodes).empty()))
      return false;
    // The tail, too, begins a list (of one thread): if `head` is in fact the tail, the head lies in the word before it.
    if (length == 1)
      if (std::vector<Address> before = chain(head - d_.pointer_size, max_threads);
          before.size() > 1 && before.back() == nodes.back())
        return false;
    nodes_ = std::move(nodes);
    count_ = count;
    return true;
  }

  // The values at one offset in all threads of a list. The offset may be that of the OS ids if fit() is true.
  struct Ids {
    std::vector<u64> living; // ids of the target's threads
    u64 none = 0, others = 0;
    bool known = true;

    // Threads that have ended but are still listed, or have not started, have the id 0, and there may be many of them.
    // An id that the target does not list belongs to a thread that is ending.
    bool fit() const {
      return known && !living.empty() && living.size() >= others && (living.size() > 1 || none + others <= 1);
    }
  };
  // Returns the possible distances from the link to the OS id: those at which the most threads have an id of a living
  // thread.
  std::vector<i64> id_distances(const std::vector<Address> &nodes) const {
    std::vector<Ids> places(static_cast<u64>(end_id_word - first_id_word));
    d_.memory.as_searched([&] { // a Thread's end is unknown
      for (Address node : nodes)
        read_ids(node, places);
    });
    std::vector<i64> best;
    u64 most = 0;
    for (u64 i = 0; i < places.size(); ++i) {
      std::vector<u64> &living = places[i].living;
      std::sort(living.begin(), living.end());
      if (living.size() < most || !places[i].fit() || std::adjacent_find(living.begin(), living.end()) != living.end())
        continue;
      if (living.size() > most)
        best.clear();
      most = living.size();
      best.push_back((first_id_word + static_cast<i64>(i)) * p_);
    }
    return best;
  }
  void read_ids(Address node, std::vector<Ids> &places) const {
    const Address first = node + static_cast<u64>(first_id_word * p_);
    const Bytes all = d_.memory.view(first, places.size() * d_.pointer_size);
    for (u64 i = 0; i < places.size(); ++i) {
      if (!places[i].known || places[i].living.size() > os_ids_.size())
        continue;
      std::optional<u64> id = all.empty() ? d_.word(first + i * d_.pointer_size)
                                          : load_pointer(all.data() + i * d_.pointer_size, d_.memory.format());
      if (!id)
        places[i].known = false;
      else if (*id && os_ids_.contains(*id))
        places[i].living.push_back(*id);
      else
        ++(*id ? places[i].others : places[i].none);
    }
  }

  bool find_thread_store() {
    auto first_of = [&](Address store) {
      return d_.search(0, 64 * p_, p_, [&](i64 first) { return is_thread_store(store, first); });
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
          published && is_thread_store(store, *published, true) ? std::vector{*published} : first_of(store);
      if (first.empty())
        continue;
      if (!published && first.size() == 1)
        take_nearest(candidates, variable, store, first[0]);
      if (!d_.descriptor.try_number("ThreadStore"))
        d_.descriptor.set_number("ThreadStore", variable, true, Origin::discovered);
      bool chosen = d_.choose(
          "ThreadStore", "FirstThreadLink", [&] { return first; },
          [&](i64 x) { return is_thread_store(store, x, x == published); },
          "it begins a list of threads with ids of the target's threads, and a word behind it counts them");
      return chosen &&
             is_thread_store(store, d_.descriptor.offset("ThreadStore", "FirstThreadLink"), published.has_value()) &&
             d_.choose(
                 "ThreadStore", "ThreadCount", [&] { return std::vector{count_}; },
                 [&](i64 x) { return d_.memory.try_load<u32>(store + static_cast<u64>(x)) == nodes_.size(); },
                 "it is the length of the thread list");
    }
    d_.descriptor.missing["ThreadStore"] = "none of " + std::to_string(candidates.size()) +
                                           " candidates leads to a list of threads with ids of the target's threads";
    return false;
  }

  // Other variables may point shortly before the store that contains the list's head: the nearest one points at the
  // store.
  void take_nearest(const std::vector<Address> &candidates, Address &variable, Address &store, i64 &first) const {
    const Address head = store + static_cast<u64>(first);
    for (Address candidate : candidates)
      if (Address at = d_.word(candidate).value_or(0); at > store && at < head && at % d_.pointer_size == 0) {
        variable = candidate;
        store = at;
        first = static_cast<i64>(head - at);
      }
  }

  // The variable after the thread store's in the table; it holds one of the threads.
  void find_finalizer_thread() {
    const std::optional<u64> store = d_.descriptor.try_number("ThreadStore");
    if (!store || d_.descriptor.try_number("FinalizerThread"))
      return;
    for (i64 i = first_variable; i < end_variable; ++i) {
      if (table_.variable(i) != store)
        continue;
      const std::optional<Address> variable = table_.variable(i + 1);
      const std::optional<u64> thread = variable ? d_.word(*variable) : std::nullopt;
      if (thread && std::any_of(threads_.begin(), threads_.end(),
                                [&](const ListedThread &one) { return one.address == *thread; }))
        d_.descriptor.set_number("FinalizerThread", *variable, true, Origin::discovered);
      break;
    }
    if (!d_.descriptor.try_number("FinalizerThread"))
      d_.descriptor.missing["FinalizerThread"] =
          "in g_dacTable, the variable behind the thread store's does not lead to a thread of the list";
  }

  // Finds the link's offset in a Thread: some variables of the table (the finalizer thread) point at a Thread itself.
  // Other variables happen to point shortly before a Thread, so what they point at must begin like one.
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
    const std::vector<i64> ids_at = id_distances(nodes_);
    if (!ids_at.empty())
      find_stacks(ids_at[0]);
    if (found.size() > 1)
      keep_those_that_begin_with_frames(found);
    if (!d_.choose(
            "Thread", "LinkNext", [&] { return found; },
            [&](i64 x) { return votes.empty() ? x > 0 && x % p_ == 0 : voted(x); },
            "it is the distance from a Thread, at which a variable of the runtime points, to its link in the thread "
            "list"))
      return;
    link_ = d_.descriptor.offset("Thread", "LinkNext");
    derive_id(ids_at);
    add_threads();
  }

  void add_threads() {
    const std::optional<i64> id = d_.descriptor.try_offset("Thread", "OSId");
    for (Address node : nodes_) {
      const Address thread = node - static_cast<u64>(link_);
      threads_.push_back({thread, id ? d_.word(thread + static_cast<u64>(*id)) : std::nullopt});
    }
  }

  // Data in front of a Thread or behind it may have the same ids: the C library's and the runtime's own records of the
  // thread.
  void derive_id(const std::vector<i64> &distances) {
    std::vector<Address> threads;
    for (Address node : nodes_)
      threads.push_back(node - static_cast<u64>(link_));
    const i64 size = largest_thread(d_, threads);
    auto passes = [&](i64 x) {
      return x >= 0 && x < size && std::find(distances.begin(), distances.end(), x - link_) != distances.end();
    };
    if (!distances.empty())
      d_.choose(
          "Thread", "OSId", [&] { return Derivation::offsets(0, size, p_); }, passes,
          "it holds ids of the target's threads, each only once, and no other place holds more of them");
  }

  // A Thread begins with its state and, one or two words on, the address of its topmost Frame (vm/threads.h, m_pFrame):
  // on the thread's own stack, or all ones if it has none. Keeps the distances that fit most threads: one that runs a
  // signal handler has its stack pointer elsewhere.
  void keep_those_that_begin_with_frames(std::vector<i64> &distances) const {
    std::map<i64, u64> misfits;
    for (i64 distance : distances)
      for (i64 place : {p_, 2 * p_})
        if (std::optional<u64> some = threads_without_frame(place - distance))
          if (auto it = misfits.try_emplace(distance, *some).first; it->second > *some)
            it->second = *some;
    if (misfits.empty())
      return;
    u64 fewest = misfits.begin()->second;
    for (auto [distance, some] : misfits)
      fewest = std::min(fewest, some);
    std::erase_if(distances, [&](i64 x) { return !misfits.contains(x) || misfits[x] != fewest; });
  }
  // Nullopt: most threads have no Frame there.
  std::optional<u64> threads_without_frame(i64 place) const {
    const u64 none = d_.pointer_size == 4 ? ~u32{0} : ~u64{0};
    u64 on_stack = 0, without = 0, elsewhere = 0;
    for (auto [node, stack] : stacks_) {
      std::optional<u64> frame = d_.word(node + static_cast<u64>(place));
      if (frame && *frame - stack.first < stack.second)
        ++on_stack;
      else
        ++(frame == none ? without : elsewhere);
    }
    return on_stack && on_stack + without > elsewhere ? std::optional(elsewhere) : std::nullopt;
  }
  // For each node whose thread lives: the known part of its stack, from the stack pointer on.
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

  Derivation &d_;
  const Gc &gc_;
  const i64 p_;
  const DacTable table_;
  i64 count_ = 0, link_ = 0;
  std::unordered_set<u64> os_ids_;
  u64 steps_ = 0;
  std::vector<Address> nodes_;
  std::vector<ListedThread> threads_;
  std::vector<std::pair<Address, std::pair<Address, u64>>> stacks_; // node → stack pointer, known bytes
};

} // namespace

void derive_thread(Derivation &derivation, const Gc &gc, Address gc_variable) {
  ThreadDerivation(derivation, gc, gc_variable).run();
}

} // namespace dnheap
