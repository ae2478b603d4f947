// PeImage: a PE file (managed assembly, Windows library) as a file, or in a target's memory, either mapped section by
// section or flat as on disk. Anything unreadable is nullopt or empty, never an error. Opening reads the headers and
// the section table; the rest is read when asked for. Always little-endian, whatever the target is. For dump/,
// contract/, runtime/; const functions from any thread. Bytes or Memory must outlive the image. Names follow the
// PE/COFF specification; the CLI header is ECMA-335 II.25.3.3.
#pragma once
#include "target/memory.h"

#include <array>

namespace dnheap {

// A piece of the image. For an image in memory `address` is an address of the target, for a file the offset in it.
struct PeBlock {
  Address address = 0;
  u64 size = 0;
};

class PeImage {
public:
  struct Section {
    std::string name;
    u32 rva = 0, virtual_size = 0, file_offset = 0, file_size = 0;
    bool writable = false, executable = false;
  };
  struct CodeView { // identifies the image's .pdb
    std::array<u8, 16> guid{};
    u32 age = 0;
    std::string path;
    u32 stamp = 0; // in a portable one: the rest of its id
    bool is_portable = false;
  };

  struct Place { // within the image
    u32 rva = 0, size = 0;
  };

  static std::optional<PeImage> from_file(Bytes file);
  static std::optional<PeImage> at(const Memory &memory, Address base, bool mapped);

  // IMAGE_FILE_MACHINE_*. In ReadyToRun images for systems other than Windows it is XORed with a number per system.
  u16 machine() const { return machine_; }
  u32 time_date_stamp() const { return time_date_stamp_; }
  u32 size_of_image() const { return size_of_image_; }
  u32 size_of_headers() const { return size_of_headers_; }
  u64 image_base() const { return image_base_; }
  bool is_managed() const { return cli_header_.size != 0; }
  std::span<const Section> sections() const { return sections_; }

  // Returns where `size` bytes at an RVA lie; nullopt if they are not all in one section of the image. The bytes may
  // still be unknown: see view().
  std::optional<PeBlock> find(u32 rva, u64 size) const;
  // Returns the bytes of a block; empty if they are not all known or do not lie in one range.
  Bytes view(PeBlock block) const { return memory().view(block.address, block.size); }

  // Returns the ECMA-335 metadata root. Nullopt without a CLI header of the right size and the signature at the place
  // that it names. So a flat image taken for a mapped one, or the reverse, gives nullopt.
  std::optional<PeBlock> metadata() const;
  // Returns the header of an assembly's ReadyToRun code: {signature, versions, flags, number of tables, {kind, RVA,
  // size} each}. Nullopt: it has none.
  std::optional<PeBlock> managed_native_header() const;
  // Returns the RVA of an export; forwarders to other modules are not found. Linear in the number of exports.
  std::optional<u32> find_export(std::string_view name) const;
  std::optional<CodeView> code_view() const;
  // Returns the CodeView record of the portable .pdb; ReadyToRun images may name another .pdb as well.
  std::optional<CodeView> portable_code_view() const;
  // Returns the portable .pdb inside the image: see embedded_pdb.h.
  std::optional<PeBlock> embedded_pdb() const;
  // Returns the table of functions (.pdata) of x64 images: {begin, end, unwind data}, by address.
  std::optional<PeBlock> functions() const { return find(functions_.rva, functions_.size); }
  // Returns the list of words that depend on the image's address.
  std::optional<PeBlock> base_relocations() const { return find(relocations_.rva, relocations_.size); }
  // Returns the table that the loader fills with the addresses of imported functions; nullopt if there is none.
  std::optional<Place> import_addresses() const {
    return imports_.size ? std::optional(Place{imports_.rva, imports_.size}) : std::nullopt;
  }

private:
  struct Directory {
    u32 rva = 0, size = 0;
  };

  struct DebugEntry {
    u32 type = 0, stamp = 0;
    u16 minor_version = 0;
    PeBlock data;
  };
  std::optional<DebugEntry> debug_entry(u64 index) const;
  std::optional<CodeView> code_view_of(const DebugEntry &entry) const;
  PeImage(const Memory *memory, Bytes file, Address base, bool mapped);
  const Memory &memory() const { return memory_ ? *memory_ : file_; }
  bool read_headers();
  template <std::unsigned_integral T> std::optional<T> load_at(Address address) const;
  template <std::unsigned_integral T> std::optional<T> load_rva(u64 rva) const;

  const Memory *memory_; // null: file_
  Memory file_;          // a file is a flat image at address 0
  Address base_;
  bool mapped_;
  u16 machine_ = 0;
  u32 time_date_stamp_ = 0, size_of_image_ = 0, size_of_headers_ = 0;
  u64 image_base_ = 0;
  Directory exports_, functions_, debug_, cli_header_, relocations_, imports_;
  std::vector<Section> sections_;
};

} // namespace dnheap
