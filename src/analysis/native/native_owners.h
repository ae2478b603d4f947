// NativeOwners: who has the pointers to the blocks that malloc has handed out. Any word of an object (but for texts),
// of a library's variables, of the runtime's own memory or of a stack that is an address in a block counts as a
// pointer; in native memory it has to be a multiple of 8, or the block's beginning with tags. Blocks to which no
// pointer leads were lost: nobody can free them any more, unless the pointer was stored in some disguise.
//
// Every block has one owner, the first of: the field that has its address (if several objects have, the first one by
// address); the program's types, whose fields lead to it through other blocks; the program's libraries, whose variables
// lead to it from block to block; the libraries of the runtime and the system; the framework's types; the runtime's
// memory, static fields that are no references among it; stacks and variables of threads; memory that is not
// identified. So sums add up, and do not depend on the number of threads.
//
// Costs a parallel pass over the objects and one over all blocks, 12 bytes per block, and 4 per pointer between blocks.
// Throws Error, Interrupted. Not for several threads at once.
#pragma once
#include "analysis/native/native_blocks.h"
#include "analysis/plan.h"
#include "base/notes.h"
#include "snapshot/snapshot.h"

#include <array>
#include <string>
#include <vector>

namespace dnheap {

struct NativeSize {
  u64 size = 0, blocks = 0; // `size`: the room in each, somewhat more than was asked for
  u64 bytes() const { return size * blocks; }
};

struct NativeOwner {
  enum class Kind : u8 { field, library, runtime, stacks, unknown_memory, nobody };

  Kind kind = Kind::nobody;
  std::string name;      // of a field: "Thumbs.Bitmap._pixels"; of a library: its file's; else empty
  Address example = 0;   // a field's object; nobody's: the largest block
  u64 holders = 0;       // objects whose field has a block's address
  u64 blocks = 0;        // all of them
  u64 bytes = 0;         // of all blocks
  u64 behind_blocks = 0; // how many of them are only reached through other blocks
  u64 behind_bytes = 0;
  std::vector<NativeSize> sizes = {}; // all sizes that occur, those with most bytes first
};

const char *name_of(NativeOwner::Kind kind);      // "field", "library", "runtime", "stacks", "unknown_memory", "nobody"
std::string text_of(const NativeOwner &owner);    // "9,998 × Thumbs.Bitmap._pixels", "libskia.so", "nobody: …"
std::string sizes_text(const NativeOwner &owner); // "998 blocks of 260.0 KiB"

struct NativeOwners {
  std::vector<NativeOwner> owners; // most bytes first
  u64 blocks = 0, bytes = 0;       // sums
  // Libraries whose variables are not all in the dump, the program's own first: blocks of nobody may be theirs.
  std::vector<std::string> unread_libraries;
  Notes notes;
  u64 unread_of_program = 0; // how many of `unread_libraries` are the program's own
};

// True if so many blocks are lost, or held by one field or by static fields, that this may be a leak.
bool is_leak(const NativeOwner &owner, const NativeOwners &native);
// Says in a sentence who has the addresses of most of the blocks.
std::string main_owner_text(const NativeOwners &native);
// "variables of libfoo.so and 3 other libraries, which the dump has only in part"; empty: all are there.
std::string unread_text(const NativeOwners &native);

// True if malloc's blocks take so much of the process that people want to know whose they are.
bool are_blocks_worth_a_look(const AccountMap &map);

// `map`: the account of the snapshot.
NativeOwners find_native_owners(const Snapshot &snapshot, const AccountMap &map);
// Adds what find_native_owners() may do.
void foresee_native_owners(Plan &plan);

} // namespace dnheap
