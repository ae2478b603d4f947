#include "runtime/coreclr/code/code_lookup.h"

namespace dnheap {

CodeLookup::CodeLookup(const Target &target, const ContractDescriptor &d)
    : map_(target.memory, d, d.try_number("ExecutionManagerCodeRangeMapAddress").value_or(0)), jit_(target, d),
      ready_to_run_(target, d) {
  if (!map_.is_known()) {
    auto why = d.missing.find("ExecutionManagerCodeRangeMapAddress");
    why_not_ = "the place of the runtime's map of code is unknown";
    if (why != d.missing.end())
      why_not_ += ": " + why->second;
  }
}

std::optional<CodeBlock> CodeLookup::find(Address ip) const {
  const std::optional<RangeSection> section = map_.find(ip);
  if (!section || section->is_stubs())
    return std::nullopt;
  if (section->ready_to_run_module)
    return ready_to_run_.find(*section, ip);
  return section->is_code_heap() ? jit_.find(*section, ip) : std::nullopt;
}

std::optional<std::vector<Address>> CodeLookup::compiled_methods() const {
  std::vector<Address> out;
  for (const RangeSection &section : map_.sections())
    if (section.is_code_heap()) {
      const std::optional<std::vector<Address>> of_heap = jit_.methods(section);
      if (!of_heap)
        return std::nullopt;
      out.insert(out.end(), of_heap->begin(), of_heap->end());
    }
  return out;
}

} // namespace dnheap
