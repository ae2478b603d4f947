#include "runtime/layout/coreclr/thread_contexts.h"

#include "runtime/layout/coreclr/thread_size.h"
#include "runtime/object_1.h"
#include "runtime/vm/continuation_types.h"

#include <algorithm>
#include <set>

namespace dnheap {

namespace {

constexpr u64 handle_segment = 0x10000;    // TableSegments are aligned to their size
constexpr u64 most_bytes = u64{1} << 50;   // limit of what one thread can have allocated
constexpr u64 largest_quantum = 256 << 10; // most bytes that the GC hands out at once, unless a thread requests more
constexpr u64 fits_per_misfit = 4;

// The way from a thread to its context: it lies in the thread, or `inner` bytes into a structure that the thread points
// at.
struct Way {
  i64 in_thread = 0;
  std::optional<i64> inner = {};
};

class ThreadContexts {
public:
  ThreadContexts(Derivation &derivation, const Gc &gc, std::vector<ListedThread> threads)
      : d_(derivation), p_(static_cast<i64>(derivation.pointer_size)), threads_(std::move(threads)),
        continuations_(derivation.memory, derivation.descriptor) {
    try {
      Notes ignored; // the heap reports these again
      for (Address heap : gc.get_gc_heaps())
        for (const GCHeapSegmentInfo &s : gc.enumerate_heap_segments(gc.get_heap_data(heap), ignored))
          (s.generation == GCSegmentGeneration::gen0 ? gen0_ : older_).emplace_back(s.start, s.end);
    } catch (const Error &) { // not in the dump: then no place passes, and published values stay
    }
    std::sort(gen0_.begin(), gen0_.end());
    std::sort(older_.begin(), older_.end());
  }

  // Memory not yet handed out is nearly always zero (the GC may skip clearing for arrays that ask for it), and a dump
  // that was taken amid allocations may show one thread's context half changed. So the first test demands zeros; a
  // weaker test is used only if nothing passes.
  void find() {
    if (threads_.empty() || d_.descriptor.find_field("Thread", "RuntimeThreadLocals") ||
        d_.descriptor.find_field("Thread", "AllocContext"))
      return;
    for (Test test : {Test::zeros, Test::no_object, Test::most_threads})
      if (choose_among(candidates(test), test))
        return;
    // After a collection no thread has a context, until it allocates. Nothing marks an empty context, but a shipped
    // table may have its place.
    d_.choose(
        "Thread", "AllocContext", [] { return std::vector<i64>(); }, [this](i64 x) -> Verdict { return are_empty(x); },
        predicate);
  }

  // Finds the context of threads that have none of their own. It is usually empty; then it cannot, and need not, be
  // found.
  void find_global(const std::vector<Address> &variables) {
    if (d_.descriptor.find_global("GlobalAllocContext"))
      return;
    i64 inner = d_.descriptor.try_offset("EEAllocContext", "GCAllocationContext").value_or(0);
    std::set<Address> found;
    for (Address variable : variables)
      if (context_at(variable + static_cast<u64>(inner), Test::zeros) == Context::set &&
          is_clear(variable + static_cast<u64>(inner)))
        found.insert(variable);
    if (found.size() == 1)
      d_.descriptor.set_number("GlobalAllocContext", *found.begin(), true, Origin::discovered);
  }

private:
  enum class Test : u8 { zeros, no_object, most_threads };
  enum class Context : u8 { none, empty, set };

  static constexpr const char *predicate =
      "for every thread, it is empty, or a range in gen0 that holds no objects yet; and it lies in no table of handles";

  static bool is_inside(const std::vector<std::pair<Address, Address>> &ranges, Address at) {
    auto range = std::upper_bound(ranges.begin(), ranges.end(), std::pair{at, ~u64{0}});
    return range != ranges.begin() && at < std::prev(range)->second;
  }

  // {pointer, limit, 64 bits: bytes handed out so far, including the rest, …}: empty (both null), or a range of one
  // gen0 segment in which no object begins yet. It is the runtime's, so it lies neither in the heap nor among handles.
  Context context_at(Address at, Test test) const {
    auto pointer = d_.word(at), limit = d_.word(at + d_.pointer_size);
    if (!pointer || !limit)
      return Context::none;
    if (*pointer == 0 && *limit == 0)
      return Context::empty;
    auto segment = std::upper_bound(gen0_.begin(), gen0_.end(), std::pair{*pointer, ~u64{0}});
    if (segment == gen0_.begin() || *pointer > *limit || *limit > std::prev(segment)->second || *pointer % 4)
      return Context::none;
    const u64 bytes = d_.memory.try_load<u64>(at + 2 * d_.pointer_size).value_or(~u64{0});
    if (bytes < *limit - *pointer || bytes > most_bytes || is_inside(gen0_, at) || is_inside(older_, at) ||
        is_among_handles(at))
      return Context::none;
    const u64 first = d_.word(*pointer).value_or(0);
    const bool is_used = test == Test::zeros ? first != 0 : is_method_table(method_table_in(first, d_.memory.format()));
    if (is_used && !is_filled(*pointer, *limit))
      return Context::none;
    return Context::set;
  }

