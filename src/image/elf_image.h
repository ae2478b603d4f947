// ElfImage: an ELF program or library mapped in a target's memory; anything unreadable is nullopt or empty, never an
// error. at() reads the headers, about a page; find_symbol() is one hash look-up, a few dozen loads. For dump/,
// contract/, runtime/; const functions from any thread. The Memory must outlive the image.
#pragma once
#include "image/elf_format.h"
#include "target/memory.h"

#include <map>

namespace dnheap {

class ElfImage {
public:
  struct Segment {
    Address address = 0;
    u64 size = 0; // in memory, .bss included
    bool writable = false, executable = false;
  };

  // Returns the image whose ELF header lies at `base`.
  static std::optional<ElfImage> at(const Memory &memory, Address base);

  Address base() const { return base_; }
  // Returns the end of the highest segment, .bss included.
  Address end() const { return end_; }
  // Returns the number to add to an address in the file to get the one in memory.
  u64 bias() const { return bias_; }
  u16 machine() const { return header_.machine; }
  Format format() const { return header_.format; }
  std::span<const Segment> segments() const { return segments_; }
  // Returns the segment that the first program header of a type describes.
  std::optional<Segment> find_header(u32 type) const;

  // Returns the build id; empty if the image has none, or if it is not in the memory.
  std::vector<u8> build_id() const;
  // Returns the address of an exported symbol; among several versions of one name, the one that the hash table lists
  // first. For an indirect function, returns its resolver. Thread-local symbols have no address.
  std::optional<Address> find_symbol(std::string_view name) const;
  // Returns the value of each tag in the dynamic section; for a repeated tag the last one.
  std::map<u64, u64> dynamic() const;
  // Returns the address that a pointer in the dynamic section means: some C libraries add the bias to these in memory,
  // some do not, and files never contain it. Nullopt if neither reading lies inside the image.
  std::optional<Address> resolve(u64 pointer) const;

private:
  struct Symbols; // the tables for a look-up

  ElfImage(const Memory &memory, Address base) : memory_(&memory), base_(base) {}
  template <std::unsigned_integral T> std::optional<T> load_at(Address address) const;
  std::optional<u64> pointer_at(Address address) const;
  std::vector<std::byte> copy(Address address, u64 size) const;
  std::optional<Address> check_symbol(const Symbols &symbols, u64 index, std::string_view name) const;
  std::optional<Address> find_by_gnu_hash(const Symbols &symbols, Address table, std::string_view name) const;
  std::optional<Address> find_by_hash(const Symbols &symbols, Address table, std::string_view name) const;

  const Memory *memory_;
  Address base_, end_ = 0;
  u64 bias_ = 0;
  ElfHeader header_;
  std::vector<ElfSegment> headers_;
  std::vector<Segment> segments_;
};

} // namespace dnheap
