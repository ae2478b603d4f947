// ModuleStatics: .NET 8. A module has a DomainLocalModule {assembly, dynamic classes, their number, 0, GC base, number
// of the module, …}, and each thread has a ThreadLocalModule {dynamic classes, their number, handle of an object[], …}
// per module: src/coreclr/vm/appdomain.hpp and threadstatics.h of that version. Dynamic classes (instantiations, and
// all of collectible modules) have an entry {bases, flags} of their own.
#include "runtime/coreclr/statics/module_statics.h"

#include "base/bytes.h"
#include "runtime/object_1.h"
#include "runtime/vm/method_table_flags.h"

#include <bit>

namespace dnheap {

namespace {

constexpr u32 statics_mask = 6, dynamic_statics = 2; // bits of MTFlags; 4: for instantiations
constexpr u32 class_is_collectible = 8;              // a flag of an entry
constexpr u64 max_modules = 65536;

} // namespace

ModuleStatics::ModuleStatics(const Memory &memory, const ContractDescriptor &descriptor,
                             const RuntimeTypeSystem1 &types, const FieldDescs &fields)
    : memory_(&memory), types_(&types), fields_(&fields), p_(memory.format().pointer_size) {
  auto offset = [&](const char *type, const char *field) -> u64 {
    std::optional<i64> found = descriptor.try_offset(type, field);
    if (!found)
      missing_ += (missing_.empty() ? "" : ", ") + std::string(type) + "." + field;
    return static_cast<u64>(found.value_or(0));
  };
  flags2_ = offset("MethodTable", "MTFlags2");
  module_ = offset("MethodTable", "Module");
  local_module_ = offset("Module", "DomainLocalModule");
  dynamic_id_ = offset("EEClass", "ModuleDynamicID");
  per_inst_info_ = offset("MethodTable", "PerInstInfo");
  virtuals_ = offset("MethodTable", "NumVirtuals");
  if (std::optional<i64> found = descriptor.try_offset("Thread", "ThreadLocalModules"))
    thread_modules_ = static_cast<u64>(*found);
}

// True for all types, since a MethodTable does not show whether its type has statics.
bool ModuleStatics::has_statics(Address) const { return true; }

// Returns the DomainLocalModule of the module that loaded the type; in 8.0 MethodTable.Module is that module.
Address ModuleStatics::local_module(Address mt) const {
  Address module = memory_->try_pointer(mt + module_).value_or(0);
  return module ? memory_->try_pointer(module + local_module_).value_or(0) : 0;
}

// Returns the number of the type's entry among the dynamic classes. An instantiation's number lies in its MethodTable,
// behind the vtable's indirections and those optional members that follow them; the first two optional members lie in
// the fixed part, before the vtable.
std::optional<u64> ModuleStatics::dynamic_id(Address mt, u32 kind) const {
  if (kind == dynamic_statics)
    return memory_->try_load<u32>(types_->class_of(mt) + dynamic_id_);
  std::optional<u16> flags2 = memory_->try_load<u16>(mt + flags2_), virtuals = memory_->try_load<u16>(mt + virtuals_);
  if (!flags2 || !virtuals)
    return std::nullopt;
  u64 optional_members = static_cast<u64>(std::popcount(*flags2 & 0x1fu));
  u64 behind = optional_members > 2 ? optional_members - 2 : 0;
  Address info = mt + per_inst_info_ + 2 * p_ + p_ * ((u64{*virtuals} + 7) / 8) + p_ * behind;
  return memory_->try_pointer(info + p_);
}

std::optional<StaticPlace> ModuleStatics::statics(Address mt) const {
  std::optional<u32> flags = types_->flags(mt);
  Address local = local_module(mt);
  if (!flags || !local)
    return std::nullopt;
  u32 kind = *flags & mt_has_component_size ? 0 : *flags & statics_mask;
  if (kind == 0) {
    Address base = memory_->try_pointer(local + 4 * p_).value_or(0);
    return base ? std::optional(StaticPlace{base, 0, true}) : std::nullopt;
  }
  std::optional<u64> id = dynamic_id(mt, kind);
  if (!id || *id >= memory_->try_pointer(local + 2 * p_).value_or(0))
    return std::nullopt;
  Address info = memory_->try_pointer(local + p_).value_or(0) + 2 * p_ * *id;
  Address entry = memory_->try_pointer(info).value_or(0);
  if (!entry)
    return std::nullopt;
  if (memory_->try_load<u32>(info + p_).value_or(0) & class_is_collectible)
    return collectible_place(mt, memory_->try_pointer(entry));
  Address base = memory_->try_pointer(entry).value_or(0);
  return base ? std::optional(StaticPlace{base, 0, true}) : std::nullopt;
}

std::optional<StaticPlace> ModuleStatics::thread_statics(Address mt, const ThreadData &thread) const {
  std::optional<u32> flags = types_->flags(mt);
  Address local = local_module(mt);
  Address modules = thread_modules_ ? memory_->try_pointer(thread.address + *thread_modules_).value_or(0) : 0;
  if (!flags || !local || !modules)
    return std::nullopt;
  u64 index = memory_->try_pointer(local + 5 * p_).value_or(max_modules);
  u64 count = memory_->try_pointer(thread.address + *thread_modules_ + p_).value_or(0);
  Address module = index < count && index < max_modules ? memory_->try_pointer(modules + index * p_).value_or(0) : 0;
  if (!module)
    return std::nullopt;
  u32 kind = *flags & mt_has_component_size ? 0 : *flags & statics_mask;
  Address handle = 0;
  if (kind == 0) {
    handle = memory_->try_pointer(module + 2 * p_).value_or(0);
  } else {
    std::optional<u64> id = dynamic_id(mt, kind);
    if (!id || *id >= memory_->try_pointer(module + p_).value_or(0))
      return std::nullopt;
    Address info = memory_->try_pointer(module).value_or(0) + 2 * p_ * *id;
    Address entry = memory_->try_pointer(info).value_or(0);
    if (!entry)
      return std::nullopt;
    if (memory_->try_load<u32>(info + p_).value_or(0) & class_is_collectible)
      return collectible_place(mt, memory_->try_pointer(entry));
    handle = memory_->try_pointer(entry).value_or(0);
  }
  Address array = handle ? memory_->try_pointer(handle).value_or(0) : 0;
  return array ? std::optional(StaticPlace{array + 2 * p_, array, true}) : std::nullopt;
}

std::optional<StaticPlace> ModuleStatics::collectible_place(Address mt, std::optional<u64> loader_handle) const {
  Address array = loader_handle && *loader_handle ? of_loader_handle(mt, *loader_handle) : 0;
  return array ? std::optional(StaticPlace{array + 2 * p_, array, false}) : std::nullopt;
}

// LOADERHANDLE (src/coreclr/vm/loaderallocator.inl): an odd handle is the address of the slot plus 1; others are twice
// an index, counted from 1, into m_slots of the managed LoaderAllocator.
Address ModuleStatics::of_loader_handle(Address mt, u64 handle) const {
  if (handle & 1)
    return memory_->try_pointer(handle - 1).value_or(0);
  Address allocator = types_->loader_allocator_object(mt);
  Address type = allocator ? method_table_of(*memory_, allocator) : 0;
  std::optional<std::vector<FieldDesc>> fields = type ? fields_->own_fields(type) : std::nullopt;
  for (const FieldDesc &field : fields ? *fields : std::vector<FieldDesc>())
    if (!field.is_static && field.offset && field.is_reference() && fields_->name(field) == "m_slots") {
      Address slots = memory_->try_pointer(allocator + p_ + *field.offset).value_or(0);
      u64 index = (handle >> 1) - 1;
      if (slots && index < memory_->try_load<u32>(slots + p_).value_or(0))
        return memory_->try_pointer(slots + 2 * p_ + index * p_).value_or(0);
    }
  return 0;
}

} // namespace dnheap
