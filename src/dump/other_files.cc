#include "dump/other_files.h"

#include <algorithm>
#include <fmt/format.h>

namespace dnheap {

namespace {

constexpr std::string_view take_a_dump = "dnheap reads the process itself (-p PID), or a dump of it: createdump, gcore";

struct Signature {
  std::string_view bytes;
  const char *what;
  std::string_view to_do = {};
  u64 at = 0;
};
using namespace std::string_view_literals;
constexpr Signature signatures[] = {
    {"\x7f"
     "ELF",
     "an ELF program or library, not a core", take_a_dump},
    {"MZ", "a Windows program (PE)", "dnheap reads a dump of its process: dotnet-dump, procdump -ma"},
    {"\xfe\xed\xfa\xce", "a Mach-O file of another word size or byte order"},
    {"\xfe\xed\xfa\xcf", "a Mach-O file of another word size or byte order"},
    {"\xce\xfa\xed\xfe", "a Mach-O file of another word size or byte order"},
    {"\xcf\xfa\xed\xfe", "a Mach-O program or library, not a core",
     "dnheap reads a dump of its process: createdump, or process save-core of lldb"},
    {"Nettrace", "events that dotnet-trace or dotnet-counters collected (.nettrace)",
     "dotnet-trace report and PerfView read them; the heap is in a dump"},
    {"\xc0", "events of Windows (.etl)", "PerfView reads them; the heap is in a dump", 0x4b},
    {"JAVA PROFILE 1.", "a heap dump of a Java virtual machine (.hprof)", "Eclipse MAT and VisualVM read it"},
    {"{\"snapshot\":{\"meta\":", "a heap snapshot of JavaScript (.heapsnapshot)",
     "Chrome's and Edge's developer tools read it (Memory, Load)"},
    {"{\"schema\":\"dnheap", "an answer of dnheap's, or a record of 'check --record'",
     "diff, check and explore --against take records; other questions need the dump"},
    {"SQLite format 3\0"sv, "a database of SQLite",
     "sqlite3 reads it; dnheap needs the dump that the database was made from"},
    {"PAGEDU64", "a dump of Windows' kernel, not of a process"},
    {"PAGEDUMP", "a dump of Windows' kernel, not of a process"},
    {"KDUMP   ", "a dump of Linux' kernel, not of a process"},
    {"PK\x03\x04", "a zip archive", "unzip it, and open what is in it"},
    {"7z\xbc\xaf\x27\x1c", "a 7-Zip archive", "unpack it, and open what is in it"},
    {"BZh", "compressed by bzip2", "bzip2 -d decompresses it"},
    {"\x02\x21\x4c\x18", "compressed by lz4 -l, in its legacy format", "lz4 -d decompresses it"},
    {"ustar", "a tar archive", "unpack it, and open what is in it", 257},
    {"<!DOCTYPE", "a web page", "the download went wrong"},
    {"<html", "a web page", "the download went wrong"},
};

// The signature is one byte, so the size of the buffers at the start of such a file is checked, too.
bool is_sound(const Signature &signature, Bytes file) {
  if (signature.at != 0x4b)
    return true;
  u32 size = 0;
  std::memcpy(&size, file.data(), sizeof size);
  const auto kind = static_cast<u8>(file[0x4a]);
  return size >= 1024 && size % 1024 == 0 && size <= 1 << 24 && (kind == 1 || kind == 2);
}

bool is_text(std::string_view start) {
  return std::none_of(start.begin(), start.end(), [](char c) {
    return static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\r' && c != '\t' && c != '\f' && c != '\x1b';
  });
}

} // namespace

std::string what_else(Bytes file) {
  if (file.empty())
    return "the file is empty: its writer had no room, or no permission";
  const std::string_view start = as_text(file.first(std::min<std::size_t>(file.size(), 512)));
  for (const Signature &signature : signatures)
    if (start.size() > signature.at && start.substr(signature.at).starts_with(signature.bytes) &&
        is_sound(signature, file))
      return signature.what + (signature.to_do.empty() ? "" : ": " + std::string(signature.to_do));
  if (is_text(start))
    return "text";
  if (start.find_first_not_of('\0') == start.npos)
    return "it begins with zeros: writing or copying it was not finished";
  std::string bytes;
  for (char c : start.substr(0, 4))
    bytes += fmt::format(" {:02x}", static_cast<unsigned char>(c));
  return "unknown contents (first bytes" + bytes + ")";
}

} // namespace dnheap
