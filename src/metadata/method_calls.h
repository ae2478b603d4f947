// MethodCalls: which methods a method's IL calls, and where (II.25.4, III). Nothing is trusted: IL that ends early, or
// contains an invalid instruction, gives an empty optional. One pass over the bytes. Pure functions: any thread.
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

// The names of a callee's type and method, such as "System.Threading.SemaphoreSlim" and "Release": without type
// arguments, but with arity marks. Empty: the token is not that of a method, or the method's type has no name of its
// own (an array, for example).
struct CalleeName {
  std::string type, method;
};
CalleeName name_of_callee(const Metadata &metadata, Token callee);
// Returns a field's name; empty: the token is not that of a field.
std::string name_of_field(const Metadata &metadata, Token field);

} // namespace dnheap
