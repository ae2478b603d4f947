#include "support/gc_text.h"

#include <set>

namespace dnheap::test {

namespace {

const std::map<std::string, std::set<std::string>> listed_fields = {
    {"GCHeap",
     {"MarkArray", "NextSweepObj", "BackgroundMinSavedAddr", "BackgroundMaxSavedAddr", "AllocAllocated",
      "EphemeralHeapSegment", "CardTable", "FinalizeQueue", "GenerationTable", "SavedSweepEphemeralSeg",
      "SavedSweepEphemeralStart", "OomData", "InternalRootArray", "InternalRootArrayIndex", "HeapAnalyzeSuccess",
      "InterestingData", "CompactReasons", "ExpandMechanisms", "InterestingMechanismBits"}},
    {"Generation", {"AllocationContext", "StartSegment", "AllocationStart"}},
    {"CFinalize", {"FillPointers"}},
    {"HeapSegment",
     {"Allocated", "Committed", "Reserved", "Used", "Mem", "Flags", "Next", "BackgroundAllocated", "Heap"}},
    {"OomHistory",
     {"Reason", "AllocSize", "Reserved", "Allocated", "GcIndex", "Fgm", "Size", "AvailablePagefileMb", "LohP"}},
    {"GCAllocContext", {"Pointer", "Limit", "AllocBytes", "AllocBytesLoh"}},
    {"EEAllocContext", {"GCAllocationContext"}},
    {"HandleTableMap", {"BucketsPtr", "Next"}},
    {"HandleTableBucket", {"Table"}},
    {"HandleTable", {"SegmentList"}},
    {"TableSegment", {"NextSegment", "RgTail", "RgAllocation", "RgValue", "RgUserData"}}};

// GCGlobalMechanisms and GlobalMechanismsLength stand in its functions only.
const std::set<std::string> listed_globals = {"GCIdentifiers",
                                              "NumHeaps",
                                              "Heaps",
                                              "StructureInvalidCount",
                                              "MaxGeneration",
                                              "TotalGenerationCount",
                                              "CFinalizeFillPointersLength",
                                              "InterestingDataLength",
                                              "CompactReasonsLength",
                                              "ExpandMechanismsLength",
                                              "InterestingMechanismBitsLength",
                                              "CurrentGCState",
                                              "DynamicAdaptationMode",
                                              "GCLowestAddress",
                                              "GCHighestAddress",
                                              "HandleTableMap",
                                              "InitialHandleTableArraySize",
                                              "HandleBlocksPerSegment",
                                              "HandleMaxInternalTypes",
                                              "HandlesPerBlock",
                                              "BlockInvalid",
                                              "DebugDestroyedHandleValue",
                                              "FeatureCOMInterop",
                                              "FeatureComWrappers",
                                              "FeatureObjCMarshal",
                                              "FeatureJavaMarshal",
                                              "GlobalAllocContext",
                                              "TotalCpuCount",
                                              "GCGlobalMechanisms",
                                              "GlobalMechanismsLength"};

// Of workstation GC each member of GCHeap is a global of its own.
bool is_listed(const std::string &global) {
  const std::string heap = "GCHeap";
  return listed_globals.contains(global) ||
         (global.starts_with(heap) && listed_fields.at(heap).contains(global.substr(heap.size())));
}

} // namespace

void keep_what_the_text_lists(DescriptorWriter &gc) {
  for (auto &[type, fields] : gc.types) {
    auto listed = listed_fields.find(type);
    std::erase_if(fields, [&](const auto &field) {
      return listed == listed_fields.end() || !listed->second.contains(field.first);
    });
  }
  std::erase_if(gc.types, [](const auto &type) { return type.second.empty(); });
  std::erase_if(gc.sizes, [](const auto &size) { return size.first != "Generation"; });
  auto unlisted = [](const auto &global) { return !is_listed(global.first); };
  std::erase_if(gc.numbers, unlisted);
  std::erase_if(gc.texts, unlisted);
  std::erase_if(gc.pointers, unlisted);
}

} // namespace dnheap::test
