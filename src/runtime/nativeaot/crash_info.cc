#include "runtime/nativeaot/crash_info.h"

#include "base/digits.h"
#include "base/error.h"
#include "base/json.h"
#include "image/module_image.h"

#include <algorithm>

namespace dnheap {

namespace {

constexpr u64 longest = 8192;       // of the buffer
constexpr unsigned most_found = 16; // places that are tested
constexpr std::string_view beginning = "{\"version\":\"";
constexpr std::string_view native_aot = "4"; // dotnet/runtime: nativeaot/System.Private.CoreLib …/CrashInfo.cs

// Parses a number that is stored as text: "0x1A2B", "2".
std::optional<u64> number(const Json *value) {
  if (!value || !value->is_text())
    return std::nullopt;
  std::string_view text = value->text();
  const int base = text.starts_with("0x") ? 16 : 10;
  if (base == 16)
    text.remove_prefix(2);
  return number_of_digits(text, base);
}

std::string text_of(const Json *value) { return value && value->is_text() ? value->text() : ""; }

void read_exception(const Json &exception, CrashInfo &to) {
  to.exception = number(exception.find("address")).value_or(0);
  to.exception_type = text_of(exception.find("type"));
  to.exception_message = text_of(exception.find("message"));
  if (const std::optional<u64> hresult = number(exception.find("hr")))
    to.hresult = static_cast<u32>(*hresult);
  if (const Json *inner = exception.find("inner"); inner && inner->is_list() && !inner->list().empty()) {
    to.inner = number(inner->list().front().find("address")).value_or(0);
    to.inner_type = text_of(inner->list().front().find("type"));
  }
  const Json *stack = exception.find("stack");
  if (!stack || !stack->is_list())
    return;
  for (const Json &frame : stack->list()) {
    if (to.stack.size() >= CrashInfo::most_frames)
      break;
    const std::optional<u64> ip = number(frame.find("ip")), offset = number(frame.find("offset"));
    to.stack.push_back({ip && offset && *offset <= *ip ? *ip - *offset : 0, text_of(frame.find("name"))});
  }
}

std::optional<CrashInfo> read_crash_info(std::string_view text, const Module &module) {
  try {
    const Json json = parse_json(text);
    const Json *type = json.find("runtime_type");
    const std::optional<u64> base = number(json.find("runtime_base")), thread = number(json.find("thread")),
                             reason = number(json.find("reason"));
    if (!type || !type->is_text() || type->text() != native_aot || (base && *base != module.base) || !thread || !reason)
      return std::nullopt;
    CrashInfo out;
    out.thread = *thread;
    if (*reason <= static_cast<u64>(CrashInfo::Reason::internal_failure))
      out.reason = static_cast<CrashInfo::Reason>(*reason);
    out.message = text_of(json.find("message"));
    if (const Json *exception = json.find("exception"); exception && exception->is_object())
      read_exception(*exception, out);
    return out;
  } catch (const Error &) {
    return std::nullopt;
  }
}

} // namespace

std::optional<CrashInfo> find_crash_info(const Target &target, const Module &module) {
  const std::optional<ModuleImage> image = ModuleImage::at(target.memory, module.base);
  if (!image)
    return std::nullopt;
  std::optional<CrashInfo> found;
  unsigned looked_at = 0;
  for (const Range &range : image->writable_bytes(target.memory)) {
    const std::string_view bytes(reinterpret_cast<const char *>(range.bytes.data()), range.bytes.size());
    for (std::size_t at = bytes.find(beginning); at != bytes.npos && looked_at < most_found;
         at = bytes.find(beginning, at + 1), ++looked_at) {
      const std::string_view buffer = bytes.substr(at, longest);
      const std::size_t end = buffer.find('\0');
      std::optional<CrashInfo> one = end != buffer.npos ? read_crash_info(buffer.substr(0, end), module) : std::nullopt;
      if (one && found)
        return std::nullopt;
      if (one) {
        target.memory.note_read(range.address + at, end + 1);
        found = std::move(one);
      }
    }
  }
  return found;
}

} // namespace dnheap
