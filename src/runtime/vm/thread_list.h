// The thread list of CoreCLR, of which there are two forms: up to .NET 10 each word of the chain holds the address of
// the link inside the next Thread, from .NET 11 on the address of the next Thread. Nobody publishes which; the walk
// that ends in null after as many threads as ThreadStore counts is the right one. One read per thread and form;
// bounded. Any thread.
#pragma once
#include "target/memory.h"

#include <optional>
#include <string>
#include <vector>

namespace dnheap {

struct ThreadList {
  std::vector<Address> threads; // as the runtime lists them
  std::string broken_by;        // why it ends early; empty: it ends in null
  bool is_counted = false;      // it ends in null, after as many threads as the runtime counts
};

// `head`: the address of the word that begins the list; `link`: Thread.LinkNext; `count`: as the runtime counts them.
// Where neither form gives that many, the one that leads further.
ThreadList read_thread_list(const Memory &memory, Address head, u64 link, std::optional<u64> count);

} // namespace dnheap
