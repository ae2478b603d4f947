#include "snapshot/other_programs.h"

#include "base/text.h"
#include "image/module_image.h"

#include <algorithm>

namespace dnheap {

namespace {

struct OtherProgram {
  std::string_view file; // beginning of the name of one of its modules
  const char *what;
  std::string_view reader;
  bool is_whole = false; // `file` is the whole name
};
// Programs come before those that they embed.
constexpr OtherProgram others[] = {
    {"libjvm.so", "a Java program", "jhsdb jmap and Eclipse MAT", true},
    {"jvm.dll", "a Java program", "jhsdb jmap and Eclipse MAT", true},
    {"libart.so", "an Android program", "Android Studio", true},
    {"libmonosgen-2.0", "a Mono program", "gdb with Mono's own helpers"},
    {"mono-sgen", "a Mono program", "gdb with Mono's own helpers", true},
    {"beam.smp", "an Erlang program", "crashdump_viewer", true},
    {"libnode.so", "a Node.js program", "llnode; or take a heap snapshot: node --heapsnapshot-signal"},
    {"node", "a Node.js program", "llnode; or take a heap snapshot: node --heapsnapshot-signal", true},
    {"node.exe", "a Node.js program", "take a heap snapshot: node --heapsnapshot-signal", true},
    {"libpython", "a Python program", "gdb with python-gdb.py, py-spy, and memray"},
    {"python2", "a Python program", "gdb with python-gdb.py"},
    {"python3", "a Python program", "gdb with python-gdb.py, py-spy, and memray"},
    {"libruby", "a Ruby program", "gdb, and ObjectSpace.dump_all"},
    {"ruby", "a Ruby program", "gdb, and ObjectSpace.dump_all", true},
    {"libphp", "a PHP program", "gdb with PHP's .gdbinit"},
    {"php-fpm", "a PHP program", "gdb with PHP's .gdbinit"},
    {"libperl.so", "a Perl program", "gdb"},
    {"perl", "a Perl program", "gdb", true},
};

// Go's linker writes this into each program, to mark its version. Since Go 1.18 the version follows at offset 32, after
// a byte with its length.
constexpr std::string_view go_build_info = "\xff Go buildinf:";

// Returns the version of a Go program, or an empty text if it is unreadable; nullopt: not a Go program.
std::optional<std::string> go_version(const Memory &memory, const Module &module) {
  const std::optional<ModuleImage> image = ModuleImage::at(memory, module.base);
  if (!image)
    return std::nullopt;
  for (const Range &range : image->writable_bytes(memory)) {
    const std::string_view text = as_text(range.bytes);
    const std::size_t at = text.find(go_build_info);
    if (at == text.npos)
      continue;
    const std::string_view rest = text.substr(at).substr(std::min<std::size_t>(32, text.size() - at));
    const std::size_t length = rest.empty() ? 0 : static_cast<u8>(rest[0]);
    const std::string_view version = rest.substr(std::min<std::size_t>(1, rest.size()), length);
    const bool is_sound = version.starts_with("go1") && version.size() == length && length < 64 &&
                          std::ranges::all_of(version, [](char c) { return c > ' ' && c <= '~'; });
    return std::string(is_sound ? version.substr(2) : "");
  }
  return std::nullopt;
}

std::string sentence(const Target &target, const std::string &what, const std::string &sign, std::string_view reader) {
  const char *kind = target.container == "process"    ? "a process of "
                     : target.container == "elf-core" ? "a core of "
                                                      : "a dump of ";
  return "this is " + std::string(kind) + what + ", not of .NET: " + sign + "; read it with: " + std::string(reader);
}

} // namespace

std::string what_other_program(const Target &target) {
  for (const OtherProgram &other : others)
    for (const Module &module : target.modules)
      if (const std::string_view name = module.file_name();
          other.is_whole ? name == other.file : name.starts_with(other.file))
        return sentence(target, other.what, printable(name, 200) + " is mapped", other.reader);
  for (const Module &module : target.modules)
    if (const std::optional<std::string> version = go_version(target.memory, module))
      return sentence(target, "a Go program",
                      printable(module.file_name(), 200) + " was built by Go" +
                          (version->empty() ? "" : " " + *version),
                      "delve (dlv core)");
  return "";
}

} // namespace dnheap
