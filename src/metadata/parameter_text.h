// The parameters of a method, spelled as the runtime's own tools spell them after a method's name, "(Int32,
// System.String[], System.DateTime ByRef)": primitive types without their namespace, all others as in type_name.h. Pure
// functions; any thread.
#pragma once
#include "metadata/signature.h"

#include <functional>

namespace dnheap {

// The type arguments of a method and of its type, spelled as in type_name.h.
struct SignatureNames {
  std::span<const std::string> type_arguments = {}, method_arguments = {};
  std::function<std::string(Address)> handle = {}; // names a TypeHandle of a signature that was never in a file
};

// Returns "Int32" for "System.Int32"; other names stay.
std::string without_core_namespace(const std::string &type);

// Returns the parameters with parentheses. The text of a hostile signature is cut with "...".
std::string parameter_text(const MethodSignature &method, const Metadata &metadata, const SignatureNames &names);

} // namespace dnheap
