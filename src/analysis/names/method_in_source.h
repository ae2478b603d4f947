// method_in_source(): a method as a developer calls it, for sentences about one place in the program. Pure; any thread.
#pragma once
#include "runtime/facts/method_text.h"

#include <string>

namespace dnheap {

// Returns "a lambda in Run of Shop.Program" for a lambda, "the static constructor of Shop.Cart" for
// "Shop.Cart..cctor()"; other methods of the program, and all of .NET's, by name and parameters.
std::string method_in_source(const MethodText &method);

} // namespace dnheap
