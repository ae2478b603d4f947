// Type names in .gcdump files of dotnet-gcdump and PerfView, which write generic arguments in angle brackets without
// spaces, and turn other brackets into them. Any thread.
#pragma once
#include <string>
#include <string_view>

namespace dnheap {

// Returns the name as metadata/type_name.h spells it, as far as the file's name allows it:
// "Dictionary<System.String, System.Int32>" for "Dictionary<System.String,System.Int32>", "<>c" for "[]c",
// "System.Int32[,]" for "System.Int32<,>"; without the size class behind it: " (Bytes > 10K)".
std::string restored_type_name(std::string_view name);

} // namespace dnheap
