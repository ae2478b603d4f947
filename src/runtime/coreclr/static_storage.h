// StaticStorage: where CoreCLR keeps the statics of one type that are references, as addresses to which a FieldDesc's
// offset is to be added. Two ways: AuxiliaryStatics (.NET 9 on) and ModuleStatics (8.0). A few reads per question;
// nothing is kept. Any thread.
#pragma once
#include "runtime/coreclr/field_descs.h"
#include "runtime/coreclr/thread_1.h"

#include <memory>

namespace dnheap {

// A place for fields. `holder`: the array object that it lies in, where that is known at once.
struct StaticPlace {
  Address base = 0, holder = 0;
  bool is_root = true; // see StaticRoot
};

class StaticStorage {
public:
  virtual ~StaticStorage() = default;
  // May the type have statics at all? Cheap.
  virtual bool has_statics(Address method_table) const = 0;
  virtual std::optional<StaticPlace> statics(Address method_table) const = 0;
  virtual std::optional<StaticPlace> thread_statics(Address method_table, const ThreadData &thread) const = 0;
  // An array object that keeps a thread's statics alive and is itself kept alive by nothing else; 0: none.
  virtual Address thread_array(const ThreadData &) const { return 0; }
  virtual Address thread_array_slot(const ThreadData &) const { return 0; }
  // Which members of the runtime's structures are needed and not known; empty: it can be asked.
  virtual std::string why_missing() const = 0;
};

// By what the descriptor has.
std::unique_ptr<StaticStorage> static_storage(const Memory &memory, const ContractDescriptor &descriptor,
                                              const RuntimeTypeSystem1 &types, const FieldDescs &fields);

} // namespace dnheap
