// HeapBuilder: writes a synthetic .NET process, down to the bytes, as a Target in any of four formats
// (minidump_writer.h and macho_core_writer.h make dumps of Windows and macOS of it): the runtime's module with its
// contract descriptor or, as in .NET 8 to 10, with GcDacVars in its place; Modules with metadata in flat PE images;
// MethodTables; threads; heaps with generations, segments and objects. What is not set is zero.
//
//   HeapBuilder heap({.format = format, .net = Net::net9});
//   Address node = heap.type("Shop.Node", 1);            // one field
//   SegmentWriter &young = heap.segment(GCSegmentGeneration::gen0);
//   young.object(node);
//   young.string("text");
//   heap.threads[0].context = young.context(100);        // a hole
//   std::unique_ptr<Target> target = heap.target();
//
// Addresses fit into 32 bits for 32-bit targets and do not for 64-bit ones. heap.objects lists all objects written:
// what a walk must find. References stay valid while the builder lives; nothing can be added after the first target().
#pragma once
#include "runtime/gc/gc_1.h"
#include "support/block.h"
#include "support/edits.h"
#include "support/gc_state.h"
#include "support/metadata_writer.h"
#include "target/target.h"

#include <deque>
#include <memory>

namespace dnheap::test {

enum class Net : u8 { net8, net9, net10, net11 }; // which version's layout, and what it publishes

struct HeapShape {
  Format format = {};
  Net net = Net::net11;
  bool server = false;
  u32 heaps = 1; // of server GC
  bool regions = true;
  bool published = true;    // false: the contract descriptor of .NET 9 to 11 is withheld (8.0 has none)
  bool exported = true;     // false: only its magic tells where it lies
  bool single_file = false; // the runtime's module is the program itself
  bool signed_app = false; // app.dll has a key of .NET's: its types with names like the framework's are the framework's
};

// Where a version keeps what the tests are about, in pointer-sized words.
struct Layout {
  u64 store_first, link, os_id, context, locals, inner_context;               // ThreadStore and Thread; 0: not that way
  u64 module_base, module_assembly, module_path, module_types, loaded_layout; // Module and PEImage
};

// One MethodTable.
struct TypeShape {
  u32 base_size = 0; // object header included; 0: the smallest
  u32 component_size = 0;
  u32 flags = 0;                      // of MTFlags, beyond what follows from the rest
  u32 rid = 0;                        // of its TypeDef
  Address module = 0;                 // 0: the application's
  std::optional<Address> parent = {}; // System.Object unless told otherwise
  std::vector<Address> interfaces = {}, arguments = {};
  u32 ancestor_dictionaries = 0; // of generic base types, in front of its own
  Address element = 0;           // of an array
  Address canonical = 0;         // another MethodTable that owns the EEClass
  // Where references lie: (offset from the object's MethodTable, bytes). Of arrays: the elements, if there is a series
  // at all; or `pattern`, (references, bytes to skip behind them) again and again from `pattern_start` on.
  std::vector<std::pair<u64, u64>> series = {}, pattern = {};
  u64 pattern_start = 0;
};

// One FieldDesc. `type`: a CorElementType; `offset`: from the first field on.
struct FieldShape {
  u32 rid = 0; // of its row in the metadata of the type's module
  ElementType type = ElementType::Class;
  u32 offset = 0;
  bool is_static = false, is_thread_static = false, is_rva = false;
};

struct WrittenObject {
  Address address = 0, method_table = 0;
  u64 size = 0, aligned_size = 0;
  GCSegmentGeneration generation = GCSegmentGeneration::gen0;
  bool operator==(const WrittenObject &) const = default;
};

class HeapBuilder;
struct DescriptorWriter;

// One region or segment. Objects follow one another without holes unless context() makes one.
class SegmentWriter {
public:
  SegmentWriter(HeapBuilder &builder, GCSegmentGeneration generation, u32 heap, Address address);

  Address object(Address method_table, u64 components = 0);
  Address string(std::string_view text);
  Address free(u64 size); // all of it; at least the smallest object
  // A hole of `unused` bytes, and of the smallest object that the GC keeps behind it.
  AllocationContext context(u64 unused);
  Address zeros(u64 size);
  void store(Address at, u64 value, u64 size) { block.put(at, value, size); }
  // Segments without regions: the younger generation begins here.
  void begin_gen1() { gen1 = block.end(); }
  void begin_gen0() { gen0 = block.end(); }
  Address end() const { return backing.empty() ? block.end() : block.address() + backing.size(); }

