#include "image/elf_file.h"
#include "snapshot/other_programs.h"
#include "support/elf_writer.h"

#include <gtest/gtest.h>

namespace dnheap {
namespace {

constexpr Address base = 0x40000000;

Target with_modules(std::initializer_list<const char *> paths) {
  Target out;
  out.container = "elf-core";
  for (const char *path : paths)
    out.modules.push_back({path, 0x1000, {{0x1000, 0x2000, 0}}});
  return out;
}

TEST(OtherPrograms, AreKnownByTheirModules) {
  struct Known {
    const char *path;
    std::string_view what;
  };
  for (const Known &known : {Known{"/usr/lib/jvm/java-17/lib/server/libjvm.so", "a Java program"},
                             {"C:\\Program Files\\Java\\bin\\server\\jvm.dll", "a Java program"},
                             {"/usr/bin/node", "a Node.js program"},
                             {"/usr/lib/libnode.so.108", "a Node.js program"},
                             {"/usr/bin/python3.11", "a Python program"},
                             {"/usr/lib/libpython3.12.so.1.0", "a Python program"},
                             {"/usr/bin/ruby", "a Ruby program"},
                             {"/usr/lib/erlang/erts/bin/beam.smp", "an Erlang program"}}) {
    const std::string said = what_other_program(with_modules({"/usr/lib/libc.so.6", known.path}));
    EXPECT_TRUE(said.starts_with("this is a core of " + std::string(known.what) + ", not of .NET: ")) << said;
  }
  // What embeds Python is more than that.
  EXPECT_NE(what_other_program(with_modules({"/lib/libpython3.11.so", "/jvm/libjvm.so"})).find("a Java program"),
            std::string::npos);
}

TEST(OtherPrograms, OfOthersNothingIsSaid) {
  EXPECT_EQ(what_other_program(with_modules({})), "");
  EXPECT_EQ(what_other_program(with_modules({"/usr/bin/node_exporter", "/usr/lib/libjvm.so.old", "/opt/nodes"})), "");
}

// A program in whose variables these bytes stand.
std::string said_of_program_with(std::string_view bytes, Format format) {
  test::ElfLibraryWriter writer{.format = format};
  writer.writable.resize(256);
  for (std::size_t i = 0; i < bytes.size(); ++i)
    writer.writable[64 + i] = static_cast<std::byte>(bytes[i]);
  const std::vector<std::byte> file = writer.write();
  Target target = with_modules({"/srv/shop"});
  target.memory = Memory(format, ElfFile::parse(file)->layout(base, target.storage));
  target.modules[0].base = base;
  target.modules[0].extents = {{base, base + writer.end(), 0}};
  return what_other_program(target);
}

TEST(OtherPrograms, GoIsKnownByWhatItsLinkerWrites) {
  using namespace std::string_literals;
  const std::string magic = "\xff Go buildinf:\x08\x02"s + std::string(16, '\0');
  for (Format format : test::all_formats) {
    const std::string said = said_of_program_with(magic + "\x08go1.22.3", format);
    EXPECT_TRUE(said.starts_with("this is a core of a Go program, not of .NET: shop was built by Go 1.22.3; ")) << said;
    EXPECT_EQ(said_of_program_with("\xff Go buildinx:", format), "");
  }
  // Of older ones, and where it is not sound, the version is elsewhere.
  for (const std::string &rest : {""s, "\x7fgo1"s, "\x08no version"s, "\xff\xff\xff"s}) {
    const std::string said = said_of_program_with(magic + rest, test::all_formats[0]);
    EXPECT_TRUE(said.starts_with("this is a core of a Go program, not of .NET: shop was built by Go; ")) << said;
  }
}

} // namespace
} // namespace dnheap
