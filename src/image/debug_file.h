// DebugFile: a program's file, or its separate debug file, as debuggers read it, whatever its format: symbols,
// descriptions of types, sections by name. ELF with DWARF today. Nothing is trusted: invalid data are empty. Each
// question reads the file anew: its cost is linear in the symbols, the descriptions, or the content of a compressed
// section. Any thread; names point into the bytes.
#pragma once
#include "base/bytes.h"

#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

namespace dnheap {

// A place in memory: an address with an offset; with `in_object`, the offset is in the object that a word at the
// address leads to.
struct DebugPlace {
  Address address = 0; // in the process
  u64 offset = 0;
  bool in_object = false;
};

// One entry of the descriptions: a type, a part of one, or a variable.
struct DebugEntry {
  using Reference = u32; // an entry's own place in the descriptions; 0: none
  enum class Kind : u8 { other, class_type, reference, pointer, base_type, enumeration, variable, inheritance, member };

  Reference at = 0;
  Kind kind = Kind::other;
  u32 depth = 0;         // 0: the unit itself
  std::string_view name; // empty: none, or not read
  Reference type = 0, specification = 0;
  std::optional<u64> byte_size, member_offset; // the latter only if it is a constant
  bool is_declaration = false;
  std::optional<DebugPlace> place; // of a variable with a specification
};

class DebugFile {
public:
  DebugFile() = default; // has nothing
  // `bias` is added to the file's addresses to get those in the process. `storage` keeps the bytes alive.
  DebugFile(Bytes file, u64 bias, std::shared_ptr<const void> storage)
      : file_(file), bias_(bias), storage_(std::move(storage)) {}

  bool empty() const { return file_.empty(); }
  u64 bias() const { return bias_; }

  struct Content {
    Bytes bytes;
    std::shared_ptr<const void> storage; // keeps the bytes alive
  };
  // Returns the content of the section with that name, decompressed; empty if there is none.
  Content section(std::string_view name) const;

  // Calls visit for every defined symbol, with its address in the process.
  void for_each_symbol(const std::function<void(Address, std::string_view name)> &visit) const;
  struct Function {
    std::string_view name;
    Address start = 0;
  };
  // Returns the function that contains an address in the process, see find_elf_function().
  std::optional<Function> function_at(Address code) const;

  // Calls visit for the entries, in order, of each unit that this compiler wrote. Returns what keeps their names alive.
  std::vector<std::shared_ptr<const void>> for_each_entry(std::string_view producer,
                                                          const std::function<void(const DebugEntry &)> &visit) const;

private:
  Bytes file_;
  u64 bias_ = 0;
  std::shared_ptr<const void> storage_;
};

} // namespace dnheap
