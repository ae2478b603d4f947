// RuntimeTypeSystem contract, version n1: facts about a type from its NativeAOT MethodTable. A MethodTable is sound if
// it has the address of the cell that identifies its module. Types that the compiler generates for static fields, and
// for the data of suspended calls (continuations), are too short for that: they are identified by their parent
// (System.Object; Continuation) and by the form of the data in front of them. Names come from the module's NativeFormat
// metadata, or else the program's debug file, and each must have the hash that the compiler put into the type; the
// program may have been built without metadata. The first name costs a pass over the module's table of types, and one
// over the debug file's symbols. See type_system.h.
#pragma once
#include "base/notes.h"
#include "contract/descriptor.h"
#include "metadata/mangled_name.h"
#include "metadata/native_format.h"
#include "runtime/nativeaot/native_symbols.h"
#include "runtime/nativeaot/owner_names.h"
#include "runtime/nativeaot/ready_to_run.h"
#include "runtime/type_system.h"
#include "target/target.h"

#include <map>
#include <unordered_map>

namespace dnheap {

class RuntimeTypeSystemN1 : public TypeSystem {
public:
  // Throws Error if the types of `module` cannot be distinguished from other memory.
  RuntimeTypeSystemN1(const Target &target, const Module &module, const ContractDescriptor &descriptor);

  Address free_object_method_table() const override { return free_; }
  std::optional<ObjectLayout> object_layout(Address method_table) const override;
  std::optional<bool> is_value_type(Address method_table) const override;
  const std::string &name(Address method_table) override;
  Notes notes() const override;

  // Sets the symbols of the program's debug file, if there is one; call it before the first name is requested.
  void use_symbols(NativeSymbols symbols) { symbols_ = std::move(symbols); }
  const NativeSymbols &symbols() const { return symbols_; }
  // Both return 0 if the type has none, or if it is unknown. element_of() is for arrays, parent_of() for all other
  // types.
  Address parent_of(Address method_table) const override;
  Address element_of(Address method_table) const;
  // True for a type that the compiler generated for suspended calls; its fields have no names.
  bool is_continuation(Address method_table) const;
  // True if the module has their parent. The first call reads the module's table of types.
  bool has_continuations();
  // The references of a type that the compiler generated; empty: it is another type.
  struct Series {
    u64 offset = 0, size = 0; // bytes
  };
  std::vector<Series> made_up_series(Address method_table) const;
  // Returns the references of any type except arrays.
  std::vector<Series> reference_series(Address method_table) const;
  // Returns the hash of the type's name; for a generic instantiation, that of its definition. Nullopt: it has none.
  std::optional<u32> definition_hash(Address method_table) const;
  // Returns the arguments of a generic instantiation; empty: the type is not one.
  std::vector<Address> arguments_of(Address method_table) const;
  // Returns how names are hashed, which the first type whose parents lead to System.Object shows; nullopt: no such type
  // was asked about yet.
  std::optional<NativeHashing> hashing(Address method_table);

  // Returns the type whose static fields that cell leads to: "Shop.Cache"; nullopt: unknown.
  std::optional<std::string> statics_owner(Address cell);
  // Names a method by its symbol: "Shop.Cart.Add"; nullopt: its owner is unknown, or the symbol could stand for another
  // name.
  std::optional<std::string> unmangled_method(std::string_view symbol);
  // Returns the name of a type, "Shop.Cache", for its mangled name; the mangled name itself if that fails.
  std::string unmangled(std::string_view mangled);
  // Names the method whose code begins there, from the stack-trace or reflection data: "Shop.Cart.Add"; nullopt:
  // unknown.
  std::optional<std::string> method_name(Address code);
  const ReadyToRun &ready_to_run() const { return ready_to_run_; }
  // "shop!0x1a2b0"; outside of the module, the address itself.
  std::string place(Address address) const;

private:
  struct Offsets {
    u64 flags, base_size, related, vtable_slots, interfaces, hash, vtable, generic_arity;
  };

  std::optional<u32> load(Address mt, u64 offset) const { return memory_->try_load<u32>(mt + offset); }
  Address related(Address mt) const { return memory_->try_pointer(mt + at_.related).value_or(0); }
  struct Instance {
    Address definition = 0, list = 0;
    u32 count = 0; // of arguments
  };
  Instance instance_of(Address mt, u32 flags) const;
  Address optional_part(Address mt, u32 flags, unsigned index) const;
  bool has_module(Address mt, u32 flags) const;
  bool is_made_up(Address mt, u32 flags, u32 base_size) const;
  bool is_root(Address mt) const;
  bool is_continuation_parent(Address mt) const;
  void find_hashing(Address mt);
  std::string made_up_name(Address mt, u32 base_size);
  const OwnerNames &owner_names();
  // Empty: unsound.
  std::vector<Series> series_of(Address mt, u32 base_size) const;
  bool in_module(Address address) const { return address >= start_ && address < end_; }

  void read_map();
  void read_methods();
  Address fixup(u32 index) const; // 0: none
  Bytes section(u32 id);
  // Empty: unknown, and the reason was counted.
  std::string find_name(Address mt, unsigned depth);
  std::string array_name(Address mt, u32 flags, unsigned depth);
  std::string instance_name(Address mt, u32 flags, unsigned depth);
  std::optional<NativeTypeName> definition(Address mt);
  std::string name_or_place(Address mt, unsigned depth);
  std::string fail(const char *why);

  const Memory *memory_, *initial_;
  const Module *module_;
  const u64 p_;
  Address start_ = 0, end_ = 0; // of the module's image
  Offsets at_{};
  // Bits of MethodTable.Flags: src/coreclr/nativeaot/Runtime/inc/MethodTable.h.
  u32 kind_mask_ = 0, has_component_size_ = 0, has_finalizer_ = 0, is_generic_ = 0, element_type_mask_ = 0;
  unsigned element_type_shift_ = 0;
  u32 has_pointers_ = 0, has_optional_fields_ = 0, arity_mask_ = 0;
  Address free_ = 0;
  Address cell_ = 0; // by which each type identifies its module: it holds the address of the module's TypeManager
  ReadyToRun ready_to_run_;
  bool map_read_ = false, methods_read_ = false;
  std::optional<NativeHashing> hashing_;       // absent until a type that leads to System.Object is asked about
  std::vector<std::vector<std::byte>> copies_; // joined copies of sections that lie in several pieces
  NativeMetadata metadata_;
  std::unordered_map<Address, u32> definitions_; // MethodTable → offset in metadata_
  // By the start of their code.
  std::unordered_map<Address, NativeMethod> methods_;
  std::unordered_map<Address, std::pair<Address, u32>> reflected_methods_; // their type, and the offset of their record
  NativeSymbols symbols_;
  std::unordered_map<Address, std::optional<UnmangledTypeName>> unmangled_; // definitions, by symbols
  std::optional<OwnerNames> owner_names_;
  std::map<std::string, std::string> owners_; // by symbol
  u64 steps_left_ = 1 << 25;                  // for all calls of unmangle_type_name() together
  std::unordered_map<Address, std::string> names_;
  u64 kept_ = 0;       // characters in names_
  u64 parts_left_ = 0; // for the name that is being built
  std::map<std::string, u64> problems_;
};

} // namespace dnheap
