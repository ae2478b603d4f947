// Blocks of malloc that nothing refers to any more, or that many objects hold.
#include "analysis/findings/finding_rule.h"
#include "base/text.h"

#include <fmt/format.h>

namespace dnheap {

namespace {

Finding lost(const NativeOwner &owner, const std::string &unread) {
  return {.kind = "lost_native_memory",
          .harm = Harm::memory,
          .sureness = unread.empty() ? Sureness::probable : Sureness::possible,
          .text = fmt::format(
              "Native memory is lost: {} ({}) from malloc, to which no object, no library, no stack and "
              "no other block refers{}. Code that gets memory from malloc, NativeMemory or "
              "Marshal.AllocHGlobal does not free it.",
              bytes_text(owner.bytes), sizes_text(owner), unread.empty() ? "" : ", except perhaps " + unread),
          .count = owner.blocks,
          .bytes = owner.bytes,
          .verb = "account",
          .options = " --table native"};
}

Finding held(const NativeOwner &owner) {
  return {.kind = "held_native_memory",
          .harm = Harm::memory,
          .text = fmt::format("Objects hold native memory: {} ({}) from malloc, by {} × {}. It is freed when these are "
                              "disposed of, or finalized.",
                              bytes_text(owner.bytes), sizes_text(owner), count_text(owner.holders), owner.name),
          .count = owner.holders,
          .bytes = owner.bytes,
          .example = owner.example,
          .verb = "path",
          .options = " " + hex(owner.example)};
}

} // namespace

void find_kept_blocks(const Evidence &evidence, std::vector<Finding> &out) {
  if (!evidence.native)
    return;
  for (const NativeOwner &owner : evidence.native->owners) {
    if (!is_leak(owner, *evidence.native))
      continue;
    if (owner.kind == NativeOwner::Kind::nobody)
      out.push_back(lost(owner, unread_text(*evidence.native)));
    else
      out.push_back(held(owner));
  }
}

} // namespace dnheap
