#include "analysis/missing_parts.h"

#include <algorithm>
#include <bit>

namespace dnheap {

namespace {

// Parts of answers.
enum Part : u32 {
  contexts = 1 << 0,
  stacks = 1 << 1,
  handles = 1 << 2,
  finalizers = 1 << 3,
  statics = 1 << 4,
  thread_statics = 1 << 5,
  collectible = 1 << 6,
  ref_counts = 1 << 7,
  names = 1 << 8,
  fields = 1 << 9,
  delegates = 1 << 10,
  strings = 1 << 11,
  sync_blocks = 1 << 12,
  locks = 1 << 13,
  thread_ids = 1 << 14,
  segments = 1 << 15,
  gc = 1 << 16,
  source = 1 << 17, // what the layout was learned from
};
constexpr u32 roots = stacks | handles | finalizers | statics | thread_statics;
constexpr u32 life = roots | collectible; // of a reference count that is not known nobody dies
constexpr u32 threads = contexts | stacks | thread_statics | locks | thread_ids;

// What may be wrong without them, in their order.
constexpr const char *texts[] = {
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
    "sync blocks may not be known",
    "whether the threads exist that hold locks may not be known",
    "threads may have no numbers",
    "data of segments may be missing",
    "data of the GC may be missing",
    "the layout was learned from elsewhere",
};

struct Value {
  const char *name; // of a value; of all that begin so, if it ends with '*'
  u32 parts;
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
    {"DotNetRuntimeDebugHeader", source},
    // CoreRT: sections of its header, and what it has nothing in place of.
    {"GC Contract", gc},
    {"Workstation GC Contract", contexts | segments | gc},
    {"RuntimeInstance Contract", threads},
    {"Thread Store Contract", threads},
    {"Thread Contract", threads},

    {"ThreadStore", threads},
    {"ThreadStore.ThreadCount", 0}, // only compared with
    {"ThreadStore.*", threads},
    {"Thread.LinkNext", threads},
    {"Thread.OSId", stacks | thread_ids},
    {"Thread.Id", locks | thread_ids},
    {"Thread.CachedStack*", stacks},
    {"Thread.ThreadLocal*", thread_statics},
    {"Thread.InlinedThreadLocalStatics", thread_statics},
    {"Thread.AllocContext", contexts},
    {"Thread.RuntimeThreadLocals", contexts},
    {"Thread.*", 0}, // exceptions and the like, which nobody asks for
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

