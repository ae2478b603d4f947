#include "snapshot/source_lines.h"

#include "base/host/host.h"
#include "base/host/named_path.h"
#include "base/text.h"
#include "image/embedded_pdb.h"
#include "image/pe_image.h"
#include "metadata/ecma335.h"
#include "snapshot/files/file_identity.h"
#include "snapshot/snapshot.h"

#include <algorithm>
#include <fmt/format.h>

namespace dnheap {

namespace {

constexpr u64 most_embedded = 64 << 20; // largest .pdb inside a module, compressed
constexpr u64 most_named = 3;           // modules named in a note
constexpr u64 most_of_name = 200;       // characters

std::string name_in(const std::string &path) { return path.substr(path.find_last_of("/\\") + 1); }
std::string folder_in(const std::string &path) { return path.substr(0, path.find_last_of("/\\") + 1); }

// Returns the module's image in memory: mapped section by section, or as in its file.
std::optional<PeImage> image_of(const Memory &memory, const std::vector<Address> &bases) {
  for (Address base : bases)
    for (bool mapped : {true, false})
      if (std::optional<PeImage> image = PeImage::at(memory, base, mapped); image && image->metadata())
        return image;
  return std::nullopt;
}

// True for the framework's assemblies: they come without symbols, so no note mentions them.
bool is_framework_name(const std::string &name) {
  return name.starts_with("System.") || name.starts_with("Microsoft.") || name == "mscorlib.dll" ||
         name == "netstandard.dll" || name == "WindowsBase.dll";
}

} // namespace

std::string SourceLine::text() const { return line ? fmt::format("{}:{}", printable(name_in(file), 200), line) : ""; }

SourceLines::SourceLines(const Snapshot &snapshot)
    : snapshot_(snapshot), runtime_(snapshot.runtime()), code_(runtime_.il_code()), symbols_(snapshot.symbol_folders()),
      modules_(snapshot.options().module_folders, snapshot.target()) {
  if (!code_)
    return;
  for (const Module &module : runtime_.target().modules)
    if (module.file_name() == "System.Private.CoreLib.dll")
      framework_ = folder_in(module.path);
}

SourceLines::~SourceLines() = default;

SourcePlace SourceLines::find(Address method_desc, Address ip, bool returns_there) {
  SourcePlace out;
  if (!code_ || !method_desc)
    return out;
  out.il_offset = code_->il_offset(ip, returns_there);
  if (!out.il_offset)
    return out;
  auto [known, is_new] = lines_.try_emplace({method_desc, *out.il_offset});
  u32 row = 0;
  if (is_new)
    if (const Symbols *symbols = symbols_of_method(method_desc, row))
      known->second = line_at(*symbols, row, *out.il_offset);
  out.at = known->second;
  return out;
}

const SourceLines::Symbols *SourceLines::symbols_of_method(Address method_desc, u32 &row) {
  const std::optional<MetadataRow> method = code_->find_method(method_desc);
  row = method ? method->row : 0;
  return row ? &symbols_of(method->module) : nullptr;
}

std::string SourceLines::local(Address method_desc, Address ip, u32 number) {
  const std::optional<u32> il_offset = code_ && method_desc ? code_->il_offset(ip, false) : std::nullopt;
  u32 row = 0;
  const Symbols *symbols = il_offset ? symbols_of_method(method_desc, row) : nullptr;
  return symbols && symbols->pdb ? symbols->pdb->local(row, number, *il_offset) : "";
}

SourceLine SourceLines::find_await(Address machine_type, u32 number) {
  auto [known, is_new] = await_lines_.try_emplace({machine_type, number});
  if (!code_ || !is_new)
    return known->second;
  const Address module = code_->module_of(machine_type);
  const Metadata *metadata = module ? code_->metadata(module) : nullptr;
  const Symbols *symbols = metadata ? &symbols_of(module) : nullptr;
  if (!symbols || !symbols->pdb)
    return {};
  for (u32 method : metadata->methods_of(code_->row_of_type(machine_type)))
    if (const std::optional<MethodDefRow> row = metadata->method(method); row && row->name == "MoveNext")
      if (const std::vector<u32> awaits = symbols->pdb->awaits(method); number < awaits.size())
        return known->second = line_at(*symbols, method, awaits[number]);
  return {};
}

SourceLine SourceLines::line_at(const Symbols &symbols, u32 method, u32 il_offset) const {
  const std::optional<SourcePoint> point = symbols.pdb ? symbols.pdb->find(method, il_offset) : std::nullopt;
  return point ? SourceLine{symbols.pdb->document(point->document), point->line} : SourceLine();
}

const SourceLines::Symbols &SourceLines::symbols_of(Address module) {
  auto [known, is_new] = of_modules_.try_emplace(module);
  if (is_new)
    find_symbols(module, known->second);
  return known->second;
}

bool SourceLines::take(Bytes file, std::shared_ptr<const void> storage, Bytes id, Symbols &to) const {
  std::optional<PortablePdb> pdb = PortablePdb::parse(file);
  if (!pdb || !std::equal(id.begin(), id.end(), pdb->id().begin(), pdb->id().end()))
    return false;
  to.pdb = std::move(pdb);
  to.storage = std::move(storage);
  return true;
}

void SourceLines::find_symbols(Address module, Symbols &to) {
  const Memory &memory = runtime_.memory();
  const std::vector<Address> bases = module ? code_->image_bases(module) : std::vector<Address>();
  const Module *mapped = nullptr;
  for (u64 i = 0; i < bases.size() && !mapped; ++i)
    mapped = runtime_.target().find_module(bases[i]);
  to.module = module ? code_->file_name(module) : "";
  to.is_wanted = !bases.empty() && !(mapped && is_framework_name(to.module) && folder_in(mapped->path) == framework_);
  const std::optional<PeImage> image = image_of(memory, bases);
  const std::optional<PeImage::CodeView> named = image ? image->portable_code_view() : std::nullopt;
  if (!named) {
    to.why = image ? "it names no portable .pdb" : "the name of its .pdb is not in the dump";
    return;
  }
  std::vector<std::byte> id(named->guid.size() + 4);
  std::memcpy(id.data(), named->guid.data(), named->guid.size());
  for (unsigned i = 0; i < 4; ++i)
    id[named->guid.size() + i] = static_cast<std::byte>(named->stamp >> (8 * i));
  if (const std::optional<PeBlock> inside = image->embedded_pdb(); inside && inside->size <= most_embedded) {
    std::vector<std::byte> packed(inside->size);
    if (memory.read(inside->address, packed))
      if (auto pdb = std::make_shared<std::vector<std::byte>>(unpack_embedded_pdb(packed)); take(*pdb, pdb, id, to)) {
        to.why = "inside the assembly";
        return;
      }
  }
  to.why = printable(name_in(named->path), most_of_name) +
           " was not found in the usual places; give its folder with --symbols";
  for (const std::string &path : candidates(mapped, named->path, id))
    if (const std::shared_ptr<const MappedFile> file = MappedFile::try_open(path)) {
      if (take(file->bytes(), file, id, to)) {
        to.file = path;
        to.why = "its id is the one that the assembly names";
        return;
      }
      if (to.rejected.empty()) {
        to.rejected = path;
        to.why = "its id is not the one that the assembly names";
      }
    }
}

std::vector<Provenance> SourceLines::files(Notes &notes) {
  std::vector<Provenance> out;
  if (!code_)
    return out;
  try {
    for (Address module : code_->modules(notes)) {
      const Symbols &symbols = symbols_of(module);
      if (!symbols.pdb && !symbols.is_wanted)
        continue;
      const auto outcome = symbols.pdb                ? Provenance::Outcome::used
                           : symbols.rejected.empty() ? Provenance::Outcome::missing
                                                      : Provenance::Outcome::rejected;
      out.push_back({printable(symbols.module, most_of_name), symbols.pdb ? symbols.file : symbols.rejected, outcome,
                     symbols.pdb ? "id" : "", symbols.why});
    }
  } catch (const Error &e) {
    notes.add(Subject::modules, Effect::none, "", e);
  }
  return out;
}

// Candidates: first below the user's folders, then beside the module, then where the compiler put it; last below the
// user's folders under any name.
std::vector<std::string> SourceLines::candidates(const Module *module, const std::string &pdb_path, Bytes id) {
  const std::string name = name_in(pdb_path);
  std::vector<std::string> out;
  if (name.empty() || name == "." || name == "..")
    return out;
  auto add = [&](ModuleFolders &folders, const std::string &path, bool windows) {
    for (std::string &found : folders.candidates(path, windows))
      if (std::find(out.begin(), out.end(), found) == out.end())
        out.push_back(std::move(found));
  };
  if (module)
    for (const Provenance &file : snapshot_.target().provenance)
      if (file.module == module->path && file.outcome == Provenance::Outcome::used)
        out.push_back(folder_in(file.file) + name);
  const bool windows = module && is_on_drive(module->path);
  const std::string beside =
      windows || (module && module->path.starts_with('/')) ? folder_in(module->path) + name : "/" + name;
  add(symbols_, beside, windows);
  add(modules_, beside, windows);
  if (pdb_path.starts_with('/') || is_on_drive(pdb_path))
    add(modules_, pdb_path, is_on_drive(pdb_path));
  for (ModuleFolders *folders : {&symbols_, &modules_})
    for (std::string &found : folders->identified(identity_of_pdb(id)))
      if (std::find(out.begin(), out.end(), found) == out.end())
        out.push_back(std::move(found));
  return out;
}

Notes SourceLines::notes() const {
  Notes out;
  std::vector<std::string> without;
  for (const auto &[module, symbols] : of_modules_)
    if (!symbols.pdb && symbols.is_wanted)
      without.push_back(printable(symbols.module, 100));
  std::sort(without.begin(), without.end());
  if (!without.empty()) {
    std::string names;
    for (u64 i = 0; i < std::min<u64>(without.size(), most_named); ++i)
      names += (i ? ", " : "") + without[i];
    out.add(Subject::modules, Effect::none,
            fmt::format("source lines: no symbols for {} assembl{} ({}{})", count_text(without.size()),
                        without.size() == 1 ? "y" : "ies", names, without.size() > most_named ? ", …" : ""),
            "--symbols DIR");
  }
  if (code_ && code_->unread_methods())
    out.add(Subject::modules, Effect::none,
            fmt::format("source lines: the IL offsets of {} of the methods are not in the dump",
                        count_text(code_->unread_methods())));
  return out;
}

} // namespace dnheap
