#include "runtime/gc/gc_1.h"

#include "base/text.h"

#include <algorithm>

namespace dnheap {

namespace {

constexpr u32 max_heaps = 4096;
constexpr u64 max_counters = 256; // of one array

} // namespace

Gc1::Gc1(const Memory &memory, const ContractDescriptor &descriptor) : memory_(&memory), descriptor_(&descriptor) {}

// "workstation, regions, background," → {"workstation", "regions", "background"}
std::vector<std::string> Gc1::get_gc_identifiers() const {
  const Global *global = descriptor_->find_global("GCIdentifiers");
  if (!global)
    descriptor_->number("GCIdentifiers"); // throws, with the reason why it is missing
  std::vector<std::string> out;
  std::string word;
  for (char c : global->text + ",") {
    if (c == ',') {
      if (!word.empty())
        out.push_back(word);
      word.clear();
    } else if (c != ' ') {
      word += c;
    }
  }
  return out;
}

bool Gc1::has_identifier(std::string_view identifier) const {
  std::vector<std::string> ids = get_gc_identifiers();
  return std::find(ids.begin(), ids.end(), identifier) != ids.end();
}

u32 Gc1::get_gc_heap_count() const {
  if (!is_server()) {
    if (!has_identifier("workstation"))
      throw Error("GCIdentifiers names neither workstation nor server GC: " +
                  printable(descriptor_->find_global("GCIdentifiers")->text, 100));
    return 1;
  }
  u32 count = memory_->u32_at(descriptor_->number("NumHeaps"), "the number of GC heaps");
  if (count == 0 || count > max_heaps)
    throw Error("the number of GC heaps at " + hex(descriptor_->number("NumHeaps")) + " is " + std::to_string(count));
  return count;
}

bool Gc1::get_gc_structures_valid() const {
  return memory_->u32_at(descriptor_->number("StructureInvalidCount"), "StructureInvalidCount") == 0;
}

u32 Gc1::get_max_generation() const { return memory_->u32_at(descriptor_->number("MaxGeneration"), "MaxGeneration"); }

std::optional<std::pair<Address, Address>> Gc1::get_gc_bounds() const {
  std::optional<u64> lowest = try_global_pointer("GCLowestAddress"), highest = try_global_pointer("GCHighestAddress");
  if (!lowest || !highest)
    return std::nullopt;
  return std::pair{*lowest, *highest};
}

// The specification's tables call this value and the next one numbers; they are addresses of variables
// (gc/datadescriptor).
std::optional<u32> Gc1::get_current_gc_state() const {
  std::optional<u64> variable = descriptor_->try_number("CurrentGCState");
  return variable && has_identifier("background") ? memory_->try_load<u32>(*variable) : std::nullopt;
}

std::optional<i32> Gc1::try_get_gc_dynamic_adaptation_mode() const {
  std::optional<u64> variable = descriptor_->try_number("DynamicAdaptationMode");
  if (!variable || !has_identifier("dynamic_heap"))
    return std::nullopt;
  std::optional<u32> mode = memory_->try_load<u32>(*variable);
  return mode ? std::optional(static_cast<i32>(*mode)) : std::nullopt;
}

// The specification's text uses GCGlobalMechanisms and its length, but its tables lack them.
std::optional<std::vector<u64>> Gc1::get_global_mechanisms() const {
  return words_at(descriptor_->try_number("GCGlobalMechanisms"), "GlobalMechanismsLength");
}

std::optional<AllocationContext> Gc1::get_global_allocation_context() const {
  std::optional<u64> global = descriptor_->try_number("GlobalAllocContext");
  if (!global)
    return std::nullopt;
  Address context =
      *global + static_cast<u64>(descriptor_->try_offset("EEAllocContext", "GCAllocationContext").value_or(0));
  return AllocationContext{
      memory_->pointer(context + static_cast<u64>(descriptor_->offset("GCAllocContext", "Pointer")),
                       "GlobalAllocContext"),
      memory_->pointer(context + static_cast<u64>(descriptor_->offset("GCAllocContext", "Limit")),
                       "GlobalAllocContext")};
}

Address Gc1::global_pointer(const char *name, const char *what) const {
  return memory_->pointer(descriptor_->number(name), what);
}

std::optional<u64> Gc1::try_global_pointer(const char *name) const {
  std::optional<u64> variable = descriptor_->try_number(name);
  return variable ? memory_->try_pointer(*variable) : std::nullopt;
}

// Returns as many pointer-sized words as the global `length` has.
std::optional<std::vector<u64>> Gc1::words_at(std::optional<Address> address, const char *length) const {
  std::optional<u64> count = descriptor_->try_number(length);
  if (!address || !count || *count > max_counters)
    return std::nullopt;
  std::vector<u64> out;
  for (u64 i = 0; i < *count; ++i) {
    std::optional<u64> word = memory_->try_pointer(*address + i * memory_->format().pointer_size);
    if (!word)
      return std::nullopt;
    out.push_back(*word);
  }
  return out;
}

} // namespace dnheap