  GCSegmentGeneration generation;
  u32 heap = 0;
  Block block;
  Bytes backing;                                    // in place of `block`: more than a test should hold
  Address start = 0;                                // the first object
  bool is_ephemeral = false;                        // of a heap without regions
  Address gen1 = 0, gen0 = 0;                       // where these begin in it
  Address structure = 0;                            // the heap_segment
  std::optional<Address> allocated = {}, next = {}; // in place of the right ones

private:
  HeapBuilder &builder_;
};

// A loaded assembly.
struct ModuleWriter {
  std::string file_name;
  Address module = 0, image = 0; // the runtime's Module; its PE image
  bool has_image = true;
  MetadataWriter metadata = {};
  std::vector<Address> instantiations = {}; // generic types and arrays that belong to it
  Address statics = 0;                      // 8.0: where the references among them lie
  std::optional<u64> number = {};           // 8.0: in place of its place in the list
  bool half_gone = false;                   // 8.0: has lost what its statics are found by
};

struct ThreadWriter {
  u64 os_id = 0; // 0: has not started
  AllocationContext context = {};
  u64 alloc_bytes = 8192, alloc_bytes_uoh = 0; // what its context handed out
  bool has_locals = true;                      // .NET 9 on
  Address address = 0;
  bool in_target = true; // does the target's list of threads know it?
  Address stack_base = 0, stack_limit = 0, stack_pointer = 0;
  std::vector<u64> registers = {};
  // .NET 9 on: an object[] whose elements hold a type's thread statics each, by the type's index, counted from 2; 8.0:
  // an object[] with those of the application.
  Address statics = 0;
  u64 statics_count = 0; // first index that is not there
};

class HeapBuilder {
public:
  explicit HeapBuilder(const HeapShape &shape);
  HeapBuilder(const HeapBuilder &) = delete;

  const HeapShape shape;
  const u64 p; // pointer size
  const Layout layout;

  // Types.
  ModuleWriter &core() { return modules.front(); }
  ModuleWriter &app() { return modules[1]; }
  ModuleWriter &module(const std::string &file_name);
  // A TypeDef of the application with its MethodTable, for objects of that many words.
  Address type(const std::string &full_name, u64 fields);
  Address array(Address element, u32 component_size, u32 rank = 0); // rank 0: a vector
  Address method_table(const TypeShape &shape);
  // The list of fields that the type itself declares. At most one call per type, parents first.
  void fields(Address method_table, const std::vector<FieldShape> &fields);
  // .NET 11: a type of suspended calls that keep so many bytes, with references at these offsets among them. All share
  // one EEClass, which points back at the first; the first call makes System.Runtime.CompilerServices.Continuation.
  Address continuation_type(u64 data_bytes, const std::vector<u64> &references);
  // Where the references among its statics lie: .NET 9 on. In 8.0 all of a module lie at ModuleWriter::statics.
  void statics(Address method_table, Address base);
  void thread_statics(Address method_table, u32 index); // .NET 9 on
  // What its EEClass says that it is: ValueType, or of primitives and enums which; `size` in bytes.
  void value_type(Address method_table, ElementType normal_type, u64 size);
  Address continuation_base = 0; // Continuation itself; 0: none was asked for
  Address object_type = 0, string_type = 0, free_type = 0, object_array_type = 0;
  u64 size_of(Address method_table, u64 components) const;

  // The heap. A segment of gen0 or gen1 needs regions; without them there is one ephemeral() for gen2, gen1 and gen0.
  SegmentWriter &segment(GCSegmentGeneration generation, u32 heap = 0);
  SegmentWriter &ephemeral(u32 heap = 0);
  AllocationContext &generation_context(u32 heap, u32 generation) {
    return generation_contexts_[heap * 5 + generation];
  }

