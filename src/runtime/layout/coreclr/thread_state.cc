#include "runtime/layout/coreclr/thread_state.h"

#include "runtime/layout/coreclr/thread_size.h"
#include "runtime/layout/vote.h"
#include "runtime/object_1.h"

namespace dnheap {

namespace {

constexpr u64 object_words = 24; // searched words of a managed Thread object
constexpr u32 background = 0x200, unstarted = 0x400, dead = 0x800;

class ThreadStateDerivation {
public:
  ThreadStateDerivation(Derivation &derivation, std::span<const ThreadData> threads)
      : d_(derivation), p_(derivation.pointer_size), threads_(threads) {
    std::vector<Address> addresses;
    for (const ThreadData &thread : threads)
      addresses.push_back(thread.address);
    words_ = Derivation::offsets(0, largest_thread(d_, std::move(addresses)), static_cast<i64>(p_));
  }

  void run() {
    derive_state();
    derive_object();
  }

private:
  // The state, and the flag that a collection has to wait for the thread, lie in front of the Frames.
  void derive_state() {
    const std::optional<i64> frame = d_.descriptor.try_offset("Thread", "Frame");
    const i64 first = frame.value_or(0) - 8;
    auto discover = [&] { return frame && first >= 0 ? std::vector{first} : std::vector<i64>(); };
    auto is_state = [&](i64 x) -> Verdict {
      bool any = false;
      Vote vote;
      for (const ThreadData &thread : threads_) {
        const std::optional<u32> state = d_.memory.try_load<u32>(thread.address + u64(x));
        vote.add(state && (thread.os_id.value_or(0) != 0 ? !(*state & unstarted) : (*state & (dead | unstarted)) != 0));
        any |= state && (*state & background);
      }
      return any || vote.verdict().fails() ? vote.verdict() : Verdict::cannot_tell();
    };
    d_.choose(
        "Thread", "State", discover, is_state,
        "it marks most threads without an id as ended or not started, and at least one thread as a background thread");
    d_.choose(
        "Thread", "PreemptiveGCDisabled",
        [&] {
          std::vector<i64> out = discover();
          for (i64 &x : out)
            x += 4;
          return out;
        },
        [&](i64 x) {
          Vote vote;
          for (const ThreadData &thread : threads_)
            vote.add(d_.memory.try_load<u32>(thread.address + u64(x)).value_or(2) <= 1);
          return vote.verdict();
        },
        "it is 0 or 1 for most threads");
  }

  // Finds a handle of the managed Thread object, which has the Thread in a field. There are two; either is good.
  Address object_of(const ThreadData &thread, i64 x) const {
    const std::optional<Address> object = d_.follow(thread.address, {x, 0});
    if (!object || *object % p_ || !is_type(method_table_of(d_.memory, *object)))
      return 0;
    for (u64 i = 1; i < object_words; ++i)
      if (d_.word(*object + i * p_) == thread.address)
        return *object;
    return 0;
  }

  // True if the EEClass points back at it, as in every type that is not generic. Without this test, a saved register on
  // a stack may by chance lead to an address of the Thread, too.
  bool is_type(Address mt) const {
    const std::optional<i64> to_class = d_.descriptor.try_offset("MethodTable", "EEClassOrCanonMT"),
                             back = d_.descriptor.try_offset("EEClass", "MethodTable");
    return mt && (!to_class || !back || d_.follow(mt, {*to_class, *back}) == mt);
  }

  // Threads get their managed Thread when somebody asks for it: if nobody has asked, nothing is missing.
  bool nobody_has_object() const {
    auto has_none = [&](const ThreadData &thread, i64 x) {
      const std::optional<u64> handle = d_.word(thread.address + u64(x));
      return handle && *handle && d_.word(*handle) == u64{0};
    };
    bool any_is_handle = false;
    for (i64 x : words_) {
      bool all = true;
      for (const ThreadData &thread : threads_)
        if (thread.os_id.value_or(0)) {
          if (object_of(thread, x))
            return false;
          all &= has_none(thread, x);
        }
      any_is_handle |= all;
    }
    return any_is_handle;
  }

  void derive_object() {
    if (nobody_has_object())
      return;
    auto living = [&](const ThreadData &thread) { return thread.os_id.value_or(0) != 0; };
    auto passes = [&](i64 x) -> Verdict {
      Vote vote;
      for (const ThreadData &thread : threads_) {
        if (!living(thread))
          continue;
        // A thread may not have a managed Thread object yet: then the handle leads to null, which is no evidence.
        const std::optional<u64> handle = d_.word(thread.address + u64(x));
        const std::optional<u64> object = handle && *handle ? d_.word(*handle) : std::nullopt;
        if (object != u64{0})
          vote.add(object && object_of(thread, x));
      }
      return vote.verdict();
    };
    d_.choose(
        "Thread", "ExposedObject", [&] { return words_; }, passes,
        "for most live threads it is a handle to null, or to an object with a field that holds the Thread's address",
        [&](i64 x) {
          std::vector<u64> out;
          for (const ThreadData &thread : threads_)
            if (living(thread))
              out.push_back(object_of(thread, x));
          return out;
        });
  }

  Derivation &d_;
  const u64 p_;
  const std::span<const ThreadData> threads_;
  std::vector<i64> words_; // offsets in a Thread
};

} // namespace

void derive_thread_state(Derivation &derivation, std::span<const ThreadData> threads) {
  if (!threads.empty())
    ThreadStateDerivation(derivation, threads).run();
}

} // namespace dnheap
