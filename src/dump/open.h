// open_dump: opens a file, or the one dump in a folder (dump_folder.h), as a Target, whatever the container. The file
// is mapped, not read; a compressed one is first decompressed into memory or a temporary file without a name, and what
// comes through a pipe is first stored in one. For snapshot/ and cli/.
#pragma once
#include "base/watch.h"
#include "target/target.h"

namespace dnheap {

struct OpenOptions {
  std::string temp_dir;        // where to decompress; empty = as TemporaryFile chooses
  unsigned threads = 1;        // for decompressing
  bool standard_input = false; // the path "-" is the dump that standard input holds, which can be read once
};

inline bool is_standard_input(const std::string &path, const OpenOptions &options) {
  return options.standard_input && path == "-";
}

// Throws Error ("PATH: …") if the file cannot be opened or is not a dump, Interrupted when cancelled.
std::unique_ptr<Target> open_dump(const std::string &path, const OpenOptions &options = {}, const Watch &watch = {});

} // namespace dnheap
