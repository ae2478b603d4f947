// For writers of formats for stacks: the stacks of an answer that has a table `stacks`.
#pragma once
#include "report/write.h"

#include <functional>
#include <string>
#include <vector>

namespace dnheap::report {

struct CountedStack {
  u64 count = 0;                    // threads, or samples
  std::vector<std::string> methods; // innermost first; the state of the thread, if there is one, is the outermost
};

// Calls visit(stack) for each row; those after options.top come as one stack. Throws NotFound if the answer has no such
// table.
void for_each_stack(const Answer &answer, const WriteOptions &options,
                    const std::function<void(const CountedStack &)> &visit);

} // namespace dnheap::report
