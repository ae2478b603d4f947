#include "runtime/corert/core_rt.h"

#include "base/text.h"
#include "runtime/corert/nf16_find.h"

namespace dnheap {

namespace {

FoundNf16Header find_header(const Target &target, const Module &module) {
  if (std::optional<FoundNf16Header> found = find_nf16_header(target, module))
    return *found;
  throw Error("no CoreRT debug header (NF16) in " + std::string(module.file_name()) +
              ": neither exported nor found by its cookie");
}

// Makes a descriptor of the format's contents, which only serves to list what is known of a target; nothing is read
// through it.
ContractDescriptor describe(const Target &target, const FoundNf16Header &found) {
  const Nf16Header header = read_nf16_header(target.memory, found.address);
  ContractDescriptor out;
  // Readers of anything beyond the heap ask for these values first, so their absence is explained here.
  for (const char *name : {"GCIdentifiers", "HandleMaxInternalTypes"})
    out.missing[name] =
        "CoreRT's memory format (NF16) does not have it: the format describes only segments and objects";
  out.found_by = "NF16 header at " + hex(header.address) + ", " + found.how;
  for (u64 i = 0; i < nf16_section_count; ++i) {
    const Nf16Contract &contract = header.contracts[i];
    const std::string name = name_of(static_cast<Nf16Section>(i));
    if (!contract.problem.empty()) {
      out.missing[name] = contract.problem;
      continue;
    }
    out.contracts[name] = std::to_string(contract.major_version) + "." + std::to_string(contract.minor_version);
    out.contract_origin[name] = Origin::published;
  }
  GcNf16 gc(target.memory, header);
  if (!gc.workstation_gc_problem().empty())
    return out;
  const WorkstationGcNf16 &w = gc.workstation_gc();
  auto field = [&](const char *type, const char *name, u32 offset) { out.types[type].fields[name].offset = offset; };
  field("generation", "allocation_context", w.generation_allocation_context);
  field("generation", "allocation_start", w.generation_allocation_start);
  field("generation", "start_segment", w.generation_start_segment);
  out.types["generation"].size = w.size_of_generation;
  field("heap_segment", "mem", w.heap_segment_mem);
  field("heap_segment", "allocated", w.heap_segment_allocated);
  field("heap_segment", "next", w.heap_segment_next);
  field("alloc_context", "alloc_ptr", w.alloc_context_alloc_ptr);
  field("alloc_context", "alloc_limit", w.alloc_context_alloc_limit);
  auto global = [&](const char *name, u64 number, bool indirect) {
    Global &global = out.globals[name];
    global.number = number;
    global.indirect = indirect;
  };
  global("generation_table", w.generation_table_addr, true);
  global("alloc_allocated", w.alloc_allocated_addr, true);
  global("ephemeral_heap_segment", w.ephemeral_heap_segment_addr, true);
  global("number_generations", w.number_generations, false);
  global("min_object_size", w.min_object_size, false);
  return out;
}

} // namespace

CoreRt::CoreRt(const Target &target, const Module &module, const RuntimeHints &hints)
    : CoreRt(target, module, find_header(target, module), hints) {}

CoreRt::CoreRt(const Target &target, const Module &module, const FoundNf16Header &found, const RuntimeHints &hints)
    : Runtime(target, module, "", describe(target, found)), header_(read_nf16_header(target.memory, found.address)),
      gc_(target.memory, header_), thread_contexts_(hints.allocation_contexts),
      types_(target, hints.eetype_contract ? read_eetype_contract(target.memory, *hints.eetype_contract)
                                           : EETypeContractNf16()) {
  if (gc_.workstation_gc_problem().empty())
    look_for_heap();
}

std::vector<GCHeapSegment> CoreRt::heap_segments(Notes &notes) const {
  std::vector<GCHeapSegment> out;
  if (const std::string &problem = gc_.workstation_gc_problem(); !problem.empty())
    notes.add(Subject::heap, Effect::numbers, problem);
  else
    for (const GCHeapSegmentInfo &segment : gc_.enumerate_heap_segments(notes))
      out.push_back({segment, 0});
  return out;
}

// The specification leaves open the contracts that would lead to the threads' contexts. If a thread has a context that
// the hints do not list, the walk finds no object there, and reports a gap.
std::vector<AllocationContext> CoreRt::allocation_contexts(Notes &notes) const {
  if (!gc_.workstation_gc_problem().empty())
    return {};
  return gc_.get_allocation_contexts(thread_contexts_, notes);
}

u64 CoreRt::min_object_size() const {
  return gc_.workstation_gc_problem().empty() ? gc_.workstation_gc().min_object_size : Runtime::min_object_size();
}

std::optional<bool> CoreRt::gc_structures_valid(Notes &notes) const {
  std::string why = gc_.gc_problem();
  try {
    if (why.empty())
      return gc_.get_gc_structures_valid();
  } catch (const Error &e) {
    why = e.what();
  }
  notes.add(Subject::gc, Effect::numbers, "unknown whether a GC was in progress: " + why);
  return std::nullopt;
}

} // namespace dnheap
