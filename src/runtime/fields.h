// Fields: what the parts of an object are called, whatever the kind of runtime: the fields of a type, the name of the
// reference that lies so many bytes into an object, the method that a delegate calls. Every Runtime hands one out; this
// class itself is for runtimes that do not say, and calls references by their offset.
// The first question about a type reads its fields (some µs each); from then on reference() is a look-up and one binary
// search. What it has read it keeps; names of references are kept once each. From one thread at a time.
#pragma once
#include "metadata/signature.h"

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace dnheap {

// An argument of a generic type, by name; of a generic struct its own, too. What instances over references share tells
// only names apart.
struct TypeArgument {
  std::string name;
  std::shared_ptr<const std::vector<TypeArgument>> arguments = {}; // null: none, or cannot be told
};
using TypeArguments = std::shared_ptr<const std::vector<TypeArgument>>;

struct InstanceField {
  std::string name;         // as in the metadata
  ElementType type{};       // every kind of reference is Class, every struct ValueType; enums are their primitive
  std::string type_name;    // as types are named everywhere; empty: cannot be told
  u64 offset = 0;           // from the object's first byte, its MethodTable pointer; in structs as if they were boxed
  std::optional<u64> size;  // bytes
  Address method_table = 0; // of a struct: of its type, or of one laid out the same; 0: cannot be told
  Address declaring_type = 0;
  TypeArguments arguments = {}; // of a generic struct, those that `type_name` has; null: none, or cannot be told
  u64 count = 1;                // so many lie one behind the other, each `size` long: in inline arrays, fixed buffers

  bool is_reference() const { return type == ElementType::Class; }
};

// How an array's elements lie.
struct ElementShape {
  ElementType type{};       // as in InstanceField
  u64 start = 0, size = 0;  // from the object's first byte; of one element
  u32 rank = 0;             // 0: a vector
  Address method_table = 0; // of the elements' type; of structs never a shared one
};

struct DelegateTarget {
  Address object = 0; // on which the method is called; 0: none, it is static
  std::string method; // "Shop.Cart.OnChanged"; where it cannot be told, what is known: "libcoreclr.so+0x1234"
};

// The delegates that a multicast delegate calls: words that lie one behind the other in an array.
struct DelegateList {
  Address array = 0;   // the object; 0: it calls no others
  Address first = 0;   // where the first reference lies
  u64 count = 0;       // no more than the array has
  bool is_cut = false; // the delegate counts more than the array has: one of them is damaged
};

// Which name, of all that this Fields has told.
enum class ReferenceName : u32 {};

class Fields {
public:
  explicit Fields(u64 pointer_size) : p_(pointer_size) {}
  Fields(const Fields &) = delete;
  Fields &operator=(const Fields &) = delete;
  virtual ~Fields() = default;

  // All fields of an object, inherited ones first, then as the runtime lists them. Empty, too, where they cannot be
  // told.
  virtual const std::vector<InstanceField> &instance_fields(Address method_table);
  // The same of a struct's MethodTable that several instances may share: with the names of one's arguments. Not kept,
  // so it costs as much each time.
  virtual std::vector<InstanceField> fields_of_instance(Address method_table, const TypeArguments &arguments);
  // Nullopt: no array, or cannot be told.
  virtual std::optional<ElementShape> elements(Address method_table);

  // What the reference that lies `offset` bytes into an object of this type is called, elements folded: "._tables",
  // "[*]", "[*].value", "._slots[*].Item". Where fields overlap, all that it may be: "._text|._bytes". Where there is
  // no name, by offset: ".0x18". The same name has the same number.
  virtual ReferenceName reference(Address method_table, u64 offset);
  // Valid until this object goes.
  const std::string &text(ReferenceName name) const { return *texts_[static_cast<u32>(name)]; }
  // The same with its elements told: "[17].value", of an array with two dimensions "[1,2]".
  virtual std::string exact_reference(Address object, Address method_table, u64 offset);

  // What a delegate calls, a multicast one each of its delegates in turn; at most `limit`. Empty: no delegate, or it
  // cannot be told.
  virtual std::vector<DelegateTarget> delegate_targets(Address object, Address method_table, u64 limit);

  // Nullopt: no delegate, or its fields are not those that delegates are known to have.
  virtual std::optional<DelegateList> delegate_list(Address object, Address method_table);

  // Why fields could not be told: one line per reason.
  virtual std::vector<std::string> problems() const { return {}; }

protected:
  ReferenceName intern(std::string text);
  ReferenceName by_offset(u64 offset);

  const u64 p_; // pointer size

private:
  std::unordered_map<std::string, u32> numbers_;
  std::vector<const std::string *> texts_; // keys of numbers_
};

} // namespace dnheap
