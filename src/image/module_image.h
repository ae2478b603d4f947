// ModuleImage: a program or library mapped in a target's memory, whatever its format: ELF, Mach-O or PE. It has the
// functions that make sense for every format; for those of one format see elf_image.h, macho_image.h and pe_image.h.
// Anything unreadable is nullopt or empty, never an error. at() reads the headers, about a page; find_symbol() is a
// look-up among the module's exports, in PE linear in their number. A new format needs one more member of `image_`, and
// its lines in module_image.cc. Const functions from any thread. The Memory must outlive the image.
#pragma once
#include "image/elf_image.h"
#include "image/macho_image.h"
#include "image/pe_image.h"

#include <string_view>
#include <variant>

namespace dnheap {

class ModuleImage {
public:
  // A unit that the loader maps with its own access rights: a segment of ELF or Mach-O, a section of PE.
  struct Section {
    Address address = 0;
    u64 size = 0; // in memory, .bss included
    bool writable = false, executable = false;
  };

  // Returns the image whose header lies at `base`.
  static std::optional<ModuleImage> at(const Memory &memory, Address base);

  Address base() const { return base_; }
  // Returns the end of the highest section.
  Address end() const { return end_; }
  // Returns the number to add to an address in the file to get the one in memory.
  u64 bias() const { return bias_; }
  std::span<const Section> sections() const { return sections_; }
  bool has_writable_sections() const;
  // Returns the bytes of the writable sections that `memory`, which must be the target's, knows: a few pieces in a real
  // image; a hostile one is cut.
  std::vector<Range> writable_bytes(const Memory &memory) const;
  // Returns the same for all sections whose data the loader may change to addresses: the writable sections; if the
  // loader also changes constants, all sections without code.
  std::vector<Range> relocated_bytes(const Memory &memory) const;
  // Returns the id by which the linker marks a build; empty if there is none or it is not in the memory: a GNU build
  // id, the UUID of Mach-O. PE images are identified by what their loader records (PeIdentity) instead.
  std::vector<u8> build_id() const;
  // Returns the address of an exported symbol. Thread-local symbols, and those of other modules, have none.
  std::optional<Address> find_symbol(std::string_view name) const;

  // Returns the unwind table: .eh_frame_hdr in ELF (PT_GNU_EH_FRAME). For PE see FunctionTable.
  std::optional<Section> call_frame_table() const;

  // True if it contains .NET metadata; PE only.
  bool is_managed() const;
  // True if the loader also changes words to addresses in sections that are not writable. In PE it does. In ELF and
  // Mach-O it does not: data that become read-only after loading (.data.rel.ro, __DATA_CONST) are in a writable
  // segment.
  bool relocates_constants() const { return std::holds_alternative<PeImage>(image_); }

private:
  explicit ModuleImage(ElfImage image);
  explicit ModuleImage(MachoImage image);
  ModuleImage(PeImage image, Address base);
  std::vector<Range> bytes_of(const Memory &memory, bool (*wanted)(const Section &)) const;

  std::variant<ElfImage, MachoImage, PeImage> image_;
  Address base_ = 0, end_ = 0;
  u64 bias_ = 0;
  std::vector<Section> sections_;
};

// True if a program's or library's file on disk exports one of these symbols.
bool exports_any(Bytes file, std::span<const char *const> names);

} // namespace dnheap
