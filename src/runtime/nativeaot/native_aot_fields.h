// NativeAotFields: Fields (fields.h) of NativeAOT with a debug file: the types have no field names, but the debug file
// does (DebugTypes). A type's fields are trusted if they make up an object of the size in its MethodTable. The first
// question reads all that the file describes.
#pragma once
#include "base/notes.h"
#include "runtime/named_fields.h"
#include "runtime/nativeaot/debug_types.h"
#include "runtime/nativeaot/native_delegates.h"
#include "runtime/nativeaot/runtime_type_system_n1.h"
#include "runtime/unnamed_fields.h"

#include <map>

namespace dnheap {

class NativeAotFields : public NamedFields {
public:
  NativeAotFields(const Memory &memory, RuntimeTypeSystemN1 &types, NativeDelegates &delegates, DebugFile debug_file);

  std::optional<ElementShape> elements(Address method_table) override;
  std::vector<DelegateTarget> delegate_targets(Address object, Address method_table, u64 limit) override {
    return delegates_->targets(object, method_table, limit);
  }
  std::optional<DelegateList> delegate_list(Address object, Address method_table) override {
    return delegates_->list(object, method_table);
  }
  Notes notes() const override;

  // Returns the references of the object that a cell of static fields leads to: "Shop.Cache._items". Empty: unknown;
  // else exactly all references that the object's type has.
  ReferenceLayout static_fields(Address cell, Address method_table);
  // Returns the references of the object that holds the thread statics of many types: for each type all of its
  // references, or none.
  ReferenceLayout thread_static_fields(Address method_table);

private:
  struct Flattening {
    ReferenceLayout *to;
    u64 base; // offset in `to` of the object or struct
    PathText prefix;
    unsigned depth;
  };

  const DebugTypes &debug();
  TypeNames build_names(Address method_table) override;
  std::vector<InstanceField> read_fields(Address method_table) override;
  // `place`: offset of the field from the object's first byte.
  void add_field(const DebugTypes::Field &field, u64 place, InstanceField from, std::vector<InstanceField> &to,
                 unsigned depth);
  // Returns the type's class, then its parents'. A type without a class is skipped, its parents are not.
  std::vector<const DebugTypes::Class *> classes_of(Address method_table);
  const DebugTypes::Class *class_of(Address method_table);
  void flatten(std::span<const DebugTypes::Field> fields, u64 elements, const Flattening &into, u64 &budget);
  bool are_all(ReferenceLayout &layout, std::span<const u64> slots);
  std::vector<u64> made_up_slots(Address method_table) const;
  std::optional<ReferenceLayout> lay_out_threads(std::string_view type, u64 start, u64 end, std::span<const u64> slots);

  RuntimeTypeSystemN1 *types_;
  NativeDelegates *delegates_;
  UnnamedFields unnamed_;
  DebugFile file_;
  std::optional<DebugTypes> debug_;
  u64 kept_ = 0; // characters of all paths, and bytes of all fields
  std::map<std::string, u64> problems_;
};

} // namespace dnheap
