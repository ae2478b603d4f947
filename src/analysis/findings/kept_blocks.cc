// Blocks of malloc that nothing refers to any more, or that many objects hold.
#include "analysis/findings/finding_rule.h"
#include "analysis/native/native_callers.h"
#include "base/text.h"

#include <fmt/format.h>

namespace dnheap {

namespace {

Finding lost(const NativeOwner &owner, const std::string &unread, const std::string &callers) {
  return {.kind = "lost_native_memory",
          .harm = Harm::memory,
          .sureness = unread.empty() ? Sureness::probable : Sureness::possible,
          .text = fmt::format(
              "Native memory is lost: {} ({}) from malloc, to which no object, no library, no stack and "
              "no other block refers{}. Code that gets memory from malloc, NativeMemory or "
              "Marshal.AllocHGlobal does not free it.{}",
              bytes_text(owner.bytes), sizes_text(owner), unread.empty() ? "" : ", except perhaps " + unread, callers),
          .count = owner.blocks,
          .bytes = owner.bytes,
          .verb = "account",
          .options = " --table native"};
}

Finding held(const NativeOwner &owner) {
  const bool is_field = owner.kind == NativeOwner::Kind::field;
  return {.kind = "held_native_memory",
          .harm = Harm::memory,
          .text = fmt::format("{} native memory: {} ({}) from malloc, by {}. It stays until somebody frees it: Dispose "
                              "or a finalizer, if the type has one, or the program itself.",
                              is_field ? "Objects hold" : "Static fields hold", bytes_text(owner.bytes),
                              sizes_text(owner), text_of(owner)),
          .count = is_field ? owner.holders : owner.blocks,
          .bytes = owner.bytes,
          .example = owner.example,
          .verb = is_field ? "path" : "account",
          .options = is_field ? " " + hex(owner.example) : " --table native"};
}

} // namespace

void find_kept_blocks(const Evidence &evidence, std::vector<Finding> &out) {
  if (!evidence.native)
    return;
  for (const NativeOwner &owner : evidence.native->owners) {
    if (!is_leak(owner, *evidence.native))
      continue;
    if (owner.kind == NativeOwner::Kind::nobody)
      out.push_back(lost(owner, unread_text(*evidence.native), native_callers_text(evidence.snapshot)));
    else
      out.push_back(held(owner));
  }
}

} // namespace dnheap
