// MachoImage: a Mach-O program or library mapped in a target's memory; anything unreadable is nullopt or empty, never
// an error. at() reads header and load commands, some pages; find_symbol() walks the trie of exports or, in old images
// without one, goes over the symbol table. For images in dyld's shared cache only what is theirs alone counts: the
// code. For dump/, contract/, runtime/; const functions from any thread. The Memory must outlive the image.
#pragma once
#include "image/macho_format.h"
#include "target/memory.h"

#include <memory>
#include <string>
#include <vector>

namespace dnheap {

class MachoImage {
public:
  struct Segment {
    Address address = 0;
    u64 size = 0, file_offset = 0;
    bool writable = false, executable = false;
  };

  // Returns the image whose header lies at `base`.
  static std::optional<MachoImage> at(const Memory &memory, Address base);

  Address base() const { return base_; }
  // Returns the end of the highest segment.
  Address end() const { return end_; }
  // Returns the number to add to an address in the file to get the one in memory.
  u64 bias() const { return bias_; }
  u32 cpu() const { return header_.cpu; }
  u32 type() const { return header_.type; }
  std::span<const Segment> segments() const { return segments_; }
  // Returns the path under which a library is known to the linker: "@rpath/libcoreclr.dylib".
  const std::string &own_name() const { return own_name_; }
  const std::vector<u8> &build_id() const { return uuid_; } // LC_UUID
  // Returns the address of an exported symbol, without the leading underscore that compilers add. `any`: also of one
  // that is not exported.
  std::optional<Address> find_symbol(std::string_view name, bool any = false) const;
  // Returns the address of the first section of that name, in whatever segment.
  std::optional<Address> find_section(std::string_view name) const;

private:
  MachoImage(const Memory &memory, Address base) : memory_(&memory), base_(base) {}
  void read(const MachoCommand &command);
  bool place_segments();
  std::optional<Address> address_of_offset(u64 offset) const;
  std::optional<Address> find_in_table(std::string_view name, u64 first, u64 count, bool any) const;

  const Memory *memory_;
  Address base_, end_ = 0;
  u64 bias_ = 0;
  MachoHeader header_;
  std::shared_ptr<const std::vector<std::byte>> commands_; // shared: copies of the image point into it, too
  std::vector<Segment> segments_;
  std::vector<MachoSegment> all_segments_; // as in the file; names and sections point into commands_
  std::vector<u8> uuid_;
  std::string own_name_;
  u64 exports_ = 0, exports_size_ = 0;
  u64 symbols_ = 0, symbol_count_ = 0, strings_ = 0, strings_size_ = 0;
  std::optional<u64> first_external_, external_count_;
};

} // namespace dnheap