  // While threads are suspended for a background collection, one Free object fills the rest of a context, up to the
  // room for it behind the limit; the thread keeps the context. See gc.cpp, fix_allocation_context() without for_gc_p.
  bool is_filled(Address pointer, Address limit) const {
    return pointer < limit && is_free(d_.word(pointer).value_or(0)) &&
           d_.memory.try_load<u32>(pointer + d_.pointer_size) == limit - pointer;
  }

  // True if the EEClass, or that of the canonical type, points back.
  bool is_method_table(Address mt) const {
    std::optional<i64> to_class = d_.descriptor.try_offset("MethodTable", "EEClassOrCanonMT"),
                       back = d_.descriptor.try_offset("EEClass", "MethodTable");
    if (mt < 0x1000 || !to_class || !back)
      return false;
    u64 word = d_.word(mt + static_cast<u64>(*to_class)).value_or(0);
    if (word & 1) {
      mt = word - 1;
      word = d_.word(mt + static_cast<u64>(*to_class)).value_or(0);
    }
    // Free has no EEClass in any version.
    return (word && d_.word(word + static_cast<u64>(*back)) == mt) || is_free(mt) || continuations_.contains(mt);
  }
  bool is_free(Address mt) const {
    std::optional<u64> free = d_.descriptor.try_number("FreeObjectMethodTable");
    return free && d_.word(*free) == mt;
  }

  // A segment of handles points at its table, and the table's list of segments leads to it.
  bool is_among_handles(Address at) const {
    std::optional<i64> next = d_.descriptor.try_offset("TableSegment", "NextSegment"),
                       list = d_.descriptor.try_offset("HandleTable", "SegmentList");
    if (!next || !list)
      return false;
    const Address segment = align_down(at, handle_segment);
    if (auto known = handle_segments_.find(segment); known != handle_segments_.end())
      return known->second;
    bool &is_one = handle_segments_[segment];
    const Address table = d_.word(segment + static_cast<u64>(*next + p_)).value_or(0);
    constexpr u64 most_segments = 1 << 16;
    Address other = table ? d_.word(table + static_cast<u64>(*list)).value_or(0) : 0;
    for (u64 i = 0; i < most_segments && other && !is_one; ++i) {
      is_one = other == segment;
      other = d_.word(other + static_cast<u64>(*next)).value_or(0);
    }
    return is_one;
  }

  // True if the context's unused space is still zero; other pointer pairs point into gen0 too, but not at zeros.
  bool is_clear(Address at) const {
    Address pointer = d_.word(at).value_or(0), limit = d_.word(at + d_.pointer_size).value_or(0);
    Bytes free = limit - pointer <= largest_quantum ? d_.memory.view(pointer, limit - pointer) : Bytes();
    return !free.empty() && std::all_of(free.begin(), free.end(), [](std::byte b) { return b == std::byte{}; });
  }

  // 0: the thread has ended, or has not started, and has no context.
  std::optional<Address> place(const ListedThread &thread, const Way &way) const {
    const Address at = thread.address + static_cast<u64>(way.in_thread);
    if (!way.inner)
      return at;
    if (thread.os_id == u64{0})
      return 0;
    std::optional<u64> locals = d_.word(at);
    if (!locals || (*locals == 0 && thread.os_id) || *locals % d_.pointer_size)
      return std::nullopt;
    return *locals ? *locals + static_cast<u64>(*way.inner) : 0;
  }
  // Returns the places of the living threads' contexts, if each has its own, and at least one is not empty.
  std::optional<std::vector<Address>> places(const Way &way, Test test) const {
    std::vector<Address> out;
    u64 set = 0, misfits = 0;
    for (const ListedThread &thread : threads_) {
      std::optional<Address> at = place(thread, way);
      Context context = !at ? Context::none : *at ? context_at(*at, test) : Context::empty;
      if (context == Context::set && thread.os_id == u64{0})
        context = Context::none;
      if (context == Context::none && (test != Test::most_threads || ++misfits * fits_per_misfit > threads_.size()))
        return std::nullopt;
      set += context == Context::set;
      if (thread.os_id != u64{0})
        out.push_back(at.value_or(0));
    }
    std::vector<Address> sorted = out;
    std::erase(sorted, Address{0});
    std::sort(sorted.begin(), sorted.end());
    if (set == 0 || set < fits_per_misfit * misfits || std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end())
      return std::nullopt;
    return out;
  }

