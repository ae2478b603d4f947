// The version of a runtime module: "10.0.14".
#pragma once
#include "contract/descriptor.h"
#include "target/target.h"

#include <string>

namespace dnheap {

// Finds the version in the version text in the module's data ("@(#)Version 10.0.1426.52326 …"), else in the container's
// record of the file (PeIdentity), else in the folder that the module was loaded from (…/10.0.14/libcoreclr.so); empty
// if none of these has it.
std::string find_version(const Target &target, const Module &module);

// Returns the version that the runtime publishes (RuntimeProductVersionString, .NET 11), without suffixes of builds
// ("-preview.3"), else as above.
std::string find_version(const Target &target, const Module &module, const ContractDescriptor &descriptor);
// Records a doubt if the published version and the module's differ.
void check_version(const Target &target, const Module &module, ContractDescriptor &descriptor);

} // namespace dnheap
