// ContractDescriptor: a runtime's description of its own data structures: types with field offsets, globals, contract
// versions. One struct for descriptors parsed from the target's memory (parse.h), merged from sub-descriptors, or
// derived by runtime/layout/ for runtimes that publish less; each value has its origin. Format: dotnet/runtime
// docs/design/datacontracts/{contract-descriptor,data_descriptor}.md. Look-ups are O(log n): resolve once, keep the
// number.
#pragma once
#include "target/memory.h"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dnheap {

// The origin of a value, best first. A value of any origin has passed its predicate.
enum class Origin : u8 { published, discovered, table };
const char *name_of(Origin origin); // "published", "discovered", "table"

struct Field {
  i64 offset = 0;
  std::string type; // as published, e.g. "pointer", "GCAllocContext"; may be empty
  Origin origin = Origin::published;
};

struct DataType {
  std::optional<u32> size; // absent: indeterminate
  std::map<std::string, Field, std::less<>> fields;
};

struct Global {
  std::string type;          // as published; may be empty
  std::string text;          // for string values
  std::optional<u64> number; // direct: the value. Indirect: the ADDRESS of the runtime's variable (or of its struct).
  bool indirect = false;
  Origin origin = Origin::published;
};

// One descriptor in the target; sub-descriptors are merged into their parent.
struct DescriptorSource {
  std::string name;    // "" for the main one, else the key in subDescriptors
  Address address = 0; // 0: absent (its pointer is null or unreadable)
  Address json = 0;
  u64 json_size = 0;
  u64 version = 0; // JSON "version"
  std::string baseline;
  u64 pointer_count = 0;
  std::string problem; // why it is absent, in words
};

struct ContractDescriptor {
  std::map<std::string, DataType, std::less<>> types;
  std::map<std::string, Global, std::less<>> globals;
  std::map<std::string, std::string, std::less<>> contracts; // "GC" → "c1"; an integer N is normalised to "cN"
  std::map<std::string, Origin, std::less<>> contract_origin;
  std::vector<DescriptorSource> sources;
  // Why a value (TYPE.FIELD, or a global) is missing, by name: what was tried, and the test it had to pass.
  std::map<std::string, std::string, std::less<>> missing;
  // Published values that memory does not confirm, by name, and why. They are used all the same, since the test's own
  // assumptions may be wrong.
  std::map<std::string, std::string, std::less<>> doubted;
  std::string found_by; // "export of libcoreclr.so", "scan for its magic", …; empty: none was found

  const DataType *find_type(std::string_view type) const;
  const Field *find_field(std::string_view type, std::string_view field) const;
  const Global *find_global(std::string_view name) const;
  // True if there is a value of that name (TYPE.FIELD, or a global).
  bool has(std::string_view name) const;

  // Returns the offset of a field, or nullopt: the capability test.
  std::optional<i64> try_offset(std::string_view type, std::string_view field) const;
  // Throws Error that names type, field, and what was tried, if the offset is unknown.
  i64 offset(std::string_view type, std::string_view field) const;
  u64 size_of(std::string_view type) const;
  // Returns the number of a global: a direct value, or the address of an indirect one.
  std::optional<u64> try_number(std::string_view global) const;
  u64 number(std::string_view global) const;

  // Add or replace a value.
  void set_field(const std::string &type, const std::string &field, i64 offset, Origin origin);
  void set_number(const std::string &global, u64 number, bool indirect, Origin origin);
  void set_text(const std::string &global, const std::string &text, Origin origin);
};

} // namespace dnheap
