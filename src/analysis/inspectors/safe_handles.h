// The state of SafeHandles, for the inspector and for findings. Two reads; not for several threads at once.
#pragma once
#include "analysis/shapes/field_reader.h"

#include <optional>
#include <string>

namespace dnheap {

// Returns "open", "closed", or "none" if it has no handle; nullopt if its fields are unknown or not in the dump.
std::optional<std::string> safe_handle_state(FieldReader &fields, const Runtime &runtime, Address object);

} // namespace dnheap
