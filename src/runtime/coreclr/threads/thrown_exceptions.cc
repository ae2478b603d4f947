#include "runtime/coreclr/threads/thrown_exceptions.h"

#include <algorithm>

namespace dnheap {

namespace {

constexpr u64 largest_thread = 0x1000; // searched bytes of a Thread
constexpr u64 largest_info = 0x100;    // searched bytes of an ExceptionInfo
constexpr u64 most_nested = 1024;

} // namespace

ThrownExceptions::ThrownExceptions(const Memory &memory, const ContractDescriptor &descriptor,
                                   std::span<const HandleData> handles, std::function<bool(Address)> is_exception)
    : memory_(&memory), descriptor_(&descriptor), is_exception_(std::move(is_exception)),
      p_(memory.format().pointer_size) {
  for (const HandleData &handle : handles)
    handles_.push_back(handle.handle);
  std::sort(handles_.begin(), handles_.end());
}

// Returns 0 if `handle` is not a handle, or its object is not an exception.
Address ThrownExceptions::exception_in(Address handle) const {
  if (!handle || !std::binary_search(handles_.begin(), handles_.end(), handle))
    return 0;
  const Address object = memory_->try_pointer(handle).value_or(0);
  return object && is_exception_(object) ? object : 0;
}

std::optional<u64> ThrownExceptions::find_offset(std::span<const ThreadData> threads) const {
  if (std::optional<i64> published = descriptor_->try_offset("Thread", "LastThrownObject"))
    return static_cast<u64>(*published);
  std::optional<u64> found;
  for (u64 at = 0; at < largest_thread; at += p_) {
    bool is_one = false, fits = true;
    for (u64 i = 0; i < threads.size() && fits; ++i) {
      std::optional<u64> word = memory_->try_pointer(threads[i].address + at);
      const bool has = word && exception_in(*word);
      is_one |= has;
      fits = word && (*word == 0 || has);
    }
    if (!is_one || !fits)
      continue;
    if (found)
      return std::nullopt; // two places fit: neither is trusted
    found = at;
  }
  return found;
}

std::optional<ThrownExceptions::Nesting> ThrownExceptions::published_nesting() const {
  const std::optional<i64> tracker = descriptor_->try_offset("Thread", "ExceptionTracker"),
                           thrown = descriptor_->try_offset("ExceptionInfo", "ThrownObject"),
                           previous = descriptor_->try_offset("ExceptionInfo", "PreviousNestedInfo");
  if (!tracker || !thrown || !previous)
    return std::nullopt;
  return Nesting{static_cast<u64>(*tracker), static_cast<u64>(*thrown), static_cast<u64>(*previous)};
}

// The last thrown object is followed by a flag and by the pointer to the ExceptionInfo. Each of these has a strong
// handle of an exception at the same offset; if any thread has several, another offset is null or leads to the next
// one.
std::optional<ThrownExceptions::Nesting> ThrownExceptions::find_nesting(std::span<const ThreadData> threads,
                                                                        u64 last) const {
  const u64 head = last + 2 * p_;
  std::vector<Address> infos;
  for (const ThreadData &thread : threads) {
    const std::optional<u64> info = memory_->try_pointer(thread.address + head);
    if (!info)
      return std::nullopt;
    if (*info)
      infos.push_back(*info);
  }
  auto has_exception = [&](Address info, u64 at) {
    return exception_in(memory_->try_pointer(info + at).value_or(0)) != 0;
  };
  std::vector<u64> thrown, previous;
  for (u64 at = 0; at < largest_info && !infos.empty(); at += p_)
    if (std::all_of(infos.begin(), infos.end(), [&](Address info) { return has_exception(info, at); }))
      thrown.push_back(at);
  if (thrown.size() != 1)
    return std::nullopt;
  for (u64 at = 0; at < largest_info; at += p_) {
    bool any = false;
    const bool all = std::all_of(infos.begin(), infos.end(), [&](Address info) {
      const std::optional<u64> before = memory_->try_pointer(info + at);
      any |= before.value_or(0) != 0;
      return before && (*before == 0 || (*before != info && has_exception(*before, thrown[0])));
    });
    if (any && all)
      previous.push_back(at);
  }
  if (previous.size() > 1)
    return std::nullopt;
  return Nesting{head, thrown[0], previous.empty() ? std::nullopt : std::optional(previous[0])};
}

std::vector<Thrown> ThrownExceptions::find(std::span<const ThreadData> threads) const {
  std::vector<Thrown> out;
  std::optional<u64> last;
  std::optional<Nesting> nesting = published_nesting();
  memory_->as_searched([&] {
    last = find_offset(threads);
    if (!nesting && last)
      nesting = find_nesting(threads, *last);
  });
  for (u32 i = 0; i < threads.size(); ++i) {
    const u64 before = out.size();
    auto add = [&](Address object, bool is_at_hand) {
      if (!object)
        return;
      const auto known = std::find_if(out.begin() + static_cast<i64>(before), out.end(),
                                      [&](const Thrown &other) { return other.object == object; });
      if (known == out.end())
        out.push_back({i, object, out.size() > before, is_at_hand});
      else
        known->is_at_hand |= is_at_hand;
    };
    if (last)
      add(exception_in(memory_->try_pointer(threads[i].address + *last).value_or(0)), false);
    if (!nesting)
      continue;
    Address info = memory_->try_pointer(threads[i].address + nesting->head).value_or(0);
    for (u64 steps = 0; info && steps < most_nested; ++steps) {
      // The word is a handle or, if managed code handles exceptions, the object itself.
      const Address word = memory_->try_pointer(info + nesting->thrown).value_or(0);
      const Address object = exception_in(word);
      add(object ? object : word && is_exception_(word) ? word : 0, true);
      info = nesting->previous ? memory_->try_pointer(info + *nesting->previous).value_or(0) : 0;
    }
  }
  return out;
}

} // namespace dnheap
