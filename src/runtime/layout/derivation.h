// Derivation: how every value that a target does not publish is chosen, and checked. For each value: what the target
// says of itself, else what discovery finds in its memory, else what a shipped table says; and whatever says it, the
// value must pass its predicate. Two different discovered candidates that both pass are no answer: nothing is guessed.
// But candidates that lead to the same wherever they are asked about are one.
// A value that nobody could give is recorded with all that was tried, so that whoever needs it can say why it is
// missing.
#pragma once
#include "contract/descriptor.h"
#include "target/target.h"

#include <functional>

namespace dnheap {

// Offsets by name, from one file of shipped/ (format: see shipped/README.md).
struct ShippedTable {
  std::string name; // of the file: "net8.0-linux-x64"
  unsigned pointer_size = 8;
  std::map<std::string, i64, std::less<>> values; // "Thread.LinkNext" → 232
};

// All tables embedded in this library, in a fixed order.
const std::vector<ShippedTable> &shipped_tables();
// Parses one table; throws Error on a malformed line. For the embedded texts and for tests.
ShippedTable parse_shipped_table(const std::string &name, std::string_view text);

// What a test of a value says. Cannot tell: the memory that it would look at is not in the dump.
class Verdict {
public:
  Verdict(bool passes) : value_(passes ? yes : no) {}
  static Verdict cannot_tell() { return Verdict(unknown); }
  bool passes() const { return value_ == yes; }
  bool fails() const { return value_ == no; }

private:
  enum Value : u8 { no, yes, unknown };
  explicit Verdict(Value value) : value_(value) {}
  Value value_;
};

class Derivation {
public:
  using Predicate = std::function<Verdict(i64)>;
  // What an offset leads to, at every place where it may be asked about; empty: that cannot be told.
  using Answers = std::function<std::vector<u64>(i64)>;

  Derivation(const Target &target, const Module &module, ContractDescriptor &descriptor,
             std::span<const ShippedTable> tables);

  const Target &target;
  const Memory &memory;
  const Module &module; // the runtime's
  const u64 pointer_size;
  ContractDescriptor &descriptor;

  // Chooses the offset of TYPE.FIELD and enters it into the descriptor. What the target publishes stays, whatever the
  // predicate says of it; if that fails, this is recorded as a doubt, with what `discover` would have found. False:
  // it is not published, and nobody gave a value that passes; the reason is recorded. With `leads_to`, candidates of
  // equal answers are one, the first.
  bool choose(const std::string &type, const std::string &field, const std::function<std::vector<i64>()> &discover,
              const Predicate &passes, const std::string &predicate, const Answers &leads_to = nullptr);
  // A table has this value, and those other values as they are known here (TYPE.FIELD): it is of a build like this one.
  bool table_fits(const std::string &name, i64 value, std::initializer_list<const char *> others) const;
  // An offset that is the same in every build that is known: what the target publishes, else this one, which is
  // entered. The test is that what is read by it passes.
  i64 fixed(const std::string &type, const std::string &field, i64 offset);

  // The runtime's writable memory (.data, .bss), by address.
  std::span<const Range> data() const { return data_; }
  // Calls visit(address, word) for each pointer-sized word of it.
  void scan_data(const std::function<void(Address, u64)> &visit) const;
  // Where the last of these words lies that has this value.
  std::optional<Address> find_last_in_data(u64 value) const;
  // Offsets first, first + step, … below end.
  static std::vector<i64> offsets(i64 first, i64 end, i64 step);
  // Those offsets that pass. A search (Memory::as_searched).
  std::vector<i64> search(i64 first, i64 end, i64 step, const Predicate &passes) const;

  // How many bytes the structure at that address can have: no more than `most`, nor than the piece of memory that it
  // was given, where glibc's allocator says how large that is.
  u64 room(Address structure, u64 most) const;

  // Pointer-sized word, or nullopt.
  std::optional<u64> word(Address address) const { return memory.try_pointer(address); }
  // The word behind a chain: q(q(a + o1) + o2)…
  std::optional<u64> follow(Address address, std::initializer_list<i64> offsets) const;

private:
  std::vector<i64> table_values(const std::string &name) const;
  std::span<const ShippedTable> tables_;
  std::vector<Range> data_;
};

} // namespace dnheap
