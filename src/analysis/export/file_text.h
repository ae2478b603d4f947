// FileText: text, or bytes, on its way into a file that is made: kept until there is some MiB of it. One thread. Throws
// Error when the disk is full.
#pragma once
#include "base/host/host.h"

#include <string>

namespace dnheap {

class FileText {
public:
  FileText() = default; // kept until it is written
  explicit FileText(NewFile &file) : file_(&file) {}

  std::string text;
  // To be called between any two parts: no more than some MiB are kept then.
  void flush_if_large() {
    if (file_ && text.size() > most)
      flush();
  }
  void flush() {
    file_->write(Bytes(reinterpret_cast<const std::byte *>(text.data()), text.size()));
    text.clear();
  }

private:
  static constexpr u64 most = 1 << 20;
  NewFile *file_ = nullptr;
};

} // namespace dnheap
