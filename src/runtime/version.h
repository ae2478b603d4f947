// The version of a runtime module: "10.0.14".
#pragma once
#include "contract/descriptor.h"
#include "target/target.h"

#include <string>

namespace dnheap {

// From the version text in the module's data ("@(#)Version 10.0.1426.52326 …"), else from what the container says of
// the file (PeIdentity), else from the folder that the module was loaded from (…/10.0.14/libcoreclr.so); empty when
// none of these tells.
std::string find_version(const Target &target, const Module &module);

// What the runtime publishes (RuntimeProductVersionString, .NET 11), without what builds add ("-preview.3"), else as
// above.
std::string find_version(const Target &target, const Module &module, const ContractDescriptor &descriptor);
// If the two differ, this is recorded as a doubt.
void check_version(const Target &target, const Module &module, ContractDescriptor &descriptor);

} // namespace dnheap
