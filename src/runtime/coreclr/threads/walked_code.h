// WalkedCode: the managed code that one walk of a stack comes by: which method is at an address, how its frame is left,
// and which slots hold references there. The walk, native functions and references ask for the same addresses, and
// recursion returns to one address often, so what was found is kept by address. Some 20 reads per address. Not for
// several threads at once.
#pragma once
#include "runtime/compiled/gc_info.h"
#include "runtime/coreclr/code/code_block.h"
#include "runtime/coreclr/threads/walk_position.h"

#include <functional>
#include <string>
#include <unordered_map>

namespace dnheap {

class WalkedCode {
public:
  using Find = std::function<std::optional<CodeBlock>(Address)>; // may throw Error

  struct Slots {
    std::vector<GcSlot> list;
    u64 scratch_area = 0;
    std::optional<u8> base; // the register that slots of base frame_register count from
  };

  // `encoding`: null for x86, whose GC info has a form of its own. All arguments must outlive this object.
  WalkedCode(const Target &target, const CallingConvention &convention, const GcInfoEncoding *encoding,
             const Find &find)
      : target_(target), convention_(convention), encoding_(encoding), find_(find) {}

  bool is_x86() const { return convention_.architecture == Architecture::x86; }
  // Null: no managed code lies there.
  const CodeBlock *find(Address ip);
  // True if a call in managed code can return there, as far as the dump shows.
  bool is_return_address(Address ip);
  // Not for x86.
  GcInfo gc_info(const CodeBlock &code) const;
  // Turns the registers of the code's frame into those of its caller.
  ReadOutcome leave(const CodeBlock &code, bool is_active, Registers &registers) const;
  // Returns the slots that hold references at that place, `scratch` if they are not kept. Null: see the outcome.
  const Slots *slots_at(const CodeBlock &code, const WalkPosition &at, Slots &scratch, ReadOutcome &outcome);
  // The outcome as a part of a message that says which folder may supply what is missing.
  std::string text_of(const ReadOutcome &outcome) const;

private:
  struct Known {
    std::optional<CodeBlock> code;
    std::optional<Slots> slots; // of frames that are neither active nor aborted
  };
  Known &known(Address ip);

  const Target &target_;
  const CallingConvention &convention_;
  const GcInfoEncoding *const encoding_;
  const Find &find_;
  std::unordered_map<Address, Known> at_;
};

} // namespace dnheap
