// Signature blobs (II.23.2): the types of fields and locals, the parameters of methods, instantiated types.
//
// Decoding costs one pass over the blob and builds a small tree. Returns nullopt for a blob that nests deeper than 64
// levels, has more than 4096 nodes, ends early, or is otherwise wrong. Custom modifiers and `pinned` do not affect
// layout and are skipped. Pure functions: any thread.
#pragma once
#include "metadata/ecma335.h"

#include <span>
#include <string>

namespace dnheap {

// II.23.1.16. Internal is the runtime's own: a type handle in a signature that was never in a file.
enum class ElementType : u8 {
  Void = 0x01,
  Boolean,
  Char,
  I1,
  U1,
  I2,
  U2,
  I4,
  U4,
  I8,
  U8,
  R4,
  R8,
  String,
  Ptr = 0x0f,
  ByRef,
  ValueType,
  Class,
  Var,
  Array,
  GenericInst,
  TypedByRef,
  I = 0x18,
  U,
  FnPtr = 0x1b,
  Object,
  SzArray,
  MVar,
  CModReqd,
  CModOpt,
  Internal,
  CModInternal,
  Sentinel = 0x41,
  Pinned = 0x45,
};

// Returns the name of that kind's type in the runtime's core library: "System.Int32"; null: the kind is not a single
// type.
const char *core_type_name(ElementType kind);

struct SignatureType {
  ElementType kind;
  Token token = 0;    // for Class and ValueType: TypeDef, TypeRef or TypeSpec
  u32 number = 0;     // for Var and MVar the parameter's index, for Array its rank
  Address handle = 0; // for Internal: a TypeHandle in the target
  // Ptr, ByRef, SzArray, Array: the element. GenericInst: the open type (Class or ValueType), then the arguments.
  // FnPtr: the return type, then the parameters.
  std::vector<SignatureType> children{};
};

struct MethodSignature {
  bool has_this = false;
  u32 generic_parameters = 0;
  SignatureType returns{ElementType::Void};
  std::vector<SignatureType> parameters; // including those after the sentinel of a vararg call
};

// Removes an unsigned number of one, two or four bytes (II.23.2) from the front of `rest` and returns it.
std::optional<u32> take_compressed(Bytes &rest);

// `pointer_size` is the target's; it matters to Internal only.
std::optional<SignatureType> decode_type(Bytes signature, u8 pointer_size = 8); // TypeSpec
std::optional<SignatureType> decode_field(Bytes signature, u8 pointer_size = 8);
std::optional<MethodSignature> decode_method(Bytes signature, u8 pointer_size = 8);

// The owner of the type parameters Var and MVar, by which describe() can name them; without it they are !0 and !!0.
struct GenericOwner {
  u32 type_rid = 0, method_rid = 0;
};

// Returns the type's name, spelled as in type_name.h; a hostile one is cut with "...".
std::string describe(const SignatureType &type, const Metadata &metadata, GenericOwner owner = {});
// The same inside a type with these type arguments.
std::string describe(const SignatureType &type, const Metadata &metadata, std::span<const std::string> arguments);
// "(System.String, T[])"
std::string describe_parameters(const MethodSignature &method, const Metadata &metadata, GenericOwner owner = {});

} // namespace dnheap
