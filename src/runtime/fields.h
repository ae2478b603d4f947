// Fields: names for the parts of an object, for every kind of runtime: the fields of a type, the name of the reference
// at an offset in an object, the methods that a delegate calls. Every Runtime hands one out; this class itself serves
// runtimes that publish no names, and names references by their offset. The first question about a type reads its
// fields (some µs each); after that, reference() costs a look-up and one binary search. It keeps what it has read, and
// each name of a reference once. From one thread at a time.
#pragma once
#include "base/notes.h"
#include "metadata/signature.h"

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace dnheap {

// An argument of a generic type: its name and, if it is a generic struct, its own arguments. Instantiations over
// reference types share their code, and differ only in these names.
struct TypeArgument {
  std::string name;
  std::shared_ptr<const std::vector<TypeArgument>> arguments = {}; // null: none, or unknown
};
using TypeArguments = std::shared_ptr<const std::vector<TypeArgument>>;

struct InstanceField {
  std::string name;         // as in the metadata
  ElementType type{};       // every kind of reference is Class, every struct ValueType; an enum has its primitive's
  std::string type_name;    // spelled as all type names are; empty: unknown
  u64 offset = 0;           // from the object's first byte, its MethodTable pointer; structs count as if boxed
  std::optional<u64> size;  // bytes
  Address method_table = 0; // of a struct: its type, or a type with the same layout; 0: unknown
  Address declaring_type = 0;
  TypeArguments arguments = {}; // of a generic struct: the arguments that `type_name` has; null: none, or unknown
  u64 count = 1;                // number of equal elements of `size` bytes, in inline arrays and fixed buffers

  bool is_reference() const { return type == ElementType::Class; }
};

// How the elements of an array are laid out.
struct ElementShape {
  ElementType type{};       // as in InstanceField
  u64 start = 0, size = 0;  // `start`: from the object's first byte; `size`: of one element
  u32 rank = 0;             // 0: a vector
  Address method_table = 0; // of the elements' type; for structs never a shared one
};

struct DelegateTarget {
  Address object = 0; // the object that the method is called on; 0: none, the method is static
  std::string method; // "Shop.Cart.OnChanged"; if the name is unknown, what is known: "libcoreclr.so+0x1234"
};

// The delegates that a multicast delegate calls: equally spaced words in an array.
struct DelegateList {
  Address array = 0;   // the array object; 0: the delegate calls no others
  Address first = 0;   // address of the first reference
  u64 count = 0;       // no more than the array has
  bool is_cut = false; // the delegate's count is larger than the array: one of the two is damaged
};

// The number of a name that this Fields has handed out.
enum class ReferenceName : u32 {};

class Fields {
public:
  explicit Fields(u64 pointer_size) : p_(pointer_size) {}
  Fields(const Fields &) = delete;
  Fields &operator=(const Fields &) = delete;
  virtual ~Fields() = default;

  // Returns all fields of an object, inherited ones first, then in the runtime's order. Empty also if they are unknown.
  virtual const std::vector<InstanceField> &instance_fields(Address method_table);
  // Returns the fields of a struct whose MethodTable several generic instantiations may share; type names have the
  // arguments of one instantiation. Not kept: each call costs as much as the first.
  virtual std::vector<InstanceField> fields_of_instance(Address method_table, const TypeArguments &arguments);
  // Returns how the elements of an array type are laid out. Nullopt: it is not an array type, or unknown.
  virtual std::optional<ElementShape> elements(Address method_table);

  // Returns the name of the reference at `offset` bytes into an object of this type, with [*] for any element:
  // "._tables", "[*]", "[*].value", "._slots[*].Item". Overlapping fields give all their names: "._text|._bytes". A
  // reference without a name is named by its offset: ".0x18". Equal names have equal numbers.
  virtual ReferenceName reference(Address method_table, u64 offset);
  // Valid as long as this object.
  const std::string &text(ReferenceName name) const { return *texts_[static_cast<u32>(name)]; }
  // The same name with the elements' numbers: "[17].value"; in an array with two dimensions "[1,2]".
  virtual std::string exact_reference(Address object, Address method_table, u64 offset);

  // Returns what a delegate calls; for a multicast delegate, what each of its delegates calls, in order; at most
  // `limit`. Empty: it is not a delegate, or unknown.
  virtual std::vector<DelegateTarget> delegate_targets(Address object, Address method_table, u64 limit);

  // Nullopt: it is not a delegate, or it lacks a field that delegates have.
  virtual std::optional<DelegateList> delegate_list(Address object, Address method_table);

  // Why fields are unknown: one line per reason.
  virtual Notes notes() const { return {}; }

protected:
  ReferenceName intern(std::string text);
  ReferenceName by_offset(u64 offset);

  const u64 p_; // pointer size

private:
  std::unordered_map<std::string, u32> numbers_;
  std::vector<const std::string *> texts_; // keys of numbers_
};

} // namespace dnheap
