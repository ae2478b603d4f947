#include "runtime/layout/unpublished.h"

#include <algorithm>
#include <vector>

namespace dnheap {

namespace {

using Names = std::vector<std::string>;

// Values that a reader needs together. A target that publishes one of `shown_by` should have the others, too.
struct Family {
  Names shown_by, others;
};

// `heap`: prefix of values that a GC with several heaps has in each of them, and other GCs have as globals.
std::vector<Family> families(const std::string &heap) {
  return {// Calls that the runtime suspends itself.
          {{"ContinuationMethodTable", "ContinuationObject.Next", "ContinuationObject.ResumeInfo",
            "ContinuationObject.State", "AsyncResumeInfo.DiagnosticIP"},
           {"ContinuationSingletonEEClass"}},
          {{"LoaderHeap.FirstBlock", "LoaderHeapBlock.Next", "LoaderHeapBlock.VirtualAddress",
            "LoaderHeapBlock.VirtualSize"},
           {"LoaderAllocator.HighFrequencyHeap", "LoaderAllocator.LowFrequencyHeap", "LoaderAllocator.StaticsHeap",
            "LoaderAllocator.ExecutableHeap", "LoaderAllocator.FixupPrecodeHeap", "LoaderAllocator.NewStubPrecodeHeap",
            "LoaderAllocator.VirtualCallStubManager", "VirtualCallStubManager.IndcellHeap",
            "VirtualCallStubManager.CacheEntryHeap", "Module.LoaderAllocator"}},
          {{"CodeHeapListNode.Next", "CodeHeapListNode.StartAddress", "CodeHeapListNode.EndAddress"},
           {"EEJitManager.AllCodeHeaps", "EEJitManagerAddress"}},
          {{"RuntimeThreadLocals.AllocContext"}, {"EEAllocContext.GCAllocationContext"}},
          {{"Assembly.IsDynamic", "AssemblyBinder.AssemblyLoadContext", "PEAssembly.AssemblyBinder"},
           {"Assembly.IsCollectible", "Assembly.IsLoaded", "LoaderAllocator.IsCollectible", "Module.Assembly",
            "Module.PEAssembly"}},
          {{"SyncBlock.Lock", "SyncBlock.ThinLock"}, {}},
          // Values of the GC.
          {{"HandleTableMap", "HandleTableMap.BucketsPtr", "HandleTableMap.Next", "HandleTableBucket.Table",
            "HandleTable.SegmentList", "TableSegment.NextSegment", "TableSegment.RgTail", "TableSegment.RgAllocation",
            "TableSegment.RgValue", "TableSegment.RgUserData", "InitialHandleTableArraySize", "HandleBlocksPerSegment",
            "HandlesPerBlock", "HandleMaxInternalTypes"},
           {}},
          {{"BookkeepingStart", "CardTableInfoSize", "CardTableInfo.Recount", "CardTableInfo.Size",
            "CardTableInfo.NextCardTable"},
           {}},
          {{heap + "HeapAnalyzeSuccess", heap + "InternalRootArray", heap + "InternalRootArrayIndex"}, {}},
          // Not in every build of the GC, though the lengths are always published.
          {{heap + "CompactReasons", heap + "ExpandMechanisms", heap + "InterestingData",
            heap + "InterestingMechanismBits"},
           {"CompactReasonsLength", "ExpandMechanismsLength", "InterestingDataLength", "InterestingMechanismBitsLength",
            "GCGlobalMechanisms", "GlobalMechanismsLength"}},
          {{heap + "BackgroundMaxSavedAddr", heap + "BackgroundMinSavedAddr", heap + "CardTable", heap + "MarkArray",
            heap + "NextSweepObj"},
           {}}};
}

} // namespace

void record_unpublished(ContractDescriptor &d) {
  const auto origin = d.contract_origin.find("GC");
  if (origin == d.contract_origin.end() || origin->second != Origin::published)
    return;
  auto record = [&](const std::string &name, const char *why) {
    if (!d.has(name))
      d.missing.try_emplace(name, why);
  };
  const Global *identifiers = d.find_global("GCIdentifiers");
  auto is_called = [&](const char *word) { return identifiers && identifiers->text.find(word) != std::string::npos; };
  const std::string heap = is_called("server") ? "GCHeap." : "GCHeap";
  for (const std::string &name :
       {std::string("CFinalize.FillPointers"), std::string("CFinalizeFillPointersLength"),
        std::string("HeapSegment.BackgroundAllocated"), std::string("GCLowestAddress"), std::string("GCHighestAddress"),
        std::string("GCAllocContext.AllocBytes"), std::string("GCAllocContext.AllocBytesLoh"), heap + "FinalizeQueue"})
    record(name, "the target does not publish it");
  if (is_called("regions") && d.has("BookkeepingStart"))
    for (const std::string &name :
         {std::string("CountFreeRegionKinds"), std::string("RegionFreeList.HeadFreeRegion"), heap + "FreeRegions"})
      record(name, "the target does not publish it");
  if (is_called("background"))
    record("CurrentGCState", "the target does not publish it");
  if (d.has("EEJitManagerAddress")) // CoreCLR
    record("GlobalAllocContext", "the target does not publish it");
  for (const Family &family : families(heap))
    if (std::any_of(family.shown_by.begin(), family.shown_by.end(), [&](const auto &name) { return d.has(name); }))
      for (const Names &names : {family.shown_by, family.others})
        for (const std::string &name : names)
          record(name, "the target publishes others of its kind, but not this one");
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
