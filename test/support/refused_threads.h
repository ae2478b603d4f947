// A process in which no thread can be started, as containers' security profiles and limits on processes make them.
#pragma once
#include <functional>

namespace dnheap::test {

// False: not on this system, or the sanitizers need threads of their own.
bool can_refuse_threads();
// What a child ends with in which no thread can be started.
int in_child_without_threads(const std::function<int()> &call);

} // namespace dnheap::test