  std::vector<ThreadWriter> threads; // two, to begin with; their numbers in locks are 1, 2, …
  std::optional<CrashSignal> crash;  // what the container tells of
  u64 thread_size = 0x1000;          // what each Thread takes
  u64 thread_gap = 0;                // what lies behind each
  bool has_block_sizes = false;      // in front of each Thread says malloc how much it takes
  // The next sync block, for that object, whose header is made to name it; 0: it is free. Returns its index.
  u32 sync_block(Address object);
  std::vector<Address> sync_blocks; // by index - 1
  u64 unused_sync_entries = 0;      // what the words behind them hold
  AllocationContext global_context;
  u64 structures_invalid = 0;
  // As JSON, in place of 1: {"Thread", "\"c9\""}; "GC" is .NET 11's.
  std::map<std::string, std::string> contract_versions;
  GcState gc;                        // what it says beside segments and objects
  bool dac_globals_in_front = false; // of GcDacVars: as Windows' linker has it
  std::deque<ModuleWriter> modules;  // CoreLib, the application, others
  std::deque<SegmentWriter> segments;
  std::vector<WrittenObject> objects;

  std::map<std::string, std::map<std::string, i64>> more_fields; // published besides, of types
  // The runtime's memory, for what is not foreseen here.
  Block native;                      // the runtime's own heap: MethodTables, Modules, Threads
  Block data;                        // .data and .bss of its module
  std::deque<Block> handle_segments; // valid after target()
  std::vector<u8> build_id = {1, 2, 3, 4};
  std::map<std::string, Address> variables; // in `data`

  // Changes to the finished memory.
  void poke(Address at, u64 value, u64 size) { edits_.pokes.push_back({at, value, size}); }
  void hole(Address start, Address end) { edits_.holes.emplace_back(start, end); } // not in the dump
  void cut(Address at) { edits_.cuts.push_back(at); }                              // two pieces touch here

  std::unique_ptr<Target> target();
  // The runtime's module as a file, valid after target().
  std::vector<std::byte> library_file() const;
  // An assembly as a file; it is mapped flat.
  std::vector<std::byte> assembly_file(const ModuleWriter &module) const;

private:
  struct Piece {
    Address address;
    std::vector<std::byte> bytes;
  };

  Address variable(const std::string &name, u64 words = 1);
  void set(const std::string &name, u64 value) { data.pointer(variables.at(name), value); }
  void add_core_types();
  void add_primitive(const char *name, ElementType type, u32 size);
  Address class_of(Address method_table) const;
  void write_gc_desc(const TypeShape &type);
  void build();
  void write_module(const ModuleWriter &module);
  void write_assemblies();
  void write_thread_parts(const ThreadWriter &thread);
  void write_thread_statics();
  void write_locks();
  void add_locks(DescriptorWriter &to) const;
  Address sync_block_count_at(Address cache) const;
  Address auxiliary_of(Address method_table) const;
  void write_segments();
  void write_generations(Address table, u32 heap, Block &to);
  void write_heaps();
  void write_threads();
  void write_dac_vars();
  void write_dac_table();
  void write_descriptors();
  Address write_gc_descriptor();
  void add_gc_variables();
  void write_gc_state();
  Address write_free_regions(const std::vector<FreeRegionWriter> &regions, Address *last = nullptr);
  void write_free_list(Block &to, Address at, const std::vector<FreeRegionWriter> &regions);
  void write_card_tables();
  void write_handle_tables();
  void write_handle_segment(Block &to, u32 table, u32 segment, Address table_address, Address next);
  void add_gc_pointers(std::map<u64, Address> &pointers, std::map<u64, u64> &heap_fields) const;
  void add_gc_description(DescriptorWriter &to) const;
  Address handles_address() const;
  void write_context(Block &to, Address at, AllocationContext context) {
    to.pointer(at, context.pointer);
    to.pointer(at + p, context.limit);
    to.put(at + 2 * p, context.limit - context.pointer + 0x100, 8); // bytes handed out so far
  }
  Address alloc_allocated(u32 heap) const;
  const SegmentWriter *young_segment(u32 heap) const;
  std::vector<Piece> pieces() const;

  Address module_base_, array_base_type_ = 0; // System.Array
  Address continuation_class_ = 0;            // of all types of suspended calls
  Block constants_;                           // .rodata of its module
  std::map<Address, TypeShape> types_;
  std::map<Address, u64> instance_fields_; // by MethodTable; inherited ones included
  std::map<u32, AllocationContext> generation_contexts_;
  std::vector<Address> heap_addresses_, relocated_;
  Address descriptor_ = 0;
  Edits edits_;
  bool built_ = false;
};

} // namespace dnheap::test
