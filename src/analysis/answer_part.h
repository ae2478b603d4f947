// AnswerPart: a part of an answer that needs values of the runtime's description. A verb's row lists the parts of its
// answer; missing_parts.cc lists the values that each part needs, and the note for values that are missing.
#pragma once
#include "base/enum_set.h"

namespace dnheap {

enum class AnswerPart : u8 {
  contexts,
  stacks,
  handles,
  finalizers,
  statics,
  thread_statics,
  collectible,
  ref_counts,
  names,
  fields,
  delegates,
  strings,
  sync_blocks,
  locks,
  thread_ids,
  segments,
  gc,
  suspended_calls, // calls of runtime-async methods, which the runtime suspends
  loader_heaps,
  assembly_flags,
  source, // the source of the layout
  code,   // which method an address belongs to
};
inline constexpr u32 answer_part_count = 22;
using AnswerParts = EnumSet<AnswerPart>;

constexpr AnswerParts operator|(AnswerPart a, AnswerPart b) { return {a, b}; }

inline constexpr AnswerParts root_parts = {AnswerPart::stacks, AnswerPart::handles, AnswerPart::finalizers,
                                           AnswerPart::statics, AnswerPart::thread_statics};
// Parts that decide what is alive. An object with an unknown reference count counts as alive.
inline constexpr AnswerParts life_parts = root_parts | AnswerPart::collectible;
// All parts but `code`. Without `code` stacks are scanned word by word, which finds a superset of the references; so
// only questions about methods need it.
inline constexpr AnswerParts all_parts =
    AnswerParts::of_bits(((u32{1} << answer_part_count) - 1) & ~(u32{1} << static_cast<u32>(AnswerPart::code)));

} // namespace dnheap
