#include "runtime/layout/nativeaot/thread_statics.h"

#include "runtime/thread_registers.h"

#include <algorithm>
#include <map>

namespace dnheap {

namespace {

constexpr u64 most_threads = 4096, most_words = 64;
constexpr u64 page = 4096; // the smallest page size in use
// Distances from m_pThreadLocalStatics, in words.
constexpr i64 inlined_word = 1, stack_low_word = 3, stack_high_word = 4;

} // namespace

void derive_thread_statics(Derivation &d, std::span<const ThreadData> all, std::optional<u64> size) {
  const i64 p = static_cast<i64>(d.pointer_size);
  const std::span<const ThreadData> threads = all.first(std::min<u64>(all.size(), most_threads));
  std::map<u64, Address> stack_pointers;
  for (const Thread &thread : d.target.threads)
    if (thread.stack_pointer)
      stack_pointers.emplace(thread.id, thread.stack_pointer);

  auto passes = [&](i64 offset) -> Verdict {
    u64 inside = 0;
    for (const ThreadData &thread : threads) {
      const Address at = thread.address + static_cast<u64>(offset);
      std::optional<u64> low = d.word(at + static_cast<u64>(stack_low_word * p)),
                         high = d.word(at + static_cast<u64>(stack_high_word * p)), object = d.word(at),
                         inlined = d.word(at + static_cast<u64>(inlined_word * p));
      if (!low || !high || !object || !inlined)
        return Verdict::cannot_tell();
      // A stack begins and ends at a page boundary; with musl only one of the two does, since musl puts a thread's own
      // data behind the stack.
      if (*low >= *high || (*low % page && *high % page) || *high % d.pointer_size || *object % d.pointer_size ||
          *inlined % d.pointer_size)
        return false;
      // {object, next one, TypeManager}
      if (*inlined && !d.word(*inlined + 2 * d.pointer_size).value_or(0))
        return false;
      auto known = stack_pointers.find(thread.os_id.value_or(0));
      if (known == stack_pointers.end())
        continue;
      ThreadData bounds;
      bounds.stack_limit = *low;
      bounds.stack_base = *high;
      widen_first_stack(d.target, std::span(&bounds, 1));
      if (!in_stack(bounds, known->second))
        return false;
      ++inside;
    }
    return inside ? Verdict(true) : Verdict::cannot_tell();
  };
  auto candidates = [&] {
    // A descriptor may publish the offset of the lower bound.
    if (std::optional<i64> low = d.descriptor.try_offset("Thread", "CachedStackLimit"))
      return std::vector<i64>{*low - stack_low_word * p};
    const i64 end = static_cast<i64>(std::min(size.value_or(most_words * d.pointer_size), most_words * d.pointer_size));
    return Derivation::offsets(0, size ? end - stack_high_word * p : end, p);
  };
  if (!d.choose("Thread", "ThreadLocalStatics", candidates, passes,
                "the words " + std::to_string(stack_low_word * p) + " and " + std::to_string(stack_high_word * p) +
                    " bytes after ThreadLocalStatics are the bounds of each thread's stack"))
    return;
  const i64 statics = d.descriptor.offset("Thread", "ThreadLocalStatics");
  for (auto [field, word] : {std::pair{"InlinedThreadLocalStatics", inlined_word},
                             {"CachedStackLimit", stack_low_word},
                             {"CachedStackBase", stack_high_word}})
    if (!d.descriptor.find_field("Thread", field))
      d.descriptor.set_field("Thread", field, statics + word * p, Origin::discovered);
}

} // namespace dnheap
