#include "dump/open.h"

#include "base/host/file_time.h"
#include "base/host/host.h"
#include "base/host/mapping_faults.h"
#include "base/host/standard_input.h"
#include "base/text.h"
#include "dump/compressed.h"
#include "dump/dump_folder.h"
#include "dump/elf_core.h"
#include "dump/macho_core.h"
#include "dump/minidump.h"
#include "dump/other_files.h"
#include "dump/records/gcdump.h"
#include "dump/stored_core.h"
#include "image/elf_format.h"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

namespace dnheap {

namespace {

constexpr u64 longest_noted_name = 200;

// One row per container. An opener returns null for "not mine" and throws for "mine, but broken".
struct Opener {
  const char *name;
  std::unique_ptr<Target> (*open)(Bytes file, std::shared_ptr<const void> storage);
  // Returns the length from the first bytes; nullopt for "not mine".
  std::optional<u64> (*length_of)(Bytes first);
};
constexpr Opener openers[] = {
    {"elf-core", open_elf_core, length_of_elf},
    {"macho-core", open_macho_core, length_of_macho_core},
    {"minidump", open_minidump, length_of_minidump},
};

u64 length_of_dump(Bytes first) {
  for (const Opener &opener : openers)
    if (const std::optional<u64> length = opener.length_of(first))
      return *length;
  return is_gcdump(first) ? ~u64{0} : 0;
}

bool is_elf_but_no_core(Bytes first) {
  const std::optional<ElfHeader> header = has_elf_magic(first) ? ElfHeader::parse(first) : std::nullopt;
  return has_elf_magic(first) && (!header || header->type != elf::type_core);
}

// For files in a folder, most of which are modules and texts.
std::optional<u64> length_of_dump_in(Bytes file) {
  constexpr u64 enough = 64 << 10, unknown = ~u64{0};
  if (is_compressed(file)) {
    const std::vector<std::byte> first = first_decompressed(file, enough);
    return !is_compressed(first) && length_of_dump_in(first) ? std::optional(unknown) : std::nullopt;
  }
  const u64 length = is_elf_but_no_core(file) ? 0 : length_of_dump(file);
  return length ? std::optional(length) : std::nullopt;
}

// An extracted core, which may keep its dump's name, says itself what the dump was.
std::optional<CoreRecord> core_record_of(const Target &target, const std::string &path, bool has_name) {
  return has_name && !target.extraction && target.os == OperatingSystem::linux_os ? core_record(path) : std::nullopt;
}

std::unique_ptr<Target> open_mapped(const std::string &path, std::shared_ptr<const MappedFile> file,
                                    const OpenOptions &options, const Watch &watch, bool has_name = true) {
  std::string note;
  bool damaged = false;
  if (is_compressed(file->bytes())) {
    Decompressed result =
        decompress(file->bytes(), options.temp_dir, options.threads, watch, {.length_of = length_of_dump});
    file = std::move(result.file);
    note = std::move(result.note);
    damaged = result.damaged;
    if (is_compressed(file->bytes()))
      throw Error("compressed more than once: decompress it once and open the result");
  }
  auto finished = [&](std::unique_ptr<Target> target) {
    target->path = path;
    if (std::optional<CoreRecord> record = core_record_of(*target, path, has_name))
      add_core_record(*target, std::move(*record));
    if (!target->taken && !target->extraction && has_name) // an extracted core is younger than its dump
      if (const std::optional<u64> seconds = modified_at(path))
        target->taken = TakenAt{*seconds, TakenAt::Clock::file};
    if (!note.empty())
      target->notes.add_first(Note{Subject::dump, damaged ? Effect::numbers : Effect::none, note});
    return target;
  };
  if (std::unique_ptr<Target> target = open_gcdump(file->bytes(), options.threads, watch))
    return finished(std::move(target));
  Timer timer(watch, "open");
  for (const Opener &opener : openers)
    if (std::unique_ptr<Target> target = opener.open(file->bytes(), file))
      return finished(std::move(target));
  throw Error(
      "not a dump: " + what_else(file->bytes()) +
      "; dnheap opens ELF cores, Mach-O cores, Windows minidumps and .gcdump files (plain, .zst, .gz, .xz, .lz4)");
}

std::shared_ptr<const MappedFile> read_stream(const OpenOptions &options, const Watch &watch) {
  Timer timer(watch, "read input");
  TemporaryFile out(options.temp_dir, "the dump from standard input");
  read_standard_input(
      [&](Bytes part) {
        out.write(part);
        if (watch.progress)
          watch.progress->done = out.size();
      },
      [&] { watch.check(); });
  timer.bytes(out.size());
  if (out.size() == 0)
    throw Error("it is empty: the program that writes the dump wrote nothing");
  return out.map();
}

std::unique_ptr<Target> open_stream(const OpenOptions &options, const Watch &watch) {
  const std::string name = "standard input";
  try {
    std::unique_ptr<Target> out = open_mapped(name, read_stream(options, watch), options, watch, false);
    out->is_stream = true;
    return out;
  } catch (const Interrupted &) {
    throw;
  } catch (const Error &error) {
    throw Error(name + ": " + error.what());
  }
}

void check_for_losses(const std::string &path, const MappedFile &file) {
  for (const LostBytes &lost : find_lost_bytes())
    if (lost.bytes.data() >= file.bytes().data() && lost.bytes.data() < file.bytes().data() + file.bytes().size())
      throw Error(path + ": " + lost.reason);
}

std::unique_ptr<Target> open_at(const std::string &path, const std::shared_ptr<const MappedFile> &file,
                                const OpenOptions &options, const Watch &watch) {
  try {
    return open_mapped(path, file, options, watch);
  } catch (const Interrupted &) {
    throw;
  } catch (const Error &error) {
    check_for_losses(path, *file);
    throw Error(path + ": " + error.what());
  }
}

// Parts of any length are copied one behind the other, since a mapping could only begin at a page.
std::shared_ptr<const MappedFile> join_parts(const std::vector<std::string> &parts, const OpenOptions &options,
                                             const Watch &watch) {
  constexpr u64 piece = 16 << 20;
  Timer timer(watch, "read input");
  TemporaryFile out(options.temp_dir, "the parts of the dump, joined");
  for (const std::string &path : parts) {
    const std::shared_ptr<const MappedFile> part = MappedFile::open(path);
    for (Bytes rest = part->bytes(); !rest.empty(); rest = rest.subspan(std::min<u64>(piece, rest.size()))) {
      watch.check();
      out.write(rest.first(std::min<u64>(piece, rest.size())));
    }
    check_for_losses(path, *part);
  }
  timer.bytes(out.size());
  return out.map();
}

std::unique_ptr<Target> open_folder(const std::string &folder, const OpenOptions &options, const Watch &watch) {
  const std::vector<std::string> files = find_dump_in(folder, length_of_dump_in);
  const std::string &first = files.front();
  std::unique_ptr<Target> out =
      open_at(first, files.size() == 1 ? MappedFile::open(first) : join_parts(files, options, watch), options, watch);
  out->folder = folder;
  if (files.size() > 1)
    out->notes.add(Subject::dump, Effect::none,
                   fmt::format("joined from {} parts, {} to {}", files.size(),
                               printable(file_name_of(first), longest_noted_name),
                               printable(file_name_of(files.back()), longest_noted_name)));
  return out;
}

} // namespace

std::unique_ptr<Target> open_dump(const std::string &path, const OpenOptions &options, const Watch &watch) {
  if (is_standard_input(path, options)) {
    const std::string file = file_at_standard_input();
    return file.empty() ? open_stream(options, watch) : open_dump(file, options, watch);
  }
  return is_folder(path) ? open_folder(path, options, watch) : open_at(path, MappedFile::open(path), options, watch);
}

} // namespace dnheap
