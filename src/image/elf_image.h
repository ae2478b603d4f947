// ElfImage: an ELF program or library as it lies mapped in a target's memory; what it cannot read is nullopt or empty,
// never an error. at() reads the headers, about a page; find_symbol() is one hash look-up, a few dozen loads.
// For dump/, contract/, runtime/; const functions from any thread. The Memory must outlive the image.
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

  // The image whose ELF header lies at `base`.
  static std::optional<ElfImage> at(const Memory &memory, Address base);

  Address base() const { return base_; }
  // End of the highest segment, .bss included.
  Address end() const { return end_; }
  // What is added to an address in the file to get the one in memory.
  u64 bias() const { return bias_; }
  u16 machine() const { return header_.machine; }
  Format format() const { return header_.format; }
  std::span<const Segment> segments() const { return segments_; }
  // What the first program header of a type tells of.
  std::optional<Segment> find_header(u32 type) const;

  // Empty when the image has none or it is not in the memory.
  std::vector<u8> build_id() const;
  // The address of an exported symbol; of several versions of one name, the one the hash table lists first. For an
  // indirect function, its resolver. Thread-local symbols have no address.
  std::optional<Address> find_symbol(std::string_view name) const;
  // Value of each tag of the dynamic section; of a repeated tag the last.
  std::map<u64, u64> dynamic() const;
  // The place that a pointer in the dynamic section means: some C libraries add the bias to these in memory, some do
  // not, and in files it never is. Nullopt when neither reading lies inside the image.
  std::optional<Address> resolve(u64 pointer) const;

private:
  struct Symbols; // the tables that a look-up needs

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