    {"AppDomain*", statics | fields},
    {"SystemDomain*", statics | fields},
    {"Assembly.*", statics | fields},
    {"ArrayList*", statics | fields},
    {"Module.TypeDefToMethodTableMap", names | fields | statics},
    {"Module.AvailableTypeParams", fields | statics},
    {"Module.DomainLocalModule", statics},
    {"Module.LoaderAllocator", collectible | statics},
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
    {"MethodTable*", names | fields | statics | delegates}, // flags: globals
    {"GenericsDictInfo.*", names | fields | statics},
    {"TypeDesc.*", names},
    {"ParamTypeDesc.*", names},
    {"FnPtrTypeDesc.*", names},
    {"TypeVarTypeDesc.*", names},
    {"StringMethodTable", names | strings | fields},
    {"ObjectMethodTable", names},
    {"FreeObjectMethodTable", names},
    {"ExceptionMethodTable", 0},
    {"String.*", strings | fields},
    {"Array.*", fields},
    {"Object.*", fields},
    {"Object*", 0},
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
    {"MinObjectSize", 0},
    // All else is of the GC.
    {"*", gc},
};

struct VerbRow {
  const char *verb;
  u32 parts;
};
constexpr u32 everything = ~u32{0};
constexpr VerbRow verb_rows[] = {
    {"stat", contexts | names},
    {"segments", contexts | segments},
    {"objects", contexts | names},
    {"show", contexts | names | fields | delegates | strings | life | thread_ids},
    {"path", contexts | names | fields | delegates | life | thread_ids},
    {"retained", contexts | names | life | thread_ids},
    {"handles", contexts | names | handles | ref_counts},
    {"roots", contexts | names | roots | ref_counts | thread_ids},
    {"gc", gc | contexts | thread_ids},
    {"info", everything},
    {"verify", contexts | names | fields | sync_blocks | locks | life},
    {"exceptions", contexts | names | fields | delegates | handles},
    {"locks", contexts | names | fields | delegates | sync_blocks | locks | stacks | thread_ids | thread_statics},
    {"async", contexts | names | fields | delegates},
    {"contract", 0}, // shows the values themselves
    {"extract", everything},
    {"ps", 0},
};

bool matches(std::string_view pattern, std::string_view name) {
  const std::size_t star = pattern.find('*');
  if (star == pattern.npos)
    return pattern == name;
  return name.starts_with(pattern.substr(0, star)) && name.ends_with(pattern.substr(star + 1));
}

u32 parts_of_value(std::string_view name) {
  for (const Value &value : values)
    if (matches(value.name, name))
      return value.parts;
  return 0;
}

u32 parts_of_verb(std::string_view verb, const Question &question) {
  u32 out = everything;
  for (const VerbRow &row : verb_rows)
    if (verb == row.verb)
      out = row.parts;
  return question.live || question.dead || question.by == "retained" ? out | life : out;
}

// Published, though not all that is looked for bears it out: then it is used.
bool is_there(const ContractDescriptor &descriptor, std::string_view name) {
  const std::size_t dot = name.find('.');
  return dot == name.npos ? descriptor.find_global(name) != nullptr
                          : descriptor.find_field(name.substr(0, dot), name.substr(dot + 1)) != nullptr;
}

// "A, B and 3 more"
std::string list_of(const std::vector<std::string> &names) {
  constexpr u64 most = 6;
  std::string out;
  for (u64 i = 0; i < std::min<u64>(names.size(), most); ++i)
    out += (i ? ", " : "") + names[i];
  return names.size() > most ? out + " and " + std::to_string(names.size() - most) + " more" : out;
}

} // namespace

MissingParts missing_parts(const ContractDescriptor &descriptor, std::string_view verb, const Question &question,
                           const std::vector<std::string> &said) {
  MissingParts out;
  u32 wanted = parts_of_verb(verb, question);
  if (descriptor.try_number("FeatureCOMInterop").value_or(0) == 0)
    wanted &= ~u32{ref_counts}; // there are none
  std::vector<std::vector<std::string>> names_by_part(std::size(texts));
  for (const auto &[name, why] : descriptor.missing) {
    const u32 parts = is_there(descriptor, name) ? 0 : parts_of_value(name) & wanted;
    out.is_incomplete |= (parts & (life | contexts)) != 0;
    auto names_it = [&](const std::string &note) { return note.find(name) != note.npos; };
    if (!parts || std::any_of(said.begin(), said.end(), names_it))
      continue;
    // One note is enough, under the first of its parts.
    const u64 first = static_cast<u64>(std::countr_zero(parts));
    if (name.starts_with("contract "))
      out.notes.push_back("the " + name + " " + why + "; " + texts[first]);
    else
      names_by_part[first].push_back(name);
  }
  for (u64 i = 0; i < std::size(texts); ++i)
    if (!names_by_part[i].empty())
      out.notes.push_back(std::string(texts[i]) + ": not found: " + list_of(names_by_part[i]) +
                          " (dnheap contract --table missing says what was tried)");
  return out;
}

void add_missing_parts(const ContractDescriptor &descriptor, const Verb &verb, const Question &question,
                       report::Answer &answer) {
  if (!answer.completeness)
    return;
  std::vector<std::string> &notes = answer.completeness->notes;
  const MissingParts missing = missing_parts(descriptor, verb.name, question, notes);
  notes.insert(notes.end(), missing.notes.begin(), missing.notes.end());
  if (!missing.is_incomplete || verb.name == std::string_view("info"))
    return;
  answer.completeness->complete = false;
  if (answer.headline.find("INCOMPLETE") == answer.headline.npos)
    answer.headline += "; INCOMPLETE: see the notes";
}

bool is_known_missing(std::string_view value) {
  return std::any_of(std::begin(values), std::end(values),
                     [&](const Value &v) { return std::string_view(v.name) != "*" && matches(v.name, value); });
}

bool is_known_verb(std::string_view verb) {
  return std::any_of(std::begin(verb_rows), std::end(verb_rows), [&](const VerbRow &row) { return verb == row.verb; });
}

} // namespace dnheap
