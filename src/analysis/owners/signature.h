// The signature of an owner, the same in every verb and in every dump of a program, so that two dumps, or two teams,
// can speak of the same thing; and, with fields, of a way from there to an object.
#pragma once
#include "base/integers.h"

#include <span>
#include <string>
#include <string_view>

namespace dnheap {

// xxh64 over "owner|field|field|…", the owner without its thread (RootOwners::Owner::source), in 16 hexadecimal digits.
// Fields with their indices as [*], repeats folded.
std::string signature(std::string_view owner, std::span<const std::string> fields);

// Whole in data, its first six digits in text.
std::string short_signature(std::string_view signature);

} // namespace dnheap
