#include "runtime/corert/nf16_header.h"

#include "base/text.h"

#include <algorithm>

namespace dnheap {

namespace {

// The specification lists these bytes and describes them as "NF16 in ascii", which they are not: 6e 66 is "nf". The
// bytes count.
constexpr std::byte cookie[] = {std::byte{0x6e}, std::byte{0x66}, std::byte{0x31}, std::byte{0x36}};

constexpr u64 addresses_at = 16; // behind flags and padding, whatever the pointer size
constexpr u16 known_major = 1;

std::string version_text(u16 major, u16 minor) { return std::to_string(major) + "." + std::to_string(minor); }

std::string format_text(Format format) {
  return std::to_string(8 * format.pointer_size) + "-bit " +
         (format.byte_order == ByteOrder::little ? "little-endian" : "big-endian");
}

} // namespace

Nf16Contract read_nf16_contract(const Memory &memory, Address address, const std::string &name) {
  Nf16Contract out;
  out.address = address;
  if (address == 0) {
    out.problem = "the header names no " + name;
    return out;
  }
  std::optional<u16> major = memory.try_load<u16>(address);
  std::optional<u16> minor = address + 2 < address ? std::nullopt : memory.try_load<u16>(address + 2);
  if (!major || !minor) {
    out.problem = "the " + name + " at " + hex(address) + " is not in this dump";
    return out;
  }
  out.major_version = *major;
  out.minor_version = *minor;
  if (*major == 0)
    out.problem = "the process had not initialised its " + name + " yet";
  else if (*major != known_major)
    out.problem = "the " + name + " has version " + version_text(*major, *minor) + ", and this program knows only 1.x";
  return out;
}

const char *name_of(Nf16Section section) {
  static constexpr const char *names[] = {"GC Contract", "Workstation GC Contract", "RuntimeInstance Contract",
                                          "Thread Store Contract", "Thread Contract"};
  return names[static_cast<u8>(section)];
}

std::optional<Nf16Start> read_nf16_start(const Memory &memory, Address address) {
  std::byte bytes[addresses_at];
  if (!memory.read(address, bytes) || !std::equal(std::begin(cookie), std::end(cookie), bytes))
    return std::nullopt;
  // Bytes 12 to 15 are padding, which readers must ignore.
  return Nf16Start{load<u16>(bytes + 4, ByteOrder::little), load<u16>(bytes + 6, ByteOrder::little),
                   load<u32>(bytes + 8, ByteOrder::little)};
}

std::optional<std::array<Address, nf16_section_count>> read_nf16_addresses(const Memory &memory, Address address) {
  const u64 p = memory.format().pointer_size;
  std::byte bytes[8 * nf16_section_count];
  if (!memory.read(address + addresses_at, std::span(bytes).first(p * nf16_section_count)))
    return std::nullopt;
  std::array<Address, nf16_section_count> out;
  for (u64 i = 0; i < nf16_section_count; ++i)
    out[i] = load_pointer(bytes + i * p, memory.format());
  return out;
}

Nf16Header read_nf16_header(const Memory &memory, Address address) {
  std::optional<Nf16Start> start = read_nf16_start(memory, address);
  if (!start)
    throw Error("there is no CoreRT debug header (NF16) at " + hex(address) + ": its cookie is not there");
  const std::string what = "the CoreRT debug header (NF16 " + version_text(start->major_version, start->minor_version) +
                           ") at " + hex(address);
  if (start->major_version == 0)
    throw Error(what + " is not initialised: its major version is 0");
  if (start->major_version != known_major)
    throw Error(what + " is of an unknown version: this program knows only 1.x");
  if (start->format() != memory.format())
    throw Error(what + " says that the machine is " + format_text(start->format()) + ", but the dump says " +
                format_text(memory.format()));
  auto addresses = read_nf16_addresses(memory, address);
  if (!addresses)
    throw Error(what + " is only partly in this dump");
  Nf16Header out;
  out.address = address;
  out.major_version = start->major_version;
  out.minor_version = start->minor_version;
  out.flags = start->flags;
  out.format = start->format();
  for (u64 i = 0; i < nf16_section_count; ++i)
    out.contracts[i] = read_nf16_contract(memory, (*addresses)[i], name_of(static_cast<Nf16Section>(i)));
  return out;
}

} // namespace dnheap
