// PeFile: a PE file to be laid out in memory as the Windows loader would: for what a dump leaves out. parse() reads the
// headers only; layout() copies the sections that relocations change, and nothing else.
// For dump/, contract/, runtime/, snapshot/; const functions from any thread. The bytes must outlive the file and its
// layouts. Names follow the PE/COFF specification.
#pragma once
#include "image/pe_image.h"

#include <memory>

namespace dnheap {

class PeFile {
public:
  static std::optional<PeFile> parse(Bytes file);

  const PeImage &image() const { return image_; }

  struct Layout {
    std::vector<Range> constants; // headers, and the sections that nobody writes to
    std::vector<Range> initial;   // the others: what they held at first
  };
  // Where the loader would put it with the image at `base`, base relocations applied. The words that it fills in later
  // (import addresses) are left out of the constants.
  Layout layout(Address base, std::vector<std::shared_ptr<const void>> &storage) const;
  // Of that only `initial`: nothing else is copied.
  std::vector<Range> initial(Address base, std::vector<std::shared_ptr<const void>> &storage) const;

  // Out of `initial`, the tables of code that was compiled ahead of time (where functions begin, entry points, lines):
  // up to .NET 11 they lie in a writable section, though nobody writes to them. Left out are the import sections, whose
  // cells are filled as methods are called, and what relocations change.
  std::vector<Range> constant_tables(Address base, const std::vector<Range> &initial) const;

private:
  struct Placed;
  std::vector<Placed> place(Address base, bool only_writable, std::vector<std::shared_ptr<const void>> &storage) const;

  explicit PeFile(Bytes file, PeImage image) : file_(file), image_(std::move(image)) {}

  Bytes file_;
  PeImage image_;
};

} // namespace dnheap
