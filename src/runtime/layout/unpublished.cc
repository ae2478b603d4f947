#include "runtime/layout/unpublished.h"

namespace dnheap {

void record_unpublished(ContractDescriptor &d) {
  auto origin = d.contract_origin.find("GC");
  if (origin == d.contract_origin.end() || origin->second != Origin::published)
    return;
  const Global *identifiers = d.find_global("GCIdentifiers");
  const bool server = identifiers && identifiers->text.find("server") != std::string::npos;
  for (const std::string &name :
       {std::string("CFinalize.FillPointers"), std::string("CFinalizeFillPointersLength"),
        std::string("HeapSegment.BackgroundAllocated"), std::string("GCLowestAddress"), std::string("GCHighestAddress"),
        std::string("GCAllocContext.AllocBytes"), std::string("GCAllocContext.AllocBytesLoh"),
        std::string(server ? "GCHeap.FinalizeQueue" : "GCHeapFinalizeQueue")}) {
    const std::size_t dot = name.find('.');
    if (dot == name.npos ? !d.find_global(name) : !d.find_field(name.substr(0, dot), name.substr(dot + 1)))
      d.missing.try_emplace(name, "the target does not publish it");
  }
}

void leave_out(ContractDescriptor &descriptor, std::span<const std::string> values) {
  for (const std::string &value : values) {
    const std::size_t dot = value.rfind('.');
    if (auto type = descriptor.types.find(value.substr(0, dot)); dot != value.npos && type != descriptor.types.end())
      type->second.fields.erase(value.substr(dot + 1));
    descriptor.globals.erase(value);
    descriptor.missing[value] = "left out";
  }
}

} // namespace dnheap
