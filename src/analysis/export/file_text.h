// FileText: text or bytes for a new file, buffered up to some MiB. Not for several threads at once. Throws Error when
// the disk is full.
#pragma once
#include "base/host/host.h"

#include <string>

namespace dnheap {

class FileText {
public:
  FileText() = default; // without a file: only collects text
  explicit FileText(NewFile &file) : file_(&file) {}

  std::string text;
  // Call between any two parts of the text, so that at most some MiB are buffered.
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
