#include "runtime/corert/type_system_nf16.h"

#include "base/text.h"
#include "runtime/corert/nf16_header.h"

namespace dnheap {

namespace {

constexpr u32 max_base_size = 1 << 30; // as for CoreCLR's types: a size is never more than 2^30 + 2^16 × 2^32
constexpr u32 max_offset = 1 << 16;
// A bit of the flags, which are the two bytes behind the component size: CoreRT, src/Native/Runtime/inc/eetype.h,
// HasPointersFlag.
constexpr u16 has_pointers = 0x20;

} // namespace

EETypeContractNf16 read_eetype_contract(const Memory &memory, Address section) {
  Nf16Contract contract = read_nf16_contract(memory, section, "EEType Contract");
  if (!contract.problem.empty())
    throw Error(contract.problem);
  EETypeContractNf16 out;
  out.base_size = memory.u32_at(section + 4, "OffsetOfEETypeBaseSize");
  out.component_size = memory.u32_at(section + 8, "OffsetOfEETypeComponentSize");
  if (out.base_size > max_offset || out.component_size > max_offset)
    throw Error("the EEType Contract at " + hex(section) + " is damaged: its offsets are " +
                std::to_string(out.base_size) + " and " + std::to_string(out.component_size));
  return out;
}

// An object has a header, its EEType's address and at least four bytes of its own. CoreRT treats every component size
// but 0 as one, whatever the flags beside it are; in NativeAOT the highest flag must be set as well.
std::optional<ObjectLayout> TypeSystemNf16::object_layout(Address eetype) const {
  const u64 p = target_->format().pointer_size;
  if (eetype == 0 || eetype % p || eetype > ~u64{0} - 2 * max_offset)
    return std::nullopt;
  std::optional<u32> base_size = target_->memory.try_load<u32>(eetype + contract_.base_size);
  std::optional<u16> component_size = target_->memory.try_load<u16>(eetype + contract_.component_size);
  if (!base_size || !component_size || *base_size < 2 * p + 4 || *base_size > max_base_size)
    return std::nullopt;
  // The contract does not mention this flag; readers of the GCDesc check that themselves.
  std::optional<u16> flags = target_->memory.try_load<u16>(eetype + contract_.component_size + 2);
  return ObjectLayout{*base_size, *component_size, flags && (*flags & has_pointers)};
}

const std::string &TypeSystemNf16::name(Address eetype) {
  std::string &out = names_[eetype];
  if (out.empty()) {
    const Module *module = target_->find_module(eetype);
    out = module ? std::string(module->file_name()) + "!" + hex(eetype - module->base) : "<type " + hex(eetype) + ">";
  }
  return out;
}

Notes TypeSystemNf16::notes() const {
  Notes out;
  if (!names_.empty())
    out.add(Subject::type_names, Effect::none,
            "CoreRT's memory format has none: " + count_text(names_.size()) +
                (names_.size() == 1 ? " type is" : " types are") +
                " named by module and address in it; Free objects look like arrays");
  return out;
}

} // namespace dnheap
