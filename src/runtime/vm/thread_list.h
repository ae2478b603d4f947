// The thread list of CoreCLR, which has two forms: up to .NET 10 each word of the chain holds the address of the link
// inside the next Thread, in .NET 11 and later the address of the next Thread. No target publishes which; the right
// walk is the one that ends in null after as many threads as ThreadStore counts. One read per thread and form; bounded.
// Any thread.
#pragma once
#include "target/memory.h"

#include <optional>
#include <string>
#include <vector>

namespace dnheap {

struct ThreadList {
  std::vector<Address> threads; // in the runtime's order
  std::string broken_by;        // why the list ends early; empty: it ends in null
  bool is_counted = false;      // it ends in null, and has as many threads as the runtime counts
};

// `head`: the address of the word that begins the list; `link`: Thread.LinkNext; `count`: the runtime's count. If
// neither form gives that many, returns the longer list.
ThreadList read_thread_list(const Memory &memory, Address head, u64 link, std::optional<u64> count);

} // namespace dnheap
