// ConsoleWaits: threads that wait until the console takes what one of them writes: a pipe that is full, as nobody reads
// the program's standard output. They stand before the queue of .NET's console logger, or before the lock of
// Console.Out, while one thread stands in the write. Walks all stacks, but only if a thread waits for the console. Not
// for several threads at once.
#pragma once
#include "analysis/threads/thread_text.h"
#include "snapshot/snapshot.h"

#include <span>

namespace dnheap {

struct ConsoleWaits {
  std::optional<u32> writer;   // index in the list of threads; absent: no thread waits for the console
  std::vector<u32> in_queue;   // threads that wait for a place in the console logger's queue
  std::vector<u32> for_writer; // threads that wait for the lock of Console.Out
};

// `waits`: for each thread what it waits for.
ConsoleWaits find_console_waits(const Snapshot &snapshot, std::span<const ThreadData> threads,
                                std::span<const WaitText> waits);

} // namespace dnheap
