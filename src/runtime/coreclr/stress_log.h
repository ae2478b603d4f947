// Reads a StressLog. Some bytes per message; each thread keeps its newest ones. Needs a target that publishes the
// layout (.NET 11). Damage ends a thread's messages, and is reported. Any thread. Spec: dotnet/runtime
// docs/design/datacontracts/StressLog.md, version 2.
#pragma once
#include "contract/descriptor.h"
#include "runtime/facts/stress_log.h"

#include <optional>

namespace dnheap {

// Nullopt: the target publishes no such log, or the process keeps none. Throws Error if the start of the log is not in
// the dump.
std::optional<StressLog> read_stress_log(const Memory &memory, const ContractDescriptor &descriptor);

} // namespace dnheap
