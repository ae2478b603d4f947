#include "runtime/vm/thread_list.h"

#include "base/text.h"

#include <unordered_set>

namespace dnheap {

namespace {

constexpr u64 max_threads = 1 << 20;

// `to_thread`: distance from the value of a word of the chain to the Thread; `to_next`: to the next word of the chain.
ThreadList walk(const Memory &memory, Address head, u64 to_thread, u64 to_next) {
  ThreadList out;
  std::unordered_set<Address> seen;
  Address at = head;
  for (;;) {
    const std::optional<u64> node = memory.try_pointer(at);
    if (!node) {
      out.broken_by = "the thread list breaks off: the dump lacks its word at " + hex(at);
      return out;
    }
    if (!*node)
      return out;
    if (!seen.insert(*node).second) {
      out.broken_by = "the thread list runs in a circle at " + hex(*node);
      return out;
    }
    if (out.threads.size() >= max_threads) {
      out.broken_by = "the thread list has more than " + count_text(max_threads) + " threads: the rest is not read";
      return out;
    }
    // If not even a Thread's link is in the dump, no other part of it is readable.
    at = *node + to_next;
    if (!memory.try_pointer(at)) {
      out.broken_by = "the thread list breaks off: the dump lacks the Thread at " + hex(*node + to_thread);
      return out;
    }
    out.threads.push_back(*node + to_thread);
  }
}

} // namespace

ThreadList read_thread_list(const Memory &memory, Address head, u64 link, std::optional<u64> count) {
  ThreadList of_links = walk(memory, head, 0 - link, 0), of_threads = walk(memory, head, 0, link);
  for (ThreadList *list : {&of_links, &of_threads})
    list->is_counted = list->broken_by.empty() && count == list->threads.size();
  // The list's pointers lead either to each Thread or to the link inside it. If both readings give the right count (for
  // a single thread, zeros after its link end the other reading), the pointers lead to links: a Thread begins with its
  // state, which is not zero, so reading a list of Threads as links would not end there.
  if (of_links.is_counted != of_threads.is_counted)
    return of_links.is_counted ? of_links : of_threads;
  return of_threads.threads.size() > of_links.threads.size() ? of_threads : of_links;
}

} // namespace dnheap
