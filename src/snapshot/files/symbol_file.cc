#include "snapshot/files/symbol_file.h"

#include "base/error.h"
#include "dump/decoders/xz.h"

#include <algorithm>
#include <utility>

namespace dnheap {

namespace {

// Empty if it fails, or yields more than `most` bytes. The buffer grows as it fills.
std::vector<std::byte> decompress_symbols(Bytes input, u64 most) {
  constexpr u64 first_room = 1 << 20;
  std::vector<std::byte> out;
  XzDecoder decoder;
  for (u64 filled = 0;;) {
    out.resize(std::min(most + 1, std::max(2 * filled, first_room)));
    const DecoderStep step = decoder.run(input, std::span(out).subspan(filled));
    filled += step.written;
    const bool is_cut_off = !step.ended && !step.repeats && input.empty() && filled < out.size();
    if (!step.error.empty() || filled > most || is_cut_off)
      return {};
    if (step.ended) {
      out.resize(filled);
      return out;
    }
  }
}

std::vector<std::byte> read_inner_file(Bytes file, u64 most) {
  const Bytes section = find_elf_section(file, ".gnu_debugdata");
  if (!XzDecoder::begins(section) || most == 0)
    return {};
  try {
    return decompress_symbols(section, most);
  } catch (const Error &) { // its dictionary is too large
    return {};
  }
}

} // namespace

SymbolFile::SymbolFile(std::shared_ptr<const MappedFile> file, u64 most)
    : file_(std::move(file)), inner_(read_inner_file(file_->bytes(), most)) {}

std::optional<ElfFunction> SymbolFile::find_function(u64 address) const {
  const std::optional<ElfFunction> own = find_elf_function(file_->bytes(), address);
  const std::optional<ElfFunction> inner = find_elf_function(inner_, address);
  return own && (!inner || inner->start < own->start) ? own : inner;
}

} // namespace dnheap
