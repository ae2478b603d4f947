// The signature of an owner and, with fields, of a path from there to an object. It is the same in every verb and in
// every dump of a program, so that two dumps, or two teams, can refer to the same owner.
#pragma once
#include "base/integers.h"

#include <span>
#include <string>
#include <string_view>

namespace dnheap {

// Returns xxh64 over "owner|field|field|…" in 16 hexadecimal digits. The owner is named without its thread
// (RootOwners::Owner::source); fields have their indices as [*], and repeats are folded.
std::string signature(std::string_view owner, std::span<const std::string> fields);

// Data has the whole signature, text its first six digits.
std::string short_signature(std::string_view signature);

} // namespace dnheap