  // True if all threads have an empty context there, and a count of allocated bytes: more than 0 for some, and always a
  // multiple of an object's alignment. Only for a context in the Thread itself, as in 8.0.
  bool are_empty(i64 x) const {
    bool has_allocated = false;
    if (!d_.table_fits("Thread.AllocContext", x, {"Thread.LinkNext", "Thread.OSId"}))
      return false;
    for (const ListedThread &thread : threads_) {
      const Address at = thread.address + static_cast<u64>(x);
      const std::optional<u64> bytes = d_.memory.try_load<u64>(at + 2 * d_.pointer_size);
      if (context_at(at, Test::zeros) != Context::empty || !bytes || *bytes > most_bytes || *bytes % 4)
        return false;
      has_allocated |= *bytes != 0;
    }
    return has_allocated;
  }

  // .NET 9 and later: it lies in a structure in thread-local storage that the Thread points at. In 10 and later it lies
  // behind one word (the combined limit), or 8 bytes if the alignment of a 64-bit number requires it. 8.0: in the
  // Thread itself. Ways that lead to the same contexts count as one.
  std::map<std::vector<Address>, Way> candidates(Test test) const {
    std::vector<Address> addresses;
    for (const ListedThread &thread : threads_)
      addresses.push_back(thread.address);
    const i64 end = largest_thread(d_, addresses);
    std::map<std::vector<Address>, Way> out;
    auto add = [&](const Way &way) {
      if (std::optional<std::vector<Address>> found = places(way, test))
        out.try_emplace(std::move(*found), way);
    };
    // If a part of the way is published, the search continues from there.
    const i64 outer = d_.descriptor.try_offset("RuntimeThreadLocals", "AllocContext").value_or(0);
    const std::optional<i64> told = d_.descriptor.try_offset("EEAllocContext", "GCAllocationContext");
    for (i64 x = 0; x + p_ <= end; x += p_)
      for (i64 inner : told ? std::set<i64>{*told} : std::set<i64>{0, p_, 8})
        add({x, outer + inner});
    for (i64 x = 0; x + 2 * p_ + 8 <= end; x += p_)
      add({x});
    return out;
  }

  bool choose_among(const std::map<std::vector<Address>, Way> &found, Test test) {
    if (found.size() > 1)
      d_.descriptor.missing["Thread.AllocContext"] =
          "discovered " + std::to_string(found.size()) + " candidates; exactly one must pass: " + predicate;
    if (found.size() != 1)
      return found.size() > 1;
    const Way way = found.begin()->second;
    auto passes = [&](i64 x) -> Verdict { return places({x, way.inner}, test).has_value(); };
    auto discover = [&] { return std::vector{way.in_thread}; };
    if (!way.inner)
      return d_.choose("Thread", "AllocContext", discover, passes, predicate);
    if (!d_.choose("Thread", "RuntimeThreadLocals", discover, passes, predicate))
      return false;
    enter("RuntimeThreadLocals", "AllocContext", 0); // its first member, if no other offset is published
    enter("EEAllocContext", "GCAllocationContext",
          *way.inner - d_.descriptor.offset("RuntimeThreadLocals", "AllocContext"));
    return true;
  }
  void enter(const char *type, const char *field, i64 offset) {
    if (!d_.descriptor.find_field(type, field))
      d_.descriptor.set_field(type, field, offset, Origin::discovered);
  }

  Derivation &d_;
  const i64 p_;
  const std::vector<ListedThread> threads_;
  const ContinuationTypes continuations_;                 // its values are published if the runtime has such types
  std::vector<std::pair<Address, Address>> gen0_, older_; // ranges with objects
  mutable std::map<Address, bool> handle_segments_;
};

} // namespace

void derive_thread_contexts(Derivation &derivation, const Gc &gc, std::vector<ListedThread> threads,
                            const std::vector<Address> &variables) {
  ThreadContexts contexts(derivation, gc, std::move(threads));
  contexts.find();
  contexts.find_global(variables);
}

} // namespace dnheap
