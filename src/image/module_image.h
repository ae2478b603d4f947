// ModuleImage: a program or library as it lies mapped in a target's memory, whatever its format: ELF or PE today. What
// everybody asks who does not care which; what is particular to one format, say elf_image.h and pe_image.h. What cannot
// be read is nullopt or empty, never an error. at() reads the headers, about a page; find_symbol() is a look-up among
// what the module exports, in PE linear in their number. A further format is one more member of `image_`, and its lines
// in module_image.cc. Const functions from any thread. The Memory must outlive the image.
#pragma once
#include "image/elf_image.h"
#include "image/pe_image.h"

#include <string_view>
#include <variant>

namespace dnheap {

class ModuleImage {
public:
  // What the loader maps with rights of its own: an ELF segment, a PE section.
  struct Section {
    Address address = 0;
    u64 size = 0; // in memory, .bss included
    bool writable = false, executable = false;
  };

  // The image whose header lies at `base`.
  static std::optional<ModuleImage> at(const Memory &memory, Address base);

  Address base() const { return base_; }
  // End of the highest section.
  Address end() const { return end_; }
  // What is added to an address in the file to get the one in memory.
  u64 bias() const { return bias_; }
  std::span<const Section> sections() const { return sections_; }
  bool has_writable_sections() const;
  // What `memory`, of this target, knows of the writable ones; a real image has a few pieces, a hostile one is cut.
  std::vector<Range> writable_bytes(const Memory &memory) const;
  // The same of all sections in which data lie that the loader changes to addresses: the writable ones, and where it
  // changes constants, those that hold no code.
  std::vector<Range> relocated_bytes(const Memory &memory) const;
  // What the linker wrote to tell builds apart; empty when there is none or it is not in the memory. PE images are told
  // by what their loader records (PeIdentity).
  std::vector<u8> build_id() const;
  // The address of an exported symbol. Thread-local symbols, and those of other modules, have none.
  std::optional<Address> find_symbol(std::string_view name) const;

  // Where it lists how its functions are left: .eh_frame_hdr of ELF (PT_GNU_EH_FRAME). Of PE see FunctionTable.
  std::optional<Section> call_frame_table() const;

  // Does it hold .NET metadata? Of PE only.
  bool is_managed() const;
  // Are words that the loader changes to addresses also in sections that are not writable? In ELF they are not: what is
  // read-only only after loading (.data.rel.ro) is in a writable segment. In PE they are.
  bool relocates_constants() const { return std::holds_alternative<PeImage>(image_); }

private:
  explicit ModuleImage(ElfImage image);
  ModuleImage(PeImage image, Address base);
  std::vector<Range> bytes_of(const Memory &memory, bool (*wanted)(const Section &)) const;

  std::variant<ElfImage, PeImage> image_;
  Address base_ = 0, end_ = 0;
  u64 bias_ = 0;
  std::vector<Section> sections_;
};

// Does a program's or library's file, as it lies on disk, export one of these symbols?
bool exports_any(Bytes file, std::span<const char *const> names);

} // namespace dnheap
