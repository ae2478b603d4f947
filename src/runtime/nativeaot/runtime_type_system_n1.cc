#include "runtime/nativeaot/runtime_type_system_n1.h"

#include "base/text.h"
#include "image/module_image.h"
#include "runtime/nativeaot/method_table_flags.h"

#include <algorithm>

namespace dnheap {

namespace {

// MethodTable.Flags: src/coreclr/nativeaot/Runtime/inc/MethodTable.h. Flags that some version publishes are members,
// with the values below if the target does not publish them.
enum : u32 {
  usual_has_component_size = 0x80000000, // the low 16 bits are then the component size
  usual_kind_mask = 0x00030000,
  usual_has_finalizer = 0x00100000,
  usual_is_generic = 0x02000000,
  usual_element_type_shift = 26,
  usual_element_type_mask = 0x7c000000,
};
constexpr u32 largest_base_size = 1 << 30;
constexpr u32 most_series = 512;

u32 continuation_hash(NativeHashing how) {
  return native_type_hash({"System.Runtime.CompilerServices", {"Continuation"}}, how);
}

} // namespace

RuntimeTypeSystemN1::RuntimeTypeSystemN1(const Target &target, const Module &module, const ContractDescriptor &d)
    : memory_(&target.memory), initial_(&target.initial), module_(&module), p_(target.format().pointer_size) {
  auto at = [&](const char *field) { return static_cast<u64>(d.offset("MethodTable", field)); };
  at_ = {at("Flags"),         at("BaseSize"), at("RelatedType"), at("NumVtableSlots"),
         at("NumInterfaces"), at("HashCode"), at("VTable"),      at("GenericArity")};
  auto flag = [&](const char *name, u32 usual) { return static_cast<u32>(d.try_number(name).value_or(usual)); };
  kind_mask_ = flag("MethodTableEETypeKindMask", usual_kind_mask);
  has_component_size_ = flag("MethodTableHasComponentSizeFlag", usual_has_component_size);
  has_finalizer_ = flag("MethodTableHasFinalizerFlag", usual_has_finalizer);
  is_generic_ = flag("MethodTableIsGenericFlag", usual_is_generic);
  element_type_shift_ = flag("MethodTableElementTypeShift", usual_element_type_shift) & 31;
  element_type_mask_ = flag("MethodTableElementTypeMask", usual_element_type_mask);
  has_pointers_ = static_cast<u32>(d.number("MethodTableHasPointersFlag"));
  has_optional_fields_ = static_cast<u32>(d.number("MethodTableHasOptionalFieldsFlag"));
  arity_mask_ = static_cast<u32>(d.number("MethodTableGenericArityMask"));
  free_ = d.number("FreeObjectMethodTable");
  if (d.find_global("FreeObjectMethodTable")->indirect)
    free_ = memory_->pointer(free_, "the type of free objects");
  if (std::optional<ModuleImage> image = ModuleImage::at(*memory_, module.base)) {
    start_ = image->base();
    end_ = image->end();
  }
  std::optional<ReadyToRun> header = find_ready_to_run(target, module);
  if (!header)
    throw Error("the tables of " + module.path + ", by which its types are known, are not in this dump: give the " +
                "folder of the program's file with --modules");
  ready_to_run_ = std::move(*header);
  cell_ = ready_to_run_.start_of(ReadyToRun::type_manager_indirection);
  std::optional<u32> flags = load(free_, at_.flags), base = load(free_, at_.base_size);
  if (!flags || !base || (*flags & (has_component_size_ | 0xffff)) != (has_component_size_ | 1) || *base != 3 * p_)
    throw Error("the type of free objects is not at " + hex(free_) + ", where " + module.path + " says it is");
  names_.emplace(free_, "Free");
}

// The optional parts follow the virtual methods and interfaces: relative pointers of four bytes, or full pointers in
// types that the runtime made at run time. Returns where pointer number `index` leads; 0 if it is unreadable.
Address RuntimeTypeSystemN1::optional_part(Address mt, u32 flags, unsigned index) const {
  std::optional<u16> slots = memory_->try_load<u16>(mt + at_.vtable_slots),
                     interfaces = memory_->try_load<u16>(mt + at_.interfaces);
  if (!slots || !interfaces)
    return 0;
  Address at = mt + at_.vtable + (u64{*slots} + *interfaces) * p_;
  if (flags & MethodTableFlags::is_dynamic)
    return memory_->try_pointer(at + index * p_).value_or(0);
  at += u64{index} * 4;
  std::optional<u32> distance = memory_->try_load<u32>(at);
  return distance ? at + static_cast<u64>(i64{static_cast<i32>(*distance)}) : 0;
}

bool RuntimeTypeSystemN1::has_module(Address mt, u32 flags) const { return optional_part(mt, flags, 0) == cell_; }

// Reads the runs of references inside the object, from the words in front of the MethodTable: {size − base size,
// offset} for each run, the last run first; then the number of runs.
std::vector<RuntimeTypeSystemN1::Series> RuntimeTypeSystemN1::series_of(Address mt, u32 base_size) const {
  std::optional<u64> count = memory_->try_pointer(mt - p_);
  if (!count || *count == 0 || *count > most_series || *count > base_size / p_)
    return {};
  std::vector<Series> out;
  u64 last = 0;
  for (u64 i = 1; i <= *count; ++i) {
    std::optional<u64> offset = memory_->try_pointer(mt - 2 * i * p_),
                       less = memory_->try_pointer(mt - (2 * i + 1) * p_);
    if (!offset || !less)
      return {};
    u64 size = *less + base_size;
    if (p_ == 4)
      size &= 0xffffffff;
    if (*offset < std::max(last, p_) || *offset % p_ || size == 0 || size % p_ || size > base_size - p_ ||
        *offset > base_size - p_ - size)
      return {};
    last = *offset + size;
    out.push_back({*offset, size});
  }
  return out;
}

// True for System.Object, or a type with the same form.
bool RuntimeTypeSystemN1::is_root(Address mt) const {
  const std::optional<u32> flags = mt ? load(mt, at_.flags) : std::nullopt;
  return flags && related(mt) == 0 && (*flags & kind_mask_) == MethodTableFlags::kind_canonical &&
         load(mt, at_.base_size) == 3 * p_ && has_module(mt, *flags);
}

// Every type has the hash of its name, so this type can be identified without metadata.
bool RuntimeTypeSystemN1::is_continuation_parent(Address mt) const {
  const std::optional<u32> flags = mt ? load(mt, at_.flags) : std::nullopt, hash = load(mt, at_.hash);
  const std::vector<Series> next = flags ? series_of(mt, load(mt, at_.base_size).value_or(0)) : std::vector<Series>();
  return flags && hash && (*flags & kind_mask_) == MethodTableFlags::kind_canonical && has_module(mt, *flags) &&
         is_root(related(mt)) && load(mt, at_.base_size) == 4 * p_ + 8 && next.size() == 1 && next[0].offset == p_ &&
         next[0].size == p_ &&
         (hash == continuation_hash(NativeHashing::parts) || hash == continuation_hash(NativeHashing::whole));
}

bool RuntimeTypeSystemN1::is_made_up(Address mt, u32 flags, u32 base_size) const {
  if ((flags & ~has_pointers_) != 0 || !in_module(mt) || base_size % p_)
    return false;
  const Address parent = related(mt);
  return (is_root(parent) || (is_continuation_parent(parent) && base_size >= load(parent, at_.base_size))) &&
         (!(flags & has_pointers_) || !series_of(mt, base_size).empty());
}

bool RuntimeTypeSystemN1::is_continuation(Address mt) const {
  const std::optional<u32> flags = mt % p_ ? std::nullopt : load(mt, at_.flags), base = load(mt, at_.base_size);
  return flags && base && !has_module(mt, *flags) && is_made_up(mt, *flags, *base) &&
         is_continuation_parent(related(mt));
}

std::vector<RuntimeTypeSystemN1::Series> RuntimeTypeSystemN1::made_up_series(Address mt) const {
  std::optional<u32> flags = mt % p_ ? std::nullopt : load(mt, at_.flags), base = load(mt, at_.base_size);
  if (!flags || !base || !(*flags & has_pointers_) || has_module(mt, *flags) || !is_made_up(mt, *flags, *base))
    return {};
  return series_of(mt, *base);
}

Address RuntimeTypeSystemN1::parent_of(Address mt) const {
  return (load(mt, at_.flags).value_or(MethodTableFlags::kind_parameterized) & kind_mask_) ==
                 MethodTableFlags::kind_canonical
             ? related(mt)
             : 0;
}

Address RuntimeTypeSystemN1::element_of(Address mt) const {
  return (load(mt, at_.flags).value_or(0) & kind_mask_) == MethodTableFlags::kind_parameterized ? related(mt) : 0;
}

std::optional<ObjectLayout> RuntimeTypeSystemN1::object_layout(Address mt) const {
  std::optional<u32> flags = mt % p_ ? std::nullopt : load(mt, at_.flags), base = load(mt, at_.base_size);
  if (!flags || !base || *base < 2 * p_ + 4 || *base > largest_base_size)
    return std::nullopt;
  u32 component = *flags & has_component_size_ ? *flags & 0xffff : 0;
  u32 kind = *flags & kind_mask_;
  bool is_object = kind == MethodTableFlags::kind_canonical ||
                   (kind == MethodTableFlags::kind_parameterized && *flags & has_component_size_);
  if (mt != free_ && !(is_object && (has_module(mt, *flags) || is_made_up(mt, *flags, *base))))
    return std::nullopt;
  return ObjectLayout{*base, component, mt != free_ && (*flags & has_pointers_) != 0};
}

// In the order of the GCDesc.
std::vector<RuntimeTypeSystemN1::Series> RuntimeTypeSystemN1::reference_series(Address mt) const {
  const std::optional<ObjectLayout> layout = object_layout(mt);
  return layout && layout->contains_gc_pointers && !layout->component_size ? series_of(mt, layout->base_size)
                                                                           : std::vector<Series>();
}

} // namespace dnheap
