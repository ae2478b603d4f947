// The parameters of a method as the runtime's own tools write them behind a method's name, "(Int32, System.String[],
// System.DateTime ByRef)": primitive types without their namespace, all others in the spelling of type_name.h. Pure
// functions; any thread.
#pragma once
#include "metadata/signature.h"

#include <functional>

namespace dnheap {

// What the type parameters of a method, and of its type, stand for: names in the spelling of type_name.h.
struct SignatureNames {
  std::span<const std::string> type_arguments = {}, method_arguments = {};
  std::function<std::string(Address)> handle = {}; // the name of a TypeHandle in a signature that was never in a file
};

// "Int32" of "System.Int32"; other names stay.
std::string without_core_namespace(const std::string &type);

// With parentheses. A hostile signature's is cut with "...".
std::string parameter_text(const MethodSignature &method, const Metadata &metadata, const SignatureNames &names);

} // namespace dnheap
