// PdbPublics: the public symbols of a Windows .pdb: names of functions by their place in the image. A .pdb is a file of
// streams (MSF 7.00), each a list of blocks; three of them and the sections' headers are read, 12 bytes are kept for
// each symbol, and the stream with their names. Nothing is trusted: a file that breaks the format's rules gives an
// error, and takes no more memory than some four times its size. Any thread; names point into this object. Formats:
// LLVM's documentation of PDB files ("The MSF File Format", "The PDB DBI Stream").
#pragma once
#include "base/bytes.h"

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dnheap {

class PdbPublics {
public:
  // Nullopt: `why_not` has the reason, as part of a sentence.
  static std::optional<PdbPublics> read(Bytes file, std::string &why_not);

  // The id that its image names: PeImage::CodeView.
  const std::array<u8, 16> &guid() const { return guid_; }
  u32 age() const { return age_; }

  struct Function {
    std::string_view name;
    u32 start = 0; // RVA
  };
  // Returns the nearest symbol of code at or below an RVA, if both are in one section. A function that is not public
  // may lie between them.
  std::optional<Function> find(u32 rva) const;

private:
  struct Symbol {
    u32 rva = 0, name_at = 0, name_size = 0;
  };
  struct Section {
    u32 start = 0, size = 0;
    bool executable = false;
  };

  bool read_sections(Bytes headers);
  bool read_symbols();
  const Section *code_at(u32 rva) const;

  std::array<u8, 16> guid_{};
  u32 age_ = 0;
  std::vector<Section> sections_;
  std::vector<std::byte> records_;
  std::vector<Symbol> symbols_; // by rva
};

} // namespace dnheap
