// What an extracted core says of the dump that it was made from: all of a Target but its memory, so that every verb
// finds there what it found in the dump, whatever container that was. It lies in notes of the owner "dnheap" of an ELF
// core, as JSON; what modules' writable memory held at first (Target::initial) lies beside it. For dump/ and snapshot/.
#pragma once
#include "target/target.h"

#include <string>

namespace dnheap::extracted {

inline constexpr std::string_view owner = "dnheap";
enum : u32 {
  note_description = 1, // JSON
  note_initial = 2,     // an address of 8 bytes, then the bytes that lay there at first
};

// `target.extraction` must be set.
std::string description(const Target &target);
// Replaces all of `target` but memory, storage and path. Throws Error, with `target` as it was, when it is not sound.
void apply_description(Bytes description, Target &target);

} // namespace dnheap::extracted
