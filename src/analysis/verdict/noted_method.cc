#include "analysis/verdict/noted_method.h"

#include "base/text.h"

namespace dnheap {

std::string noted_method(const Runtime &runtime, const CrashInfo::Frame &frame) {
  const std::string noted = printable(frame.name.substr(0, frame.name.find('(')), longest_noted);
  const std::string found = frame.method ? runtime.method_text(frame.method).name : "";
  const Module &module = runtime.module();
  const bool is_place = found.starts_with(std::string(module.file_name()) + "+");
  return found.empty() || (is_place && !noted.empty()) ? noted : found;
}

} // namespace dnheap
