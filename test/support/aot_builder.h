// AotBuilder: writes a synthetic NativeAOT process, down to the bytes, as a Target in any of four formats: a program
// with the runtime's debug header (3.0, 4.0, 5.0), its contract descriptor (n1), or both; ReadyToRun header of two
// forms, MethodTables and NativeFormat metadata; threads; workstation or server heaps of regions with objects. What is
// not set is zero.
//
//   AotBuilder heap({.format = format, .major = 4});
//   Address node = heap.type("Shop", "Node", 1);                   // one word of fields
//   AotSegment &young = heap.segment(GCSegmentGeneration::gen0);
//   heap.object(young, node);
//   std::unique_ptr<Target> target = heap.target();
//
// Places differ from real ones where they may. heap.objects lists all objects: what a walk must find.
#pragma once
#include "metadata/native_format.h"
#include "runtime/facts/handle_data.h"
#include "runtime/gc/gc_1.h"
#include "support/block.h"
#include "support/edits.h"
#include "target/target.h"

#include <deque>
#include <map>
#include <memory>

namespace dnheap::test {

// A number as NativeFormat writes it: in the fewest bytes, or in five.
void put_number(FormatWriter &out, u32 value, bool longest = false);

struct AotShape {
  Format format = {};
  u16 major = 5;
  bool server = false;
  bool exported = true;    // false: only cookie and magic tell where header and descriptor lie
  bool header = true;      // the debug header
  bool metadata = true;    // false: types have no names
  bool descriptor = false; // the contract descriptor, with sub-descriptors of the GC and of managed types
  bool early = false;      // that of the first builds that had one: contract 1001, RuntimeThreadLocals
  bool released = false; // as .NET 11.0.0 has it: sections with lengths, names hashed by parts, Object n1, its version,
                         // the range of managed code, the types of suspended calls
};

struct AotObject {
  Address address = 0, method_table = 0;
  u64 size = 0;
  bool operator==(const AotObject &) const = default;
};

struct AotThread {
  AllocationContext context = {};
  Address statics = 0;                       // an object
  std::vector<Address> inlined_statics = {}; // objects
};

struct AotSegment {
  GCSegmentGeneration generation;
  Address start;
  Block block;
  Address structure = 0;
};

class AotBuilder {
public:
  explicit AotBuilder(const AotShape &shape);
  AotBuilder(const AotBuilder &) = delete;

  const AotShape shape;
  const u64 p; // pointer size

  // Types. `enclosing`: another one of these.
  Address type(const std::string &name_space, const std::string &name, u64 fields, Address enclosing = 0);
  Address definition(const std::string &name_space, const std::string &name, u32 arity); // of a generic type
  Address instance(Address definition, const std::vector<Address> &arguments, u64 fields, u32 more_flags = 0);
  Address array(Address element, u32 component_size, u32 rank = 0); // rank 0: a vector
  Address statics(u64 fields);                                      // what the compiler makes up
  Address continuation_type();                       // System.Runtime.CompilerServices.Continuation; the same each time
  Address continuation(u64 numbers, u64 references); // made up for a suspended call: so many words, and behind them
  Address object_type = 0, string_type = 0, free_type = 0;

  // Where a type's references lie: a letter per word behind the first one: 'r', or anything else. As many words as it
  // has.
  void references(Address method_table, std::string_view words);
  u32 has_pointers() const { return shape.major <= 3 ? 0x200000 : 0x1000000; }
  void parent(Address method_table, Address of) { data.pointer(method_table + 8, of); }
  NativeHashing hashing() const { return shape.released ? NativeHashing::parts : NativeHashing::whole; }

  AotSegment &segment(GCSegmentGeneration generation);
  Address object(AotSegment &segment, Address method_table, u64 components = 0);
  AllocationContext context(AotSegment &segment, u64 unused); // and of the first thread
  Address static_cell(u64 content);                           // where the object with a type's static fields is told

  std::deque<AotSegment> segments;
  std::vector<AotObject> objects;
  std::vector<AotThread> threads;                       // three to begin with
  std::vector<Address> finalizable;                     // objects of gen2
  std::vector<std::pair<HandleType, Address>> handles;  // at most eight of a kind; told by descriptors only
  std::map<std::string, std::string> contract_versions; // as JSON, in place of those that there are
  bool gc_text_only = false;                            // the GC's publishes what its text lists (gc_text.h), no more
  std::map<Address, u32> hashes;                        // of types

  // The program's memory.
  Block constants, data;
  Block native; // the runtime's own heap
  Block handle_segment;
  Address header = 0, types = 0;            // the debug header, its table of types
  std::pair<Address, Address> initialised;  // .data: the header and all that the file knows
  std::map<std::string, Address> variables; // in `data`
  Address base() const { return base_; }
  Address end() const { return data.end() + 0x1000; }

  // Changes to the finished memory.
  void poke(Address at, u64 value, u64 size) { edits_.pokes.push_back({at, value, size}); }
  void hole(Address start, Address end) { edits_.holes.emplace_back(start, end); }

  Address stack(u64 thread) const; // its lowest address
  std::unique_ptr<Target> target();
  // The program as a file, valid after target(): before it ran, that is without what the runtime wrote.
  std::vector<std::byte> program_file() const;

private:
  static constexpr u32 generation_words = 33, start_segment_word = 7;

  Address method_table(u32 flags, u32 base_size, Address related, u32 hash, const std::vector<Address> &parts);
  Address described(const std::string &name_space, const std::string &name, u32 base_size, u32 flags,
                    Address enclosing);
  u32 metadata_string(const std::string &text);
  u32 metadata_name_space(const std::string &name);
  void build();
  void write_sections();
  void write_header();
  void write_heap();
  void write_generations(Address table, bool all);
  void write_threads();
  void write_handles();
  void write_descriptors();
  Address write_gc_descriptor();
  Address write_managed_descriptor();
  Address text(const std::string &text);
  void relative(Address at, Address to) { data.word(at, to - at); }
  std::vector<std::byte> library(const std::vector<std::byte> &writable) const;

  Address base_;
  Address cell_ = 0, descriptor_ = 0, continuation_type_ = 0;
  std::vector<Address> static_cells_;
  FormatWriter metadata_;
  std::map<Address, u32> records_; // type definitions in metadata_
  std::map<std::string, u32> name_spaces_;
  struct Sizes {
    u32 base, component;
  };
  std::map<Address, Sizes> sizes_;
  std::vector<Address> relocated_;
  std::vector<std::byte> before_; // `data` before the runtime wrote to it
  Edits edits_;
  bool built_ = false;
};

// Every format with every version, server and workstation, with and without export.
std::vector<AotShape> all_aot_shapes();
// Every format with a contract descriptor, server and workstation, with and without export, debug header, early names;
// and as .NET 11.0.0 has it.
std::vector<AotShape> all_n1_shapes();
std::string name_of(const AotShape &shape);

} // namespace dnheap::test
