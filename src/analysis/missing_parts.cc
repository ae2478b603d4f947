#include "analysis/missing_parts.h"

#include "analysis/answer_head.h"
#include "snapshot/snapshot.h"

#include <algorithm>
#include <bit>

namespace dnheap {

namespace {

using enum AnswerPart;

constexpr AnswerParts threads = contexts | stacks | thread_statics | locks | thread_ids;

// The possible errors without each part, in their order.
constexpr const char *texts[answer_part_count] = {
    "allocation contexts of threads may not have been skipped",
    "what stacks keep alive may be missing",
    "GC handles, and what they keep alive, may be missing",
    "objects whose finalizer is due may be missing among the roots",
    "static fields may have no names, or be missing among the roots",
    "thread statics may have no names, or be missing among the roots",
    "what objects of collectible types keep alive (their LoaderAllocators) may look dead",
    "reference counts of COM objects may be missing",
    "type names may be missing",
    "fields may have no names",
    "methods of delegates may have no names",
    "contents of strings may be missing",
    "sync blocks may be unknown",
    "it may be unknown whether the threads that hold locks exist",
    "threads may have no numbers",
    "data of segments may be missing",
    "data of the GC may be missing",
    "calls that the runtime suspends itself, and what they wait for, may be missing",
    "loader heaps of the runtime, and so what a collectible context costs, may be missing",
    "the kinds of assemblies, and the contexts that loaded them, may be unknown",
    "the layout was learned from elsewhere",
    "names of methods, states of threads and precise stack roots may be missing",
};

struct Value {
  const char *name; // of a value; a name that ends with '*' stands for all that begin with it
  AnswerParts parts;
};
// The first row that matches counts.
constexpr Value values[] = {
    {"contract Thread", threads},
    {"contract SyncBlock", sync_blocks | ref_counts},
    {"contract BuiltInCOM", ref_counts},
    {"contract Loader", names | fields | statics},
    {"contract EcmaMetadata", names | fields | delegates},
    {"contract *", delegates},
    {"DotNetRuntimeContractDescriptor", source | gc},
    {"RuntimeProductVersionString", source},
    {"DotNetRuntimeDebugHeader", source},
    // CoreRT: sections of its header, and values for which it has no counterpart.
    {"GC Contract", gc},
    {"Workstation GC Contract", contexts | segments | gc},
    {"RuntimeInstance Contract", threads},
    {"Thread Store Contract", threads},
    {"Thread Contract", threads},

    {"ThreadStore", threads},
    {"ThreadStore.ThreadCount", {}}, // only used for comparison
    {"ThreadStore.*", threads},
    {"Thread.LinkNext", threads},
    {"Thread.OSId", stacks | thread_ids},
    {"Thread.Id", locks | thread_ids},
    {"Thread.CachedStack*", stacks},
    {"Thread.ThreadLocal*", thread_statics},
    {"Thread.InlinedThreadLocalStatics", thread_statics},
    {"Thread.AllocContext", contexts},
    {"Thread.RuntimeThreadLocals", contexts},
    {"Thread.Frame", code},
    {"Thread.GCFrame", code},
    {"FinalizerThread", code},
    {"Thread.State", code},
    {"Thread.PreemptiveGCDisabled", code},
    {"Thread.ExposedObject", code},
    {"Thread.*", {}}, // exceptions and the like, which no verb reads from there
    {"RuntimeThreadLocals.*", contexts},
    {"EEAllocContext.*", contexts | gc},
    {"GCAllocContext.AllocBytes*", gc},
    {"GCAllocContext.*", contexts | gc},
    {"GlobalAllocContext", contexts | gc},
    {"ThreadLocalData.*", thread_statics},
    {"InFlightTLSData.*", thread_statics},
    {"ThreadStaticsInfo.*", thread_statics},
    {"TLSIndex.*", thread_statics},
    {"NumberOfTlsOffsetsNotUsedInNoncollectibleArray", thread_statics},

    {"ExecutionManagerCodeRangeMapAddress", code},
    {"GCInfoVersion", code},
    {"Module.ReadyToRunInfo", code},
    {"ReadyToRunInfo.*", code},
    {"InlinedCallFrame.*", code},
    {"*Identifier", code},

    {"Continuation*", suspended_calls},
    {"AsyncResumeInfo.*", suspended_calls},
    {"LoaderHeap*", loader_heaps},
    {"LoaderAllocator.*Heap", loader_heaps},
    {"LoaderAllocator.VirtualCallStubManager", loader_heaps},
    {"VirtualCallStubManager.*", loader_heaps},
    {"CodeHeapListNode.*", loader_heaps},
    {"EEJitManager*", loader_heaps},
    {"Assembly.Is*", assembly_flags},
    {"AssemblyBinder.*", assembly_flags},
    {"PEAssembly.AssemblyBinder", assembly_flags},
    {"LoaderAllocator.IsCollectible", assembly_flags},

    {"AppDomain*", statics | fields | assembly_flags},
    {"SystemDomain*", statics | fields | assembly_flags},
    {"Assembly.*", statics | fields | assembly_flags},
    {"ArrayList*", statics | fields | assembly_flags},
    {"Module.TypeDefToMethodTableMap", names | fields | statics},
    {"Module.AvailableTypeParams", fields | statics},
    {"Module.DomainLocalModule", statics},
    {"Module.LoaderAllocator", collectible | statics | loader_heaps},
    {"Module.Assembly", assembly_flags | fields | statics},
    {"LoaderAllocator.*", collectible | statics},
    {"MethodTableAuxiliaryData.*", collectible | statics},
    {"MethodTable.AuxiliaryData", collectible | statics},
    {"EEClass.ModuleDynamicID", statics},
    {"DynamicStaticsInfo.*", statics | thread_statics},
    {"ObjectArrayMethodTable", statics | names},
    {"Module.*", names | fields | statics | delegates},
    {"PEAssembly.*", names | fields | statics | delegates},
    {"PEImage*", names | fields | statics | delegates},
    {"DynamicMetadata.*", names | fields | statics},
    {"MethodTable.*", names | fields | statics | delegates | strings | collectible},
    {"MethodTable*", names | fields | statics | delegates}, // flags: global values
    {"GenericsDictInfo.*", names | fields | statics},
    {"TypeDesc.*", names},
    {"ParamTypeDesc.*", names},
    {"FnPtrTypeDesc.*", names},
    {"TypeVarTypeDesc.*", names},
    {"StringMethodTable", names | strings | fields},
    {"ObjectMethodTable", names},
    {"FreeObjectMethodTable", names},
    {"ExceptionMethodTable", {}},
    {"String.*", strings | fields},
    {"Array.*", fields},
    {"Object.*", fields},
    {"Object*", {}},
    {"EEClass.*", fields | statics | names},
    {"FieldDesc.*", fields | statics},
    {"MethodDesc*", delegates},
    {"DynamicMethodDesc.*", delegates},
    {"Precode*", delegates},
    {"FixupPrecodeData.*", delegates},
    {"StubPrecodeData.*", delegates},
    {"PlatformMetadata", delegates},

    {"SyncTableEntries", sync_blocks | ref_counts},
    {"SyncTableEntry.*", sync_blocks | ref_counts},
    {"SyncBlockCache*", sync_blocks},
    {"SyncBlock.Lock", sync_blocks},
    {"SyncBlock.ThinLock", sync_blocks},
    {"SyncBlock.*", ref_counts},
    {"InteropSyncBlockInfo.*", ref_counts},
    {"ComCallWrapper.*", ref_counts},
    {"SimpleComCallWrapper.*", ref_counts},
    {"ComRefcountMask", ref_counts},
    {"Feature*", ref_counts | handles},

    {"HandleSegmentSize", gc},
    {"Handle*", handles},
    {"TableSegment.*", handles},
    {"InitialHandleTableArraySize", handles},
    {"BlockInvalid", handles},
    {"DebugDestroyedHandleValue", handles},
    {"TotalCpuCount", handles},
    {"CFinalize*", finalizers | gc},
    {"GCHeap.FinalizeQueue", finalizers | gc},
    {"GCHeapFinalizeQueue", finalizers | gc},
    {"HeapSegment.*", segments},
    {"MinObjectSize", {}},
    // All others belong to the GC.
    {"*", gc},
};

bool matches(std::string_view pattern, std::string_view name) {
  const std::size_t star = pattern.find('*');
  if (star == pattern.npos)
    return pattern == name;
  return name.starts_with(pattern.substr(0, star)) && name.ends_with(pattern.substr(star + 1));
}

AnswerParts parts_of_value(std::string_view name) {
  for (const Value &value : values)
    if (matches(value.name, name))
      return value.parts;
  return {};
}

// If values of other parts are missing, the answer has gaps or lacks names. Readers see that, so it is not an effect.
Effect effect_of(AnswerParts parts) {
  return parts.meets(life_parts) ? Effect::liveness : parts.has(contexts) ? Effect::numbers : Effect::none;
}

// Returns "A, B and 3 more".
std::string list_of(const std::vector<std::string> &names) {
  constexpr u64 most = 6;
  std::string out;
  for (u64 i = 0; i < std::min<u64>(names.size(), most); ++i)
    out += (i ? ", " : "") + names[i];
  return names.size() > most ? out + " and " + std::to_string(names.size() - most) + " more" : out;
}

} // namespace

AnswerParts parts_of(const Verb &verb, const Plan &plan) {
  const bool follows_references = plan.certain().has(Pass::references);
  return follows_references ? verb.parts | life_parts : verb.parts;
}

void add_missing_parts(const ContractDescriptor &descriptor, AnswerParts wanted, Notes &notes) {
  if (descriptor.try_number("FeatureCOMInterop").value_or(0) == 0)
    wanted = wanted.without(ref_counts); // there are no reference counts
  struct Missing {
    std::vector<std::string> names;
    Effect effect = Effect::none;
  };
  std::vector<Missing> by_part(std::size(texts));
  for (const auto &[name, why] : descriptor.missing) {
    // The value is published, so it is used, although not all checks confirm it.
    const AnswerParts parts = descriptor.has(name) ? AnswerParts() : parts_of_value(name) & wanted;
    if (parts.empty())
      continue;
    const Effect effect = effect_of(parts);
    // One note is enough, for the first of its parts.
    const u64 first = static_cast<u64>(std::countr_zero(parts.bits()));
    if (Note *of_reader = notes.find(name))
      of_reader->effect = std::max(of_reader->effect, effect);
    else if (name.starts_with("contract "))
      notes.add({Subject::runtime, effect, "the " + name + " " + why + "; " + texts[first], "", name});
    else {
      by_part[first].names.push_back(name);
      by_part[first].effect = std::max(by_part[first].effect, effect);
    }
  }
  std::vector<std::string> doubted;
  for (const auto &[name, why] : descriptor.doubted)
    if (parts_of_value(name).meets(wanted))
      doubted.push_back(name);
  if (!doubted.empty())
    notes.add(Subject::runtime, Effect::none,
              "used as the target publishes it, although memory does not confirm it: " + list_of(doubted) +
                  " (dnheap contract --table doubted says why)");
  for (u64 i = 0; i < std::size(texts); ++i)
    if (!by_part[i].names.empty())
      notes.add(Subject::runtime, by_part[i].effect,
                std::string(texts[i]) + ": not found: " + list_of(by_part[i].names) +
                    " (dnheap contract --table missing says what was tried)");
}

void add_missing_parts(const Snapshot &snapshot, AnswerParts wanted, const Verb &verb, report::Answer &answer) {
  if (!answer.completeness)
    return;
  Notes &notes = answer.completeness->notes;
  if (!verb.tells_missing_parts)
    return add_missing_parts(snapshot.runtime().descriptor(), wanted, notes);
  Notes all = notes;
  add_missing_parts(snapshot.runtime().descriptor(), wanted, all);
  notes.add_all(all.up_to(Effect::none));
}

bool is_known_missing(std::string_view value) {
  return std::any_of(std::begin(values), std::end(values),
                     [&](const Value &v) { return std::string_view(v.name) != "*" && matches(v.name, value); });
}

} // namespace dnheap
