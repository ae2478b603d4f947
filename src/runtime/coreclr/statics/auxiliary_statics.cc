// AuxiliaryStatics: .NET 9 and later. In front of a MethodTable's auxiliary data lie the bases of its statics, and in
// front of those the indexes of its thread statics: src/coreclr/vm/methodtable.h, DynamicStaticsInfo and
// ThreadStaticsInfo.
#include "runtime/coreclr/statics/auxiliary_statics.h"

namespace dnheap {

namespace {

constexpr u32 mt2_has_dynamic_statics = 2; // a bit of MTFlags2; no target publishes its name
constexpr u32 no_index = 0xffffffff;
constexpr u64 max_in_flight = 1 << 16;
// A thread's array lacks the first places: their indexes are for native code.
constexpr u64 unused_places = 2;
enum IndexType : u8 { non_collectible = 0, collectible = 1, direct = 2 };

} // namespace

AuxiliaryStatics::AuxiliaryStatics(const Memory &memory, const ContractDescriptor &descriptor,
                                   const RuntimeTypeSystem1 &types)
    : memory_(&memory), types_(&types), p_(memory.format().pointer_size) {
  auto offset = [&](const char *type, const char *field, u64 otherwise) {
    std::optional<i64> found = descriptor.try_offset(type, field);
    return found ? static_cast<u64>(*found) : otherwise;
  };
  auto optional = [&](const char *type, const char *field) -> std::optional<u64> {
    std::optional<i64> found = descriptor.try_offset(type, field);
    if (!found)
      missing_ += (missing_.empty() ? "" : ", ") + std::string(type) + "." + field;
    return found ? std::optional(static_cast<u64>(*found)) : std::nullopt;
  };
  flags2_ = optional("MethodTable", "MTFlags2");
  auxiliary_ = optional("MethodTable", "AuxiliaryData");
  local_data_ = optional("Thread", "ThreadLocalDataPtr");
  unused_ = descriptor.try_number("NumberOfTlsOffsetsNotUsedInNoncollectibleArray").value_or(unused_places);
  // ThreadLocalData and the infos have had the same layout since .NET 9.
  count_ = offset("ThreadLocalData", "NonCollectibleTlsDataCount", 0);
  collectible_count_ = offset("ThreadLocalData", "CollectibleTlsDataCount", 4);
  array_ = offset("ThreadLocalData", "NonCollectibleTlsArrayData", 8);
  collectible_array_ = offset("ThreadLocalData", "CollectibleTlsArrayData", 8 + p_);
  in_flight_ = offset("ThreadLocalData", "InFlightData", 8 + 3 * p_);
  gc_index_ = offset("ThreadStaticsInfo", "GCTlsIndex", 4);
  gc_statics_ = offset("DynamicStaticsInfo", "GCStatics", 0);
}

std::string AuxiliaryStatics::why_missing() const { return flags2_ && auxiliary_ ? "" : missing_; }

bool AuxiliaryStatics::has_statics(Address mt) const {
  return memory_->try_load<u32>(mt + *flags2_).value_or(0) & mt2_has_dynamic_statics;
}

// DynamicStaticsInfo {GC base, other base, MethodTable} ends at the start of the auxiliary data. The lowest bit of a
// base is set until the type has been initialized.
std::optional<StaticPlace> AuxiliaryStatics::statics(Address mt) const {
  std::optional<u64> data = memory_->try_pointer(mt + *auxiliary_);
  if (!data || memory_->try_pointer(*data - p_) != mt)
    return std::nullopt;
  Address base = memory_->try_pointer(*data - 3 * p_ + gc_statics_).value_or(0) & ~u64{1};
  if (!base)
    return std::nullopt;
  return StaticPlace{base, 0, !types_->is_collectible(mt)};
}

// ThreadStaticsInfo {index, GC index, FieldDescs, DynamicStaticsInfo}.
std::optional<StaticPlace> AuxiliaryStatics::thread_statics(Address mt, const ThreadData &thread) const {
  std::optional<u64> data = memory_->try_pointer(mt + *auxiliary_),
                     local = local_data_ ? memory_->try_pointer(thread.address + *local_data_) : std::nullopt;
  if (!data || memory_->try_pointer(*data - p_) != mt || !local || !*local)
    return std::nullopt;
  std::optional<u32> index = memory_->try_load<u32>(*data - 4 * p_ - 8 + gc_index_);
  if (!index || *index == no_index)
    return std::nullopt;
  u64 place = *index & 0xffffff;
  Address object = 0;
  u8 type = static_cast<u8>(*index >> 24);
  if (type == non_collectible) {
    Address array = memory_->try_pointer(*local + array_).value_or(0);
    if (array && place >= unused_ && place < memory_->try_load<u32>(*local + count_).value_or(0))
      object = memory_->try_pointer(array + 2 * p_ + (place - unused_) * p_).value_or(0);
  } else if (type == collectible) {
    Address handles = memory_->try_pointer(*local + collectible_array_).value_or(0);
    if (handles && place < memory_->try_load<u32>(*local + collectible_count_).value_or(0))
      object = object_of_handle(memory_->try_pointer(handles + place * p_).value_or(0));
  } else if (type == direct) {
    return StaticPlace{*local + place, 0, false}; // the GC does not scan that place
  }
  if (!object && type <= collectible)
    object = in_flight(*local, *index);
  if (!object)
    return std::nullopt;
  return StaticPlace{object, object, type == non_collectible && !types_->is_collectible(mt)};
}

Address AuxiliaryStatics::object_of_handle(Address handle) const {
  return handle ? memory_->try_pointer(handle).value_or(0) : 0;
}

// Finds the object for an index if it is allocated, but not yet entered in the thread's array, as nobody has asked for
// it since the type's initializer ran. The list's entries: {Next, index, handle}.
Address AuxiliaryStatics::in_flight(Address local, u32 index) const {
  Address at = memory_->try_pointer(local + in_flight_).value_or(0);
  for (u64 i = 0; at && i < max_in_flight; ++i) {
    if (memory_->try_load<u32>(at + p_) == index)
      return object_of_handle(memory_->try_pointer(at + 2 * p_).value_or(0));
    at = memory_->try_pointer(at).value_or(0);
  }
  return 0;
}

Address AuxiliaryStatics::thread_array_slot(const ThreadData &thread) const {
  Address local = local_data_ ? memory_->try_pointer(thread.address + *local_data_).value_or(0) : 0;
  return local ? local + array_ : 0;
}

Address AuxiliaryStatics::thread_array(const ThreadData &thread) const {
  Address slot = thread_array_slot(thread);
  return slot ? memory_->try_pointer(slot).value_or(0) : 0;
}

} // namespace dnheap
