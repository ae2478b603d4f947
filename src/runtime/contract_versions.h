// Which contracts dnheap reads, and in which versions: each reader (gc_1.h, thread_n1.h, …) is chosen by a contract's
// name and version. Of a version that nothing here reads, a published contract is an error if every number rests on
// it; else the answers that would rest on it say so (descriptor.missing, under "contract NAME"). doc/contracts.md,
// "Versions". A few look-ups per runtime.
#pragma once
#include "contract/descriptor.h"
#include "runtime/gc.h"

namespace dnheap {

enum class ReaderFamily : u8 { core_clr, native_aot };

// Compares what the target publishes with what is read, `more` included. Throws Error that names contract and both
// versions.
void choose_readers(ContractDescriptor &descriptor, ReaderFamily family, std::span<const GcReader> more);

// Why the contract is not read: it is published in an unknown version. Null: it is read.
const std::string *why_not_read(const ContractDescriptor &descriptor, std::string_view contract);
// Throws Error with that reason.
void require_reader(const ContractDescriptor &descriptor, std::string_view contract);

} // namespace dnheap
