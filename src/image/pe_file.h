// PeFile: lays out a PE file in memory as the Windows loader would: to supply what is not in a dump. parse() reads the
// headers only; layout() copies only the sections that relocations change. For dump/, contract/, runtime/, snapshot/;
// const functions from any thread. The bytes must outlive the file and its layouts. Names follow the PE/COFF
// specification.
#pragma once
#include "image/pe_image.h"

#include <memory>

namespace dnheap {

class PeFile {
public:
  static std::optional<PeFile> parse(Bytes file);

  const PeImage &image() const { return image_; }

  struct Layout {
    std::vector<Range> constants; // headers, and sections that are not writable
    std::vector<Range> initial;   // the initial contents of the other sections
  };
  // Returns the layout with the image at `base`, base relocations applied. Words that the loader fills in later (import
  // addresses) are left out of the constants.
  Layout layout(Address base, std::vector<std::shared_ptr<const void>> &storage) const;
  // Returns only `initial` of that, and copies nothing else.
  std::vector<Range> initial(Address base, std::vector<std::shared_ptr<const void>> &storage) const;

  // Returns the parts of `initial` that are tables of ReadyToRun code (function starts, entry points, lines): up to
  // .NET 11 they lie in a writable section, though nothing writes to them. Leaves out the import sections, whose cells
  // are filled as methods are called, and words changed by relocations.
  std::vector<Range> constant_tables(Address base, const std::vector<Range> &initial) const;

private:
  struct Placed;
  std::vector<Placed> place(Address base, bool only_writable, std::vector<std::shared_ptr<const void>> &storage) const;

  explicit PeFile(Bytes file, PeImage image) : file_(file), image_(std::move(image)) {}

  Bytes file_;
  PeImage image_;
};

} // namespace dnheap
