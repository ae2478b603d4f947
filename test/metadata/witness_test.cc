// The reader against System.Reflection, over assemblies of the installed runtime and one with odd names. Skipped where
// there is no .NET SDK. The witness is test/programs/metadata_witness; it is built once per run of the test.
#include "base/host/host.h"
#include "image/pe_image.h"
#include "metadata/signature.h"
#include "metadata/type_name.h"
#include "support/places.h"

#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <gtest/gtest.h>
#include <sstream>

namespace dnheap {
namespace {

namespace fs = std::filesystem;

class Witness : public testing::Test {
protected:
  // Not for the suite: where that fails, tests count as skipped.
  void SetUp() override {
    if (std::system("dotnet --list-sdks 2>/dev/null | grep -q .") != 0)
      GTEST_SKIP() << "no .NET SDK on PATH: the metadata reader is NOT checked against System.Reflection";
    if (program_.empty())
      build();
    ASSERT_FALSE(framework_.empty());
  }
  static void build() {
    folder_ = fs::temp_directory_path() / fmt::format("dnheap-witness-{}", ::getpid());
    const std::string project = test::test_folder() + "/programs/metadata_witness/metadata_witness.csproj";
    const std::string output = run(fmt::format("dotnet build '{}' -c Release --artifacts-path '{}' -v quiet", project,
                                               (folder_ / "build").string()));
    program_ = folder_ / "build/bin/metadata_witness/release/metadata_witness.dll";
    ASSERT_TRUE(fs::exists(program_)) << output;
    framework_ = ask("framework");
    framework_.erase(framework_.find('\n'));
    ask("make '" + odd() + "'");
  }
  static void TearDownTestSuite() {
    if (!folder_.empty())
      fs::remove_all(folder_);
  }

  static std::string run(const std::string &command) {
    fs::path file = folder_ / "output";
    fs::create_directories(folder_);
    int status = std::system((command + " > '" + file.string() + "' 2>&1").c_str());
    std::ostringstream text;
    text << std::ifstream(file).rdbuf();
    EXPECT_EQ(status, 0) << command << "\n" << text.str();
    return text.str();
  }
  static std::string ask(const std::string &arguments) {
    return run(fmt::format("dotnet '{}' {}", program_.string(), arguments));
  }
  static std::string odd() { return (folder_ / "odd.dll").string(); }
  static std::string assembly(const std::string &name) { return framework_ + "/" + name + ".dll"; }

