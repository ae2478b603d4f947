// Messages of the diagnostics port, by which a .NET runtime takes commands: "DOTNET_IPC_V1", a size, a command, and
// what belongs to it. Nothing here talks to anybody. What comes from the other side is not trusted: a message has 64
// KiB at most, and nothing is read beyond its end. Any thread.
#pragma once
#include "base/bytes.h"

#include <string>
#include <string_view>
#include <vector>

namespace dnheap {

struct DiagnosticsCommand {
  u8 set = 0, number = 0;
  bool operator==(const DiagnosticsCommand &) const = default;
};

inline constexpr u64 diagnostics_header_size = 20;

// What follows the header of a command.
class DiagnosticsPayload {
public:
  void put(u32 number);
  void put(u64 number);
  // UTF-16 with its length before it. Throws Error if `text` is no UTF-8: the runtime could not be given that name.
  void put(std::string_view text);
  Bytes bytes() const { return bytes_; }

private:
  std::vector<std::byte> bytes_;
};

std::vector<std::byte> diagnostics_message(DiagnosticsCommand command, Bytes payload);

struct DiagnosticsReply {
  static constexpr u32 unknown_command = 0x80131385, not_supported = 0x80131515, bad_encoding = 0x80131384;

  bool is_ok = false;
  u32 error = 0;       // if it is not: the runtime's code
  std::string message; // if it is not: the runtime's words; may be empty
  std::vector<std::byte> payload;
};

// Returns the size of a whole reply, which begins with these bytes of a header. Throws Error if it is none.
u64 size_of_reply(Bytes header);
// `bytes`: the whole reply. Throws Error.
DiagnosticsReply parse_reply(Bytes bytes);

// Reads a payload from front to back.
class DiagnosticsReader {
public:
  explicit DiagnosticsReader(Bytes bytes) : rest_(bytes) {}

  // Return nullopt at the end, or if less is there than should be; from then on nothing can be read.
  std::optional<u32> number();
  std::optional<u64> long_number();
  std::optional<std::string> text(); // as UTF-8, without the end that C gives it
  void skip(u64 bytes);

private:
  Bytes take(u64 size);
  Bytes rest_;
};

} // namespace dnheap
