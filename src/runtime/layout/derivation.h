// Derivation: how every value that a target does not publish is chosen, and checked. Sources for each value, in this
// order: the target itself, discovery in its memory, a shipped table. From any of them, the value must pass its
// predicate. Two different discovered candidates that both pass are no answer: nothing is guessed. But candidates that
// lead to the same results everywhere count as one. A value that was not found is recorded with all that was tried, so
// that code that needs it can report why it is missing.
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

// The result of testing a value. cannot_tell: the memory that the test needs is not in the dump.
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
  // The results that an offset leads to, at every place where it may be used; empty: unknown.
  using Answers = std::function<std::vector<u64>(i64)>;

  Derivation(const Target &target, const Module &module, ContractDescriptor &descriptor,
             std::span<const ShippedTable> tables);

  const Target &target;
  const Memory &memory;
  const Module &module; // the runtime's
  const u64 pointer_size;
  ContractDescriptor &descriptor;

  // Chooses the offset of TYPE.FIELD and enters it into the descriptor. A published value stays, whatever the predicate
  // returns; if that fails, a doubt is recorded, with the result that `discover` would have found. False: the offset is
  // not published, and no source has a value that passes; the reason is recorded. With `leads_to`, candidates with
  // equal answers count as one, the first.
  bool choose(const std::string &type, const std::string &field, const std::function<std::vector<i64>()> &discover,
              const Predicate &passes, const std::string &predicate, const Answers &leads_to = nullptr);
  // True if a table has this value, and its values for the other fields (TYPE.FIELD) are those known here: then the
  // table is of a build like this one.
  bool table_fits(const std::string &name, i64 value, std::initializer_list<const char *> others) const;
  // Returns an offset that is the same in every known build: the published one, else this one, which is entered. It has
  // no test of its own; the data that is read through it must pass a test.
  i64 fixed(const std::string &type, const std::string &field, i64 offset);

  // The runtime's writable memory (.data, .bss), by address.
  std::span<const Range> data() const { return data_; }
  // Calls visit(address, word) for each pointer-sized word of data().
  void scan_data(const std::function<void(Address, u64)> &visit) const;
  // Returns the address of the last of these words that has this value.
  std::optional<Address> find_last_in_data(u64 value) const;
  // Returns the offsets first, first + step, … below end.
  static std::vector<i64> offsets(i64 first, i64 end, i64 step);
  // Returns the offsets in [first, end) for which `passes` is true. Its reads are recorded as a search
  // (Memory::as_searched).
  std::vector<i64> search(i64 first, i64 end, i64 step, const Predicate &passes) const;

  // Returns how many bytes the structure at that address can have: at most `most`, and at most its block of memory, if
  // glibc's allocator shows the size of that.
  u64 room(Address structure, u64 most) const;

  // Returns the pointer-sized word there, or nullopt.
  std::optional<u64> word(Address address) const { return memory.try_pointer(address); }
  // Returns the word to which a chain leads: q(q(a + o1) + o2)…
  std::optional<u64> follow(Address address, std::initializer_list<i64> offsets) const;

private:
  std::vector<i64> table_values(const std::string &name) const;
  std::span<const ShippedTable> tables_;
  std::vector<Range> data_;
};

} // namespace dnheap
