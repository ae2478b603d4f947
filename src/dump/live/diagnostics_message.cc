#include "dump/live/diagnostics_message.h"

#include "base/error.h"
#include "base/text.h"
#include "base/utf8.h"
#include "target/memory.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace dnheap {

namespace {

constexpr char diagnostics_magic[14] = "DOTNET_IPC_V1"; // with the zero at its end
constexpr u64 size_at = sizeof diagnostics_magic, set_at = 16, command_at = 17;
constexpr u8 set_of_replies = 0xff, reply_is_ok = 0, reply_is_error = 0xff;

void put_bytes(std::vector<std::byte> &to, u64 number, u64 size) {
  for (u64 i = 0; i < size; ++i)
    to.push_back(static_cast<std::byte>(number >> (8 * i)));
}

// `length`: as utf8_length() says.
u32 code_point(std::string_view text, u64 length) {
  constexpr std::array<u8, 5> masks = {0, 0x7f, 0x1f, 0x0f, 0x07};
  u32 out = static_cast<u8>(text[0]) & masks[length];
  for (u64 i = 1; i < length; ++i)
    out = out << 6 | (static_cast<u8>(text[i]) & 0x3f);
  return out;
}

std::vector<u16> utf16_units(std::string_view text) {
  std::vector<u16> out;
  while (!text.empty()) {
    const u64 length = utf8_length(text);
    if (length == 0)
      throw Error("'" + printable(text) + "' is no UTF-8, and the runtime takes no other names: choose another one");
    const u32 c = code_point(text, length);
    if (c >= 0x10000)
      out.push_back(static_cast<u16>(0xd800 + ((c - 0x10000) >> 10)));
    out.push_back(static_cast<u16>(c >= 0x10000 ? 0xdc00 + ((c - 0x10000) & 0x3ff) : c));
    text.remove_prefix(length);
  }
  return out;
}

} // namespace

void DiagnosticsPayload::put(u32 number) { put_bytes(bytes_, number, sizeof number); }
void DiagnosticsPayload::put(u64 number) { put_bytes(bytes_, number, sizeof number); }

void DiagnosticsPayload::put(std::string_view text) {
  std::vector<u16> units = utf16_units(text);
  units.push_back(0);
  put(static_cast<u32>(units.size()));
  for (u16 unit : units)
    put_bytes(bytes_, unit, sizeof unit);
}

std::vector<std::byte> diagnostics_message(DiagnosticsCommand command, Bytes payload) {
  constexpr u64 most = 0xffff;
  const u64 size = diagnostics_header_size + payload.size();
  if (size > most)
    throw Error("a command of " + bytes_text(size) + " is too long for the diagnostics port, which takes 64 KiB");
  std::vector<std::byte> out;
  for (char c : diagnostics_magic)
    out.push_back(static_cast<std::byte>(c));
  put_bytes(out, size, 2);
  put_bytes(out, command.set, 1);
  put_bytes(out, command.number, 1);
  put_bytes(out, 0, 2);
  out.insert(out.end(), payload.begin(), payload.end());
  return out;
}

u64 size_of_reply(Bytes header) {
  if (header.size() < diagnostics_header_size ||
      std::memcmp(header.data(), diagnostics_magic, sizeof diagnostics_magic) != 0)
    throw Error("what listens there does not speak the protocol of .NET's diagnostics port (DOTNET_IPC_V1)");
  const u64 size = load<u16>(header.data() + size_at, ByteOrder::little);
  if (size < diagnostics_header_size)
    throw Error("the diagnostics port sent a message of " + std::to_string(size) + " bytes, less than its header has");
  return size;
}

DiagnosticsReply parse_reply(Bytes bytes) {
  const u64 size = size_of_reply(bytes);
  const u8 set = static_cast<u8>(bytes[set_at]), number = static_cast<u8>(bytes[command_at]);
  if (bytes.size() < size || set != set_of_replies || (number != reply_is_ok && number != reply_is_error))
    throw Error("the diagnostics port sent a message that is no reply");
  DiagnosticsReply out;
  out.is_ok = number == reply_is_ok;
  const Bytes payload = bytes.subspan(diagnostics_header_size, size - diagnostics_header_size);
  out.payload.assign(payload.begin(), payload.end());
  if (out.is_ok)
    return out;
  DiagnosticsReader reader(payload);
  out.error = reader.number().value_or(0);
  out.message = reader.text().value_or("");
  return out;
}

Bytes DiagnosticsReader::take(u64 size) {
  const Bytes out = slice(rest_, 0, size);
  rest_ = out.empty() ? Bytes() : rest_.subspan(size);
  return out;
}

std::optional<u32> DiagnosticsReader::number() {
  const Bytes at = take(sizeof(u32));
  return at.empty() ? std::nullopt : std::optional(load<u32>(at.data(), ByteOrder::little));
}

std::optional<u64> DiagnosticsReader::long_number() {
  const Bytes at = take(sizeof(u64));
  return at.empty() ? std::nullopt : std::optional(load<u64>(at.data(), ByteOrder::little));
}

std::optional<std::string> DiagnosticsReader::text() {
  const std::optional<u32> units = number();
  if (!units)
    return std::nullopt;
  if (*units == 0)
    return "";
  const Bytes at = take(u64{*units} * 2);
  if (at.empty())
    return std::nullopt;
  std::string out = utf16_to_utf8(at, ByteOrder::little);
  return out.substr(0, out.find('\0'));
}

void DiagnosticsReader::skip(u64 bytes) { take(bytes); }

} // namespace dnheap
