// What something that listens on a diagnostics port may answer.
#include "base/error.h"
#include "dump/live/diagnostics_message.h"

#include <span>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  using namespace dnheap;
  const Bytes bytes = std::as_bytes(std::span(data, size));
  try {
    const DiagnosticsReply reply = parse_reply(bytes);
    DiagnosticsReader reader(reply.payload);
    reader.skip(1);
    while (reader.text() || reader.long_number() || reader.number()) {
    }
  } catch (const Error &) {
  }
  return 0;
}
