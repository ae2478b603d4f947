// Nf16Builder: writes a synthetic CoreRT process in the memory format "NF16", down to the bytes, as a Target in any of
// four formats: a program with its debug header (exported, from ELF or PE, or to be scanned for), the contract
// sections, generations, segments, EETypes and objects. Offsets of fields are unlike those of any real runtime, so that
// whoever does not ask the contract reads nonsense. What is not set is zero.
//
//   Nf16Builder process(format);
//   Address node = process.type(4 * process.p);
//   Nf16Segment &young = process.segment(G::gen0);       // the ephemeral one
//   young.object(node);
//   process.context = young.context(100);
//   std::unique_ptr<Target> target = process.target();
//
// process.objects lists all objects written: what a walk must find. Nothing can be added after the first target().
#pragma once
#include "runtime/corert/gc_nf16.h"
#include "support/edits.h"
#include "support/heap_builder.h"

#include <array>
#include <deque>
#include <memory>

namespace dnheap::test {

class Nf16Builder;

// One heap_segment. Objects follow one another without holes unless context() makes one.
class Nf16Segment {
public:
  Nf16Segment(Nf16Builder &builder, GCSegmentGeneration generation, Address address);

  Address object(Address eetype, u64 components = 0);
  // A hole of `unused` bytes, and of the smallest object behind it.
  AllocationContext context(u64 unused);
  // The ephemeral segment: the younger generation begins here.
  void begin_gen1() { gen1 = block.end(); }
  void begin_gen0() { gen0 = block.end(); }
  Address end() const { return block.end(); }

  GCSegmentGeneration generation; // gen0: the ephemeral segment
  Block block;
  Address start = 0;                     // the first object
  Address gen1 = 0, gen0 = 0;            // where these begin in it
  Address structure = 0;                 // the heap_segment
  std::optional<Address> allocated = {}; // in place of the right one
  std::optional<Address> next = {};

private:
  Nf16Builder &builder_;
};

class Nf16Builder {
public:
  struct Version {
    u16 major = 1, minor = 0;
  };

  explicit Nf16Builder(Format format, bool pe = false);
  Nf16Builder(const Nf16Builder &) = delete;

  const Format format;
  const u64 p; // pointer size
  const bool pe;

  // The header.
  bool exported = true;
  Version version;
  u32 more_flags = 0, padding = 0;
  std::array<Version, nf16_section_count> versions; // of the sections
  std::array<bool, nf16_section_count> named = {true, true, true, true, true};
  u32 structures_invalid = 0;
  WorkstationGcNf16 gc; // offsets; the addresses are filled in
  u16 decoys = 0;       // bytes that look like a header at first sight only, in front of it

  // An EEType; of the program, or made while it ran.
  Address type(u64 base_size, u32 component_size = 0, bool in_program = true);
  // gen0: the ephemeral segment, of which there is one, all gen0 unless begin_gen1() or begin_gen0() divide it; gen2;
  // loh.
  Nf16Segment &segment(GCSegmentGeneration generation);
  AllocationContext context; // of generation 0

  std::deque<Nf16Segment> segments;
  std::vector<WrittenObject> objects;
  std::vector<Address> some_types; // for the test's own use

  // An allocation context as a thread would have it, somewhere in native memory.
  Address store_context(AllocationContext context);
  u64 size_of(Address eetype, u64 components) const;
  Address module_base() const { return module_base_; }

  // Of the finished process.
  Address header = 0, generation_table = 0;
  std::array<Address, nf16_section_count> sections{};
  Block data;   // of the program
  Block native; // the runtime's own heap

  // Changes to the finished memory.
  void poke(Address at, u64 value, u64 size) { edits_.pokes.push_back({at, value, size}); }
  void hole(Address start, Address end) { edits_.holes.emplace_back(start, end); } // not in the dump

  // Writes everything but what is poked: addresses are known from then on.
  void build();
  std::unique_ptr<Target> target();

private:
  struct Piece {
    Address address;
    std::vector<std::byte> bytes;
  };

  void write_segments();
  void write_header();
  void write_context(Block &to, Address at, AllocationContext context) const;
  std::vector<Piece> pieces() const;
  std::vector<Piece> program() const;

  Address module_base_;
  Address counter_ = 0;
  struct TypeSize {
    u32 base_size = 0, component_size = 0;
  };
  std::map<Address, TypeSize> types_;
  Edits edits_;
  bool built_ = false;
};

} // namespace dnheap::test
