// AotBuilder, third part: the contract descriptor of newer runtimes, and what only it leads to.
// dotnet/runtime src/coreclr/nativeaot/Runtime/datadescriptor/datadescriptor.inc; the managed one is ILCompiler's.
#include "support/aot_builder.h"
#include "support/descriptor_writer.h"
#include "support/gc_text.h"

namespace dnheap::test {

namespace {

// Of a handle segment, as the descriptor says it.
constexpr u64 segment_bytes = 0x1000, blocks = 16, per_block = 8, user_data_at = 16, tail_at = 32, next_at = 64,
              values_at = 128, kinds = 13;

} // namespace

// One segment: of each kind one block, whose number is the kind.
void AotBuilder::write_handles() {
  const Address base = handle_segment.reserve(segment_bytes, segment_bytes);
  for (u64 i = 0; i < values_at; ++i)
    if (i < next_at)
      handle_segment.put(base + i, 0xff, 1);
  std::map<u64, u64> counts;
  for (const auto &[type, object] : handles) {
    const u64 kind = static_cast<u64>(type);
    handle_segment.put(base + tail_at + kind, kind, 1);
    handle_segment.put(base + kind, kind, 1);
    handle_segment.pointer(base + values_at + (kind * per_block + counts[kind]++) * p, object);
  }
  if (!shape.descriptor)
    return;
  Address table = native.words({base}), bucket = native.words({native.words({table})});
  data.pointer(variables["handle_table_map"], native.words({bucket}));
  data.word(variables["processors"], 1);
}

Address AotBuilder::write_gc_descriptor() {
  DescriptorWriter d;
  auto bytes = [&](u64 words) { return static_cast<i64>(words * p); };
  d.contracts = {"GC"};
  d.types["Generation"] = {{"AllocationContext", 0}, {"StartSegment", bytes(start_segment_word)}};
  d.sizes["Generation"] = generation_words * p;
  const char *fields[] = {"Allocated", "Committed", "Reserved", "Used", "Mem", "Flags", "Next", "BackgroundAllocated"};
  for (u64 i = 0; i < std::size(fields); ++i)
    d.types["HeapSegment"][fields[i]] = bytes(i);
  d.types["CFinalize"]["FillPointers"] = 0;
  d.types["HandleTableMap"] = {{"BucketsPtr", 0}, {"Next", bytes(1)}};
  d.types["HandleTableBucket"]["Table"] = 0;
  d.types["HandleTable"]["SegmentList"] = 0;
  d.types["TableSegment"] = {{"RgAllocation", 0},
                             {"RgUserData", user_data_at},
                             {"RgTail", tail_at},
                             {"NextSegment", next_at},
                             {"RgValue", values_at}};
  for (auto [name, number] : std::initializer_list<std::pair<const char *, u64>>{{"TotalGenerationCount", 5},
                                                                                 {"CFinalizeFillPointersLength", 7},
                                                                                 {"InitialHandleTableArraySize", 1},
                                                                                 {"HandleSegmentSize", segment_bytes},
                                                                                 {"HandleBlocksPerSegment", blocks},
                                                                                 {"HandleMaxInternalTypes", kinds},
                                                                                 {"HandlesPerBlock", per_block},
                                                                                 {"BlockInvalid", 0xff},
                                                                                 {"DebugDestroyedHandleValue", 0}})
    d.numbers[name] = number;
  d.texts["GCIdentifiers"] =
      shape.server ? "server, regions, background, dynamic_heap" : "workstation, regions, background,";
  d.pointers["MaxGeneration"] = variables.at("max_gen");
  d.pointers["StructureInvalidCount"] = variables.at("invalid_count");
  d.pointers["CurrentGCState"] = variables.at("c_gc_state");
  d.pointers["HandleTableMap"] = variables.at("handle_table_map");
  if (shape.server) {
    d.types["GCHeap"] = {{"AllocAllocated", bytes(5)},
                         {"EphemeralHeapSegment", bytes(6)},
                         {"FinalizeQueue", bytes(7)},
                         {"GenerationTable", bytes(8)}};
    d.pointers["NumHeaps"] = variables.at("n_heaps");
    d.pointers["Heaps"] = variables.at("g_heaps");
    d.pointers["TotalCpuCount"] = variables.at("processors");
  } else {
    d.pointers["GCHeapAllocAllocated"] = variables.at("alloc_allocated");
    d.pointers["GCHeapEphemeralHeapSegment"] = variables.at("ephemeral");
    d.pointers["GCHeapFinalizeQueue"] = variables.at("finalize_queue");
    d.pointers["GCHeapGenerationTable"] = variables.at("generation_table");
  }
  if (auto version = contract_versions.find("GC"); version != contract_versions.end())
    d.set_contract("GC", version->second);
  if (gc_text_only)
    keep_what_the_text_lists(d);
  std::vector<u64> pointer_data;
  std::string json = d.json(pointer_data);
  return write_descriptor(data, constants, json, pointer_data, &relocated_);
}

Address AotBuilder::write_managed_descriptor() {
  DescriptorWriter d;
  d.version = 0; // whatever the runtime's is
  d.types["System.Threading.Thread"] = {{"_managedThreadId", 24}};
  std::vector<u64> pointer_data;
  std::string json = d.json(pointer_data);
  return write_descriptor(data, constants, json, {}, &relocated_);
}

void AotBuilder::write_descriptors() {
  const u64 begin = data.bytes().size();
  data.pointer(variables.at("free"), free_type);
  data.pointer(variables.at("gc_descriptor"), write_gc_descriptor());
  data.pointer(variables.at("managed_descriptor"), write_managed_descriptor());
  DescriptorWriter d;
  auto bytes = [&](u64 words) { return static_cast<i64>(words * p); };
  d.version = shape.early ? 0 : 2;
  for (const char *name : {"Thread", "RuntimeTypeSystem"})
    d.more_contracts[name] = shape.early ? "1001" : "\"n1\"";
  d.contracts = {"Exception"};
  d.types["Thread"] = {
      {"OSId", bytes(13)}, {"LinkNext", bytes(11)}, {"CachedStackLimit", bytes(21)}, {"CachedStackBase", bytes(22)}};
  if (shape.early) {
    d.types["Thread"]["RuntimeThreadLocals"] = bytes(1);
    d.types["RuntimeThreadLocals"]["AllocContext"] = bytes(1);
  } else {
    d.types["Thread"]["AllocContext"] = bytes(2);
  }
  d.types["EEAllocContext"]["GCAllocationContext"] = bytes(1);
  d.types["GCAllocContext"] = {{"Pointer", 0}, {"Limit", bytes(1)}, {"AllocBytes", 16}, {"AllocBytesLoh", 24}};
  d.types["ThreadStore"]["FirstThreadLink"] = bytes(2);
  const i64 words = bytes(1);
  d.types["MethodTable"] = {{"Flags", 0},
                            {"BaseSize", 4},
                            {"RelatedType", 8},
                            {"NumVtableSlots", 8 + words},
                            {"NumInterfaces", 10 + words},
                            {"HashCode", 12 + words},
                            {"VTable", 16 + words}};
  // The first builds say the bits too.
  if (shape.early)
    d.numbers = {{"MethodTableEETypeKindMask", 0x30000},    {"MethodTableHasComponentSizeFlag", 0x80000000},
                 {"MethodTableHasFinalizerFlag", 0x100000}, {"MethodTableHasPointersFlag", 0x1000000},
                 {"MethodTableIsGenericFlag", 0x2000000},   {"MethodTableElementTypeMask", 0x7c000000},
                 {"MethodTableElementTypeShift", 26}};
  if (shape.released) {
    d.more_contracts["Object"] = "\"n1\"";
    d.texts["RuntimeProductVersionString"] = "11.0.0";
    d.types["RuntimeInstance"] = {{"ManagedCodeStartRange", bytes(3)}, {"ManagedCodeRangeSize", bytes(4)}};
    d.pointers["RuntimeInstance"] = variables.at("runtime_instance");
  }
  d.numbers["ObjectToMethodTableUnmask"] = p - 1;
  d.pointers["ThreadStore"] = variables.at("thread_store");
  d.pointers["FreeObjectMethodTable"] = variables.at("free");
  d.pointers["GCLowestAddress"] = variables.at("lowest");
  d.pointers["GCHighestAddress"] = variables.at("highest");
  d.sub_descriptors = {{"GC", variables.at("gc_descriptor")}, {"ManagedTypes", variables.at("managed_descriptor")}};
  for (const auto &[name, version] : contract_versions)
    if (name != "GC")
      d.set_contract(name, version);
  std::vector<u64> pointer_data;
  std::string json = d.json(pointer_data);
  descriptor_ = write_descriptor(data, constants, json, pointer_data, &relocated_);
  // All of this is compiled in.
  before_.resize(data.bytes().size());
  std::copy(data.bytes().begin() + static_cast<i64>(begin), data.bytes().end(),
            before_.begin() + static_cast<i64>(begin));
}

} // namespace dnheap::test
