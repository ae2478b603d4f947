// Finds the methods of a NativeAOT module: all lie in one section, whose place the runtime publishes (RuntimeInstance
// .ManagedCodeStartRange), or else keeps beside its thread store (m_pvManagedCodeStartRange, m_cbManagedCodeRange).
// Some 20 loads. Any thread.
#pragma once
#include "contract/descriptor.h"
#include "target/target.h"

namespace dnheap {

struct CodeRange {
  Address start = 0, end = 0;
  bool holds(Address address) const { return address >= start && address < end; }
};

// Nullopt: it is not found, or several places fit.
std::optional<CodeRange> find_managed_code(const Target &target, const Module &module,
                                           const ContractDescriptor &descriptor);

} // namespace dnheap
