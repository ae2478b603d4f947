// The signature of a path: the same way from an owner to an object has the same one in every dump of a program, so that
// two dumps, or two teams, can speak of the same thing.
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
