// collected_delegate(): the type of a delegate that was collected while native code could still call it. When that code
// does, the runtime makes a message for standard error, and ends the process with the message on its stack. Reads up to
// 64 KiB of a stack, and a few bytes at each address in it. Any thread.
#pragma once
#include "target/memory.h"

#include <string>

namespace dnheap {

// Returns "Shop.Reading", of the message to which a word in [from, to) points, or which lies there. Empty: there is
// none.
std::string collected_delegate(const Memory &memory, Address from, Address to);

} // namespace dnheap
