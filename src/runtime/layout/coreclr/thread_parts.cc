#include "runtime/layout/coreclr/thread_parts.h"

#include "runtime/layout/coreclr/thread_size.h"
#include "runtime/layout/vote.h"
#include "runtime/object_1.h"

#include <algorithm>
#include <map>

namespace dnheap {

namespace {

constexpr u64 page = 4096, most_stack = u64{1} << 32, most_modules = 65536;

class ThreadPartsDerivation {
public:
  ThreadPartsDerivation(Derivation &derivation, std::vector<ThreadData> threads)
      : d_(derivation), p_(static_cast<i64>(derivation.pointer_size)), threads_(std::move(threads)) {
    std::vector<Address> addresses;
    for (const ThreadData &thread : threads_)
      addresses.push_back(thread.address);
    words_ = Derivation::offsets(0, largest_thread(d_, std::move(addresses)) - p_, p_);
    std::optional<u64> array = d_.descriptor.try_number("ObjectArrayMethodTable");
    object_array_ = array ? d_.word(*array).value_or(0) : 0;
  }

  void run() {
    derive_stack();
    if (d_.descriptor.find_field("MethodTable", "Token"))
      derive_local_modules();
    else
      derive_local_data();
  }

private:
  // The thread's stack pointer, as the OS reports it, lies between the two bounds. A thread whose registers are not in
  // the target is no evidence. A thread that handles a signal on another stack (after an overflow of its own stack, or
  // a fault) has its stack pointer there, so only the form of its bounds can be tested.
  void derive_stack() {
    std::map<u64, Address> stack_pointers;
    for (const Thread &thread : d_.target.threads)
      if (thread.stack_pointer)
        stack_pointers.emplace(thread.id, thread.stack_pointer);
    auto verdict = [&](i64 x, bool ends_with_page) -> Verdict {
      u64 inside = 0;
      Vote vote;
      std::vector<std::pair<Address, Address>> stacks;
      for (const ThreadData &thread : threads_) {
        auto found = stack_pointers.find(thread.os_id.value_or(0));
        if (found == stack_pointers.end())
          continue;
        u64 base = d_.word(thread.address + u64(x)).value_or(0),
            limit = d_.word(thread.address + u64(x + p_)).value_or(0);
        const bool is_sound = (base % page == 0 || (!ends_with_page && base % u64(p_) == 0 && limit % page == 0)) &&
                              limit != 0 && limit < base && base - limit <= most_stack;
        vote.add(is_sound);
        if (!is_sound)
          continue;
        inside += limit <= found->second && found->second < base;
        stacks.emplace_back(limit, base);
      }
      std::sort(stacks.begin(), stacks.end());
      for (u64 i = 1; i < stacks.size(); ++i)
        if (stacks[i].first < stacks[i - 1].second)
          return false;
      return inside || vote.verdict().fails() ? vote.verdict()
             : stacks.empty()                 ? Verdict::cannot_tell()
                                              : Verdict(false);
    };
    // musl puts a thread's own data behind its stack: if no stack ends at a page boundary, stacks that begin at one are
    // accepted.
    const bool any_ends_so =
        std::any_of(words_.begin(), words_.end(), [&](i64 x) { return verdict(x, true).passes(); });
    auto passes = [&](i64 x) { return verdict(x, any_ends_so); };
    if (!d_.choose(
            "Thread", "CachedStackBase", [&] { return words_; }, passes,
            "for most threads, it is an address, followed by a limit below it, and one of the two is the start of a "
            "page; the ranges do not overlap, and stack pointers lie in them"))
      return;
    i64 limit = d_.descriptor.offset("Thread", "CachedStackBase") + p_;
    d_.choose(
        "Thread", "CachedStackLimit", [&] { return std::vector{limit}; },
        [&](i64 x) {
          Vote vote;
          for (const ThreadData &thread : threads_)
            vote.add(d_.word(thread.address + u64(x)).value_or(0) <=
                     d_.word(thread.address + u64(limit - p_)).value_or(0));
          return vote.verdict();
        },
        "it follows CachedStackBase, and is no higher than that for most threads");
  }

  bool is_object_array(Address object) const { return object && method_table_of(d_.memory, object) == object_array_; }

  // .NET 9 and later: {two counts, object[], handles, the Thread itself, …}.
  void derive_local_data() {
    auto passes = [&](i64 x) -> Verdict {
      bool any = false;
      Vote vote;
      for (const ThreadData &thread : threads_) {
        const std::optional<u64> data = d_.word(thread.address + u64(x));
        if (data == u64{0})
          continue; // has not run yet, or has ended
        const std::optional<u64> owner = data ? d_.word(*data + 8 + 2 * u64(p_)) : std::nullopt,
                                 array = data ? d_.word(*data + 8) : std::nullopt;
        vote.add(data && *data >= 0x10000 && owner && array && (*owner == thread.address || *owner == 0) &&
                 (*array == 0 || is_object_array(*array)));
        any |= owner == thread.address;
      }
      return any || vote.verdict().fails() ? vote.verdict() : Verdict::cannot_tell();
    };
    if (object_array_)
      d_.choose(
          "Thread", "ThreadLocalDataPtr", [&] { return words_; }, passes,
          "for most threads, it leads to data that holds null or an object[], and behind that the Thread itself");
  }

  // True for a table of ThreadLocalModules by module, or null, followed by its length. `any`: one of them leads through
  // a handle to an object[].
  bool has_modules(Address at, bool &any) const {
    const std::optional<u64> table = d_.word(at), count = d_.word(at + u64(p_));
    if (!table || !count || (*table == 0) != (*count == 0) || *count > most_modules)
      return false;
    bool any_here = false;
    for (u64 i = 0; i < *count; ++i) {
      const std::optional<u64> module = d_.word(*table + i * d_.pointer_size);
      if (!module)
        return false;
      const std::optional<u64> handle = *module ? d_.word(*module + 2 * u64(p_)) : 0;
      if (!handle || (*handle && !is_object_array(d_.word(*handle).value_or(0))))
        return false;
      any_here |= *handle != 0;
    }
    any |= any_here;
    return true;
  }

  // Only 8.0.
  void derive_local_modules() {
    auto passes = [&](i64 x) -> Verdict {
      bool any = false;
      Vote vote;
      for (const ThreadData &thread : threads_)
        vote.add(has_modules(thread.address + u64(x), any));
      return any || vote.verdict().fails() ? vote.verdict() : Verdict::cannot_tell();
    };
    if (object_array_)
      d_.choose(
          "Thread", "ThreadLocalModules", [&] { return words_; }, passes,
          "for most threads, it leads to a table of modules' thread statics, which has as many entries as the next "
          "word counts; handles in the entries lead to an object[]");
  }

  Derivation &d_;
  const i64 p_;
  const std::vector<ThreadData> threads_;
  std::vector<i64> words_; // offsets in a Thread; each has a successor
  Address object_array_ = 0;
};

} // namespace

void derive_thread_parts(Derivation &derivation, std::vector<ThreadData> threads) {
  if (!threads.empty())
    ThreadPartsDerivation(derivation, std::move(threads)).run();
}

} // namespace dnheap
