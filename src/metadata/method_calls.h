// MethodCalls: which methods a method's IL calls, which objects it makes, which fields it uses, and where (II.25.4,
// III). Nothing is trusted: IL that ends early, or contains an invalid instruction, gives an empty optional. One pass
// over the bytes. Pure functions: any thread.
#pragma once
#include "metadata/ecma335.h"

#include <optional>
#include <string>
#include <vector>

namespace dnheap {

// Where a body's IL lies, counted from the body's first byte.
struct IlPlace {
  u64 offset = 0, size = 0;
};
// `body`: its first 12 bytes, or as many as there are.
inline constexpr u64 most_body_header = 12;
std::optional<IlPlace> find_il(Bytes body);

struct MethodCall {
  u32 il_offset = 0;
  Token callee = 0; // MethodDef, MemberRef or MethodSpec
  // The fields that are loaded between the call before and this one (Field or MemberRef), the last few: as a rule the
  // call's object is one of these.
  std::vector<Token> fields = {};
};
std::optional<std::vector<MethodCall>> find_calls(Bytes il);

// What an instruction does with the method or the field that it names. `makes`: a new object, by its constructor;
// `points`: takes a method's address, for a delegate.
enum class IlUse : u8 { calls, makes, points, reads_field, writes_field };
struct NamedInIl {
  u32 il_offset = 0;
  Token token = 0; // MethodDef, MethodSpec, Field or MemberRef
  IlUse use = IlUse::calls;
};
std::optional<std::vector<NamedInIl>> find_uses(Bytes il);

// The names of a callee's type and method, such as "System.Threading.SemaphoreSlim" and "Release": without type
// arguments, but with arity marks. Empty: the token is not that of a method, or the method's type has no name of its
// own (an array, for example).
struct CalleeName {
  std::string type, method;
};
CalleeName name_of_callee(const Metadata &metadata, Token callee);
// Returns the type that declares a method or a field: TypeDef or TypeRef; 0: unknown, or it has no name of its own.
Token type_of_member(const Metadata &metadata, Token member);
// Returns the name of a method or a field; empty: unknown.
std::string_view name_of_member(const Metadata &metadata, Token member);

} // namespace dnheap
