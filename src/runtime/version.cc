#include "runtime/version.h"

#include "image/module_image.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>

namespace dnheap {

namespace {

// The file version's third number is patch × 100 + a build's number: 10.0.1426.52326 is 10.0.14. Before 5.0 it had
// another meaning, so it does not identify the version.
template <class Numbers> std::string product_version(const Numbers &part) {
  return part[0] < 5 ? ""
                     : std::to_string(part[0]) + "." + std::to_string(part[1]) + "." + std::to_string(part[2] / 100);
}
std::string product_version(std::string_view file_version) {
  std::array<unsigned, 3> part{};
  for (unsigned &number : part) {
    auto [end, error] = std::from_chars(file_version.data(), file_version.data() + file_version.size(), number);
    if (error != std::errc())
      return "";
    file_version.remove_prefix(static_cast<std::size_t>(end - file_version.data()));
    if (!file_version.empty())
      file_version.remove_prefix(1);
  }
  return product_version<std::array<unsigned, 3>>(part);
}

// Returns "11.0.0" for "11.0.0-rtm.1+abc".
std::string published_version(const ContractDescriptor &descriptor) {
  const Global *global = descriptor.find_global("RuntimeProductVersionString");
  const std::string_view text = global ? std::string_view(global->text) : std::string_view();
  const std::string_view numbers = text.substr(0, text.find_first_not_of("0123456789."));
  constexpr u64 longest = 32;
  return numbers.size() <= longest && std::count(numbers.begin(), numbers.end(), '.') == 2 ? std::string(numbers) : "";
}

constexpr std::string_view mark = "@(#)Version ";
constexpr u64 longest_version = 64;

// Returns the version text, from its mark on, in `bytes`; empty if there is none.
std::string_view version_in(Bytes bytes) {
  const std::string_view text = as_text(bytes);
  const std::size_t at = text.find(mark);
  return at == text.npos ? std::string_view() : text.substr(at, mark.size() + longest_version);
}

} // namespace

std::string find_version(const Target &target, const Module &module) {
  if (std::optional<ModuleImage> image = ModuleImage::at(target.memory, module.base))
    for (const Memory *memory : {&target.memory, &target.initial}) // nothing writes to it, so the file has it, too
      for (const Range &range : image->writable_bytes(*memory))
        if (const std::string_view text = version_in(range.bytes); !text.empty())
          if (std::string found = product_version(text.substr(mark.size())); !found.empty()) {
            memory->note_read(range.address + static_cast<u64>(text.data() - as_text(range.bytes).data()), text.size());
            return found;
          }
  if (module.pe && module.pe->file_version)
    if (std::string found = product_version(*module.pe->file_version); !found.empty())
      return found;
  // …/Microsoft.NETCore.App/10.0.14/libcoreclr.so
  std::string_view path = module.path;
  std::size_t end = path.find_last_of("/\\");
  if (end == path.npos)
    return "";
  std::size_t start = path.find_last_of("/\\", end - 1);
  std::string_view folder = path.substr(start == path.npos ? 0 : start + 1, end - (start == path.npos ? 0 : start + 1));
  bool looks_right =
      std::count(folder.begin(), folder.end(), '.') >= 2 && std::isdigit(static_cast<unsigned char>(folder[0]));
  return looks_right ? std::string(folder) : "";
}

std::string find_version(const Target &target, const Module &module, const ContractDescriptor &descriptor) {
  const std::string published = published_version(descriptor);
  return published.empty() ? find_version(target, module) : published;
}

void check_version(const Target &target, const Module &module, ContractDescriptor &descriptor) {
  const std::string published = published_version(descriptor), of_module = find_version(target, module);
  if (!published.empty() && !of_module.empty() && published != of_module)
    descriptor.doubted["RuntimeProductVersionString"] =
        "published " + published + ", but the runtime's module is " + of_module;
}

} // namespace dnheap
