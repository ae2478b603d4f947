// The version of a runtime module: "10.0.14".
#pragma once
#include "target/target.h"

#include <string>

namespace dnheap {

// From the version text in the module's data ("@(#)Version 10.0.1426.52326 …"), else from what the container says of
// the file (PeIdentity), else from the folder that the module was loaded from (…/10.0.14/libcoreclr.so); empty when
// none of these tells.
std::string find_version(const Target &target, const Module &module);

} // namespace dnheap
