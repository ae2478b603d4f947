// Identifies the kind of program of a target without .NET runtime by its mapped modules, so that the error can say what
// the dump is of. Costs a look at each module's name and, for Go, at the variables of each. Any thread.
#pragma once
#include "target/target.h"

#include <string>

namespace dnheap {

// Returns "this is a core of a Java program: libjvm.so is mapped; …"; empty: unknown.
std::string what_other_program(const Target &target);

} // namespace dnheap
