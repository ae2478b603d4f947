// Lists the contracts, and their versions, that dnheap reads: a contract's name and version choose the reader (gc_1.h,
// thread_n1.h, …). A published version without a reader is an error if every number rests on that contract; else the
// answers that rest on it name the contract as missing (descriptor.missing, under "contract NAME"). doc/contracts.md,
// "Versions". A few look-ups per runtime.
#pragma once
#include "contract/descriptor.h"
#include "runtime/gc.h"

namespace dnheap {

enum class ReaderFamily : u8 { core_clr, native_aot };

// Compares the published versions with the readers, `more` included. Throws Error that names the contract and both
// versions.
void choose_readers(ContractDescriptor &descriptor, ReaderFamily family, std::span<const GcReader> more);

// Returns why the contract is not read: its published version is unknown. Null: the contract is read.
const std::string *why_not_read(const ContractDescriptor &descriptor, std::string_view contract);
// Throws Error with that reason if the contract is not read.
void require_reader(const ContractDescriptor &descriptor, std::string_view contract);

} // namespace dnheap
