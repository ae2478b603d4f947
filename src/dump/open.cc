#include "dump/open.h"

#include "base/host/file_time.h"
#include "base/host/host.h"
#include "base/host/mapping_faults.h"
#include "base/host/standard_input.h"
#include "dump/compressed.h"
#include "dump/elf_core.h"
#include "dump/macho_core.h"
#include "dump/minidump.h"
#include "dump/other_files.h"
#include "dump/records/gcdump.h"
#include "dump/stored_core.h"

#include <utility>

namespace dnheap {

namespace {

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

} // namespace

std::unique_ptr<Target> open_dump(const std::string &path, const OpenOptions &options, const Watch &watch) {
  if (is_standard_input(path, options)) {
    const std::string file = file_at_standard_input();
    return file.empty() ? open_stream(options, watch) : open_dump(file, options, watch);
  }
  std::shared_ptr<const MappedFile> file = MappedFile::open(path);
  try {
    return open_mapped(path, file, options, watch);
  } catch (const Interrupted &) {
    throw;
  } catch (const Error &error) {
    for (const LostBytes &lost : find_lost_bytes())
      if (lost.bytes.data() >= file->bytes().data() && lost.bytes.data() < file->bytes().data() + file->bytes().size())
        throw Error(path + ": " + lost.reason);
    throw Error(path + ": " + error.what());
  }
}

} // namespace dnheap
