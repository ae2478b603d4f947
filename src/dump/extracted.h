// The description, in an extracted core, of the original dump: everything in a Target except memory, so that every verb
// finds there what it found in the dump, whatever its container was. It is JSON in a note of the owner "dnheap" in an
// ELF core; another note has the initial contents of modules' writable memory (Target::initial). For dump/ and
// snapshot/.
#pragma once
#include "target/target.h"

#include <string>

namespace dnheap::extracted {

inline constexpr std::string_view owner = "dnheap";
enum : u32 {
  note_description = 1, // JSON
  note_initial = 2,     // an address of 8 bytes, then the initial bytes at it
};

// `target.extraction` must be set.
std::string description(const Target &target);
// Replaces everything in `target` except memory, storage and path. Throws Error, with `target` unchanged, if the
// description is invalid.
void apply_description(Bytes description, Target &target);

} // namespace dnheap::extracted
