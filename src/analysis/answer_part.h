// AnswerPart: a part of answers that some value of the runtime's description is needed for. A verb's row says which of
// them its answer has; missing_parts.cc says what is needed for each, and what is said where that was not found.
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
  suspended_calls, // that the runtime suspends itself
  loader_heaps,
  assembly_flags,
  source, // what the layout was learned from
  code,   // which method stands where
};
inline constexpr u32 answer_part_count = 22;
using AnswerParts = EnumSet<AnswerPart>;

constexpr AnswerParts operator|(AnswerPart a, AnswerPart b) { return {a, b}; }

inline constexpr AnswerParts root_parts = {AnswerPart::stacks, AnswerPart::handles, AnswerPart::finalizers,
                                           AnswerPart::statics, AnswerPart::thread_statics};
// What is alive. Of a reference count that is not known nobody dies.
inline constexpr AnswerParts life_parts = root_parts | AnswerPart::collectible;
// But code: what is scanned word by word for want of it is a superset, so only who asks for methods is told.
inline constexpr AnswerParts all_parts =
    AnswerParts::of_bits(((u32{1} << answer_part_count) - 1) & ~(u32{1} << static_cast<u32>(AnswerPart::code)));

} // namespace dnheap