  static inline fs::path folder_, program_;
  static inline std::string framework_;
};

// Maps an assembly and finds its metadata.
struct Assembly {
  explicit Assembly(const std::string &path) : file(MappedFile::open(path)) {
    std::optional<PeImage> image = PeImage::from_file(file->bytes());
    std::optional<PeBlock> root = image ? image->metadata() : std::nullopt;
    if (root)
      metadata = Metadata::parse(image->view(*root));
  }
  std::shared_ptr<const MappedFile> file;
  std::optional<Metadata> metadata;
};

std::string hex_of(Bytes bytes) {
  std::string out;
  for (std::byte b : bytes)
    out += fmt::format("{:02X}", static_cast<u8>(b));
  return out;
}

std::string spelled(const Metadata &m, Token type) { return format_type_name(type_name_parts(m, type), {}); }

std::string field_line(const Metadata &m, u32 type, u32 rid) {
  FieldRow field = *m.field(rid);
  std::optional<SignatureType> signature = decode_field(field.signature);
  std::string out =
      fmt::format("field {:08x} {:x} {} {} of {}", token(Table::Field, rid), field.flags,
                  signature ? describe(*signature, m, {type, 0}) : "(wrong)", field.name, m.type_of_field(rid));
  if (std::optional<ConstantRow> constant = m.constant(token(Table::Field, rid)))
    out += fmt::format(" = {:x} {}", constant->type, hex_of(constant->value));
  return out;
}

std::string method_line(const Metadata &m, u32 type, u32 rid) {
  MethodDefRow method = *m.method(rid);
  MethodSignature signature = decode_method(method.signature).value_or(MethodSignature{});
  return fmt::format("method {:08x} {:x} {:x} {} {}{} of {} generic {}", token(Table::MethodDef, rid), method.rva,
                     method.flags, describe(signature.returns, m, {type, rid}), method.name,
                     describe_parameters(signature, m, {type, rid}), m.type_of_method(rid),
                     signature.generic_parameters);
}

void survey_types(const Metadata &m, std::ostream &out) {
  for (u32 type = 1; type <= m.row_count(Table::TypeDef); ++type) {
    Token self = token(Table::TypeDef, type);
    TypeDefRow row = *m.type_def(type);
    out << fmt::format("type {:08x} {:x} {} extends {} in {} parameters {}\n", self, row.flags, spelled(m, self),
                       rid_of(row.extends) ? fmt::format("{:08x}", row.extends) : "0", m.enclosing_type(type),
                       fmt::join(m.generic_parameters(self), ","));
    for (u32 field : m.fields_of(type))
      out << field_line(m, type, field) << '\n';
    for (u32 method : m.methods_of(type))
      out << method_line(m, type, method) << '\n';
  }
}

// What the witness prints for `survey`.
std::string survey(const Metadata &m) {
  std::ostringstream out;
  out << fmt::format("module {} {}\n", m.module()->name, hex_of(m.module()->mvid));
  if (std::optional<AssemblyRow> assembly = m.assembly())
    out << fmt::format("assembly {} {}\n", assembly->name, fmt::join(assembly->version, "."));
  for (u32 rid = 1; rid <= m.row_count(Table::AssemblyRef); ++rid)
    out << fmt::format("assembly reference {}\n", m.assembly_ref_name(rid));
  for (u32 rid = 1; rid <= m.row_count(Table::ModuleRef); ++rid)
    out << fmt::format("module reference {}\n", m.module_ref_name(rid));
  for (u32 rid = 1; rid <= m.row_count(Table::ExportedType); ++rid) {
    ExportedTypeRow type = *m.exported_type(rid);
    out << fmt::format("exported type {} {} {:08x}\n", type.name_space, type.name, type.implementation);
  }
  for (u32 rid = 1; rid <= m.row_count(Table::TypeRef); ++rid)
    out << fmt::format("type reference {}\n", spelled(m, token(Table::TypeRef, rid)));
  for (u32 rid = 1; rid <= m.row_count(Table::TypeSpec); ++rid) {
    std::optional<SignatureType> type = decode_type(m.type_spec(rid));
    out << fmt::format("type specification {}\n", type ? describe(*type, m) : "(wrong)");
  }
  survey_types(m, out);
  return out.str();
}

void expect_same_lines(const std::string &ours, const std::string &theirs) {
  std::istringstream left(ours), right(theirs);
  int differences = 0;
  for (std::string a, b; left || right;) {
    std::getline(left, a);
    std::getline(right, b);
    if (left && right && a == b)
      continue;
    if (!left && !right)
      break;
    ADD_FAILURE() << "ours:   " << (left ? a : "(no line)") << "\ntheirs: " << (right ? b : "(no line)");
    if (++differences == 10)
      break;
  }
}

TEST_F(Witness, Survey) {
  std::vector<std::string> paths{odd()};
  for (const char *name : {"System.Private.CoreLib", "System.Private.Xml", "System.Linq.Expressions", "System.Net.Http",
                           "System.Runtime", "System.Collections.Immutable", "Microsoft.VisualBasic.Core"})
    paths.push_back(assembly(name));
  for (const std::string &path : paths) {
    SCOPED_TRACE(path);
    Assembly opened(path);
    ASSERT_TRUE(opened.metadata);
    expect_same_lines(survey(*opened.metadata), ask("survey '" + path + "'"));
  }
}

TEST_F(Witness, FullNames) {
  for (const std::string &path : {assembly("System.Private.CoreLib"), odd()}) {
    SCOPED_TRACE(path);
    Assembly opened(path);
    ASSERT_TRUE(opened.metadata);
    std::string ours;
    for (u32 rid = 2; rid <= opened.metadata->row_count(Table::TypeDef); ++rid) // GetTypes() leaves out <Module>
      ours += fmt::format("{:08x} {}\n", token(Table::TypeDef, rid),
                          type_name(*opened.metadata, token(Table::TypeDef, rid)));
    expect_same_lines(ours, ask("fullnames '" + path + "'"));
  }
}

} // namespace
} // namespace dnheap
