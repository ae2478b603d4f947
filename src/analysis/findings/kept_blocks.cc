// Blocks of malloc that nothing refers to any more, or that many objects hold.
#include "analysis/findings/finding_rule.h"
#include "analysis/names/brief_type_name.h"
#include "analysis/native/native_callers.h"
#include "base/text.h"

#include <fmt/format.h>

namespace dnheap {

namespace {

// Variables that are not in the dump may have the addresses. Those of the program's own libraries are more probable
// than a leak: .NET's code is known, and such a library is there to keep something.
std::string lost_text(const NativeOwner &owner, const NativeOwners &native) {
  const std::string blocks = fmt::format("{} ({}) from malloc", bytes_text(owner.bytes), sizes_text(owner));
  const std::string unread = unread_text(native);
  if (native.unread_of_program)
    return fmt::format(
        "Native memory is lost, or {} keeps it: {}. No object, no stack and no other block refers to it, "
        "and the dump has the variables of {} only in part; one of gcore, or of createdump --full, has "
        "all of them.",
        native.unread_libraries.front(), blocks,
        native.unread_of_program == 1 ? "that library" : "the program's libraries");
  return fmt::format("Native memory is lost: {}, to which no object, no library, no stack and no other block refers{}. "
                     "Code that gets memory from malloc, NativeMemory or Marshal.AllocHGlobal does not free it.",
                     blocks, unread.empty() ? "" : ", except perhaps " + unread);
}

// The heap is no suspect if it is smaller.
std::string heap_text(const NativeOwner &owner, const VerdictFacts &facts) {
  return owner.bytes > facts.heap ? fmt::format(" The GC's heap takes {}.", bytes_text(facts.heap)) : "";
}

Finding lost(const Evidence &evidence, const NativeOwner &owner) {
  const NativeOwners &native = *evidence.native;
  return {.kind = "lost_native_memory",
          .harm = Harm::memory,
          .sureness = native.unread_libraries.empty() ? Sureness::probable : Sureness::possible,
          .text = lost_text(owner, native) + native_callers_text(evidence.snapshot) + heap_text(owner, evidence.facts),
          .count = owner.blocks,
          .bytes = owner.bytes,
          .verb = "account",
          .options = " --table native"};
}

// An element of an array has no name of its own.
std::string holders_text(NativeOwner owner) {
  constexpr std::string_view element = "[*]";
  if (owner.name.ends_with(element))
    owner.name = brief_type_name(owner.name.substr(0, owner.name.size() - element.size()));
  return text_of(owner);
}

Finding held(const Evidence &evidence, const NativeOwner &owner) {
  const bool is_field = owner.kind == NativeOwner::Kind::field;
  const std::string holder = is_field ? holder_in_words(evidence.snapshot, "[]", owner.example) : "";
  return {.kind = "held_native_memory",
          .harm = Harm::memory,
          .text =
              fmt::format("{} native memory: {} ({}) from malloc, by {}{}. It stays until somebody frees it: Dispose "
                          "or a finalizer, if the type has one, or the program itself.{}{}",
                          is_field ? "Objects hold" : "Static fields hold", bytes_text(owner.bytes), sizes_text(owner),
                          holders_text(owner), !holder.starts_with("static ") ? "" : ", which " + holder + " keeps",
                          native_callers_text(evidence.snapshot), heap_text(owner, evidence.facts)),
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
      out.push_back(lost(evidence, owner));
    else
      out.push_back(held(evidence, owner));
  }
}

} // namespace dnheap
