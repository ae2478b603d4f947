// What kind of program a target is that has no .NET runtime, told by the modules that it has mapped: so that the error
// says what the dump is of. Costs a look at each module's name and, for Go, at the variables of each. Any thread.
#pragma once
#include "target/target.h"

#include <string>

namespace dnheap {

// "this is a core of a Java program: libjvm.so is mapped; …"; empty: not known.
std::string what_other_program(const Target &target);

} // namespace dnheap
