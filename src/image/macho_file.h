// MachoFile: lays out a Mach-O program or library file in memory as the loader would: to supply what is not in a dump,
// and to examine files (lay it out into a Memory, then use MachoImage). parse() reads the load commands only; layout()
// copies only the writable segments, usually well below a megabyte. For dump/, contract/, runtime/; const functions
// from any thread. The bytes must outlive the file and its layouts.
#pragma once
#include "image/macho_format.h"
#include "target/memory.h"

#include <memory>

namespace dnheap {

class MachoFile {
public:
  struct Piece {
    Range range;
    bool is_constant = true; // no variable of the process lies there
  };

  // Nullopt unless `file` is a Mach-O program or library with complete load commands; for a universal file take its
  // slices (macho_format.h).
  static std::optional<MachoFile> parse(Bytes file);

  u32 cpu() const { return header_.cpu; }
  const std::vector<u8> &build_id() const { return uuid_; } // LC_UUID

  // Returns the bytes that the loader would put into memory with the start of the file at `base`: segments that are
  // never written to directly from the file, the others as copies (owned by `storage`) with chained fixups applied.
  // Words that need another module's symbols are left out, since the file does not contain their values; files whose
  // fixups are of another kind (LC_DYLD_INFO, pointers with signatures) give only the segments that need none.
  std::vector<Piece> layout(Address base, std::vector<std::shared_ptr<const void>> &storage) const;

private:
  MachoFile(Bytes file, const MachoHeader &header) : file_(file), header_(header) {}
  void read(const MachoCommand &command);
  Bytes content(const MachoSegment &segment) const;

  Bytes file_;
  MachoHeader header_;
  std::vector<MachoSegment> segments_;
  std::vector<u8> uuid_;
  Bytes fixups_;
  bool has_other_fixups_ = false;
};

} // namespace dnheap
