// StaticStorage: where CoreCLR keeps the reference statics of one type, as base addresses to which a FieldDesc's offset
// is added. There are two implementations: AuxiliaryStatics (.NET 9 and later) and ModuleStatics (8.0). A few reads per
// question; nothing is kept. Any thread.
#pragma once
#include "runtime/coreclr/threads/thread_1.h"
#include "runtime/coreclr/types/field_descs.h"

#include <memory>

namespace dnheap {

// A place for fields. `holder`: the array object that contains it, if that is known at once.
struct StaticPlace {
  Address base = 0, holder = 0;
  bool is_root = true; // see StaticRoot
};

class StaticStorage {
public:
  virtual ~StaticStorage() = default;
  // False if the type has no statics at all. Cheap.
  virtual bool has_statics(Address method_table) const = 0;
  virtual std::optional<StaticPlace> statics(Address method_table) const = 0;
  virtual std::optional<StaticPlace> thread_statics(Address method_table, const ThreadData &thread) const = 0;
  // Returns an array object that keeps a thread's statics alive and that nothing else keeps alive; 0: none.
  virtual Address thread_array(const ThreadData &) const { return 0; }
  virtual Address thread_array_slot(const ThreadData &) const { return 0; }
  // The needed members of the runtime's structures that are missing; empty: the other functions work.
  virtual std::string why_missing() const = 0;
};

// Chooses by the values that the descriptor has.
std::unique_ptr<StaticStorage> static_storage(const Memory &memory, const ContractDescriptor &descriptor,
                                              const RuntimeTypeSystem1 &types, const FieldDescs &fields);

} // namespace dnheap
