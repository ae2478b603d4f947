#include "snapshot/extract.h"

#include "base/host/host.h"
#include "dump/compressor.h"
#include "snapshot/extracted_bytes.h"

#include <algorithm>

namespace dnheap {

namespace {

constexpr u64 step = 1 << 20; // bytes filled at once

// Returns the target's description for the core, without the values that must not be in it.
Target about(const Snapshot &snapshot, const ExtractedBytes &bytes, const ExtractOptions &options) {
  Target out = snapshot.target();
  const std::string &from = out.path;
  if (!out.extraction)
    out.extraction = Extraction{from.substr(from.find_last_of("/\\") + 1), false};
  out.extraction->values_blanked |= options.no_values;
  // Debug files are not copied: the core's reader looks for them again.
  out.provenance.resize(std::min<u64>(out.provenance.size(), snapshot.module_file_rows()));
  if (!options.no_values)
    return out;
  out.program.clear();
  for (Thread &thread : out.threads)
    for (u64 &value : thread.registers)
      if (value != thread.instruction_pointer && value != thread.stack_pointer && !bytes.is_pointer(value))
        value = 0;
  return out;
}

// Returns the pages read of the initial contents of modules' writable memory.
std::vector<Range> initial_ranges(const Snapshot &snapshot) {
  std::vector<Range> out;
  const Memory &initial = snapshot.target().initial;
  for (const ReadRecord::Page &page : snapshot.initial_reads()->pages())
    for (const Range &range : initial.ranges()) {
      Address from = std::max(page.address, range.address),
              to = std::min(page.address + ReadRecord::page_size, range.end());
      if (from < to)
        out.push_back({from, range.bytes.subspan(from - range.address, to - from)});
    }
  return out;
}

} // namespace

ExtractedCore extract_core(const Snapshot &snapshot, const ExtractOptions &options) {
  ExtractedBytes bytes(snapshot, options.no_values);
  ExtractedCore out;
  out.heap_bytes = bytes.heap_bytes();
  out.stack_bytes = bytes.stack_bytes();
  out.segments = bytes.segments().size();
  for (const CoreSegment &segment : bytes.segments())
    out.memory_bytes += segment.size;
  out.other_bytes = out.memory_bytes - out.heap_bytes - out.stack_bytes;

  NewFile file(options.path);
  std::unique_ptr<Compressor> compressor;
  if (options.path.ends_with(".zst"))
    compressor = std::make_unique<Compressor>([&](Bytes part) { file.write(part); });
  auto write = [&](Bytes part) { compressor ? compressor->write(part) : file.write(part); };

  Timer timer(snapshot.watch(), "extract", out.memory_bytes);
  write(core_front(about(snapshot, bytes, options), bytes.segments(), initial_ranges(snapshot)));
  std::vector<std::byte> buffer(step);
  for (const CoreSegment &segment : bytes.segments())
    for (Address at = segment.address, end = at + segment.size; at < end;) {
      snapshot.watch().check();
      // Ends the part at a multiple of the step, so that no word crosses its end.
      std::span<std::byte> part(buffer.data(), std::min(end - at, step - at % step));
      bytes.fill(at, part);
      write(part);
      at += part.size();
      if (Progress *progress = snapshot.watch().progress)
        progress->done += part.size();
    }
  if (compressor)
    compressor->finish();
  if (snapshot.has_lost_memory())
    throw Error(
        snapshot.target().path +
        ": part of the file could not be read, or was changed, during the extraction; extract from a sound copy");
  file.commit();
  out.file_bytes = file.size();
  return out;
}

} // namespace dnheap
