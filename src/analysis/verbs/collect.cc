// `collect`: a dump that a process writes of itself.
#include "analysis/verbs/collect.h"

#include "analysis/answer_head.h"
#include "analysis/process/dotnet_process.h"
#include "analysis/verbs/extract.h"
#include "base/host/file_time.h"
#include "base/process/process.h"
#include "base/text.h"
#include "report/columns_of.h"
#include "snapshot/port_process.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <fmt/format.h>

namespace dnheap {

namespace {

struct KindOfDump {
  const char *name;
  SelfDumpKind kind;
  bool has_heap;
};

constexpr KindOfDump dump_kinds[] = {{"heap", SelfDumpKind::heap, true},
                                     {"full", SelfDumpKind::full, true},
                                     {"mini", SelfDumpKind::mini, false},
                                     {"triage", SelfDumpKind::triage, false}};

const KindOfDump &kind_called(const std::string &name) {
  const auto at = std::ranges::find_if(dump_kinds, [&](const KindOfDump &kind) { return kind.name == name; });
  if (at == std::end(dump_kinds))
    throw UsageError(fmt::format("'{}' is no kind of dump: {}", name, fmt::join(kinds_of_dumps(), ", ")));
  return *at;
}

void check_collecting(const CollectingOptions &options, const KindOfDump &kind) {
  if (options.extract && !kind.has_heap)
    throw UsageError(std::string("a small core is made from the kinds heap and full: a dump of the kind ") + kind.name +
                     " has no heap, and is small");
  if (options.no_values && !options.extract)
    throw UsageError("only the small core can be without values: the process itself writes the dump, with all of them");
  for (const char *ending : {".zst", ".gz"})
    if (!options.extract && options.file.ends_with(ending))
      throw UsageError(std::string("the process writes a dump that is not compressed: give the file a name without ") +
                       ending + ", or make a small core (--extract)");
}

// Returns "shop" for "shop.dll" and "/app/shop", without what a file's name should not have.
std::string plain_name(const PortProcess &process) {
  constexpr u64 longest = 64;
  std::string_view name = process.assembly;
  if (name.empty()) {
    name = process.command_line;
    name = name.substr(0, name.find(' '));
    name = name.substr(name.rfind('/') + 1);
  }
  if (name.ends_with(".dll"))
    name.remove_suffix(4);
  std::string out;
  for (char c : name.substr(0, longest)) {
    const bool is_plain =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
    out += is_plain && !(out.empty() && c != '_' && (c == '.' || c == '-')) ? c : '_';
  }
  return out.empty() ? "dotnet" : out;
}

std::string time_in_name(u64 time) {
  using namespace std::chrono;
  const sys_seconds at{seconds(time)};
  const year_month_day date(floor<days>(at));
  const hh_mm_ss clock(at - floor<days>(at));
  return fmt::format("{:04}{:02}{:02}T{:02}{:02}{:02}Z", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()), clock.hours().count(),
                     clock.minutes().count(), clock.seconds().count());
}

// A name that nobody has given replaces no file.
std::string file_to_collect(const ListeningProcess &process, const CollectingOptions &options) {
  if (!options.file.empty())
    return options.file;
  const std::string_view ending = options.extract ? ".core.zst" : process.described.os == "Windows" ? ".dmp" : ".core";
  const std::string out = fmt::format("{}-{}-{}{}", plain_name(process.described), process.shown_pid(),
                                      time_in_name(seconds_now()), ending);
  if (std::error_code ignored; std::filesystem::exists(std::filesystem::symlink_status(out, ignored)))
    throw Error(out + " is there already: name another file with -o");
  return out;
}

// Says more than a missing socket does.
void check_is_dotnet(u64 pid) {
  const std::optional<std::vector<std::string>> files = loaded_files(pid);
  if (files && !files->empty() && !has_dotnet(pid, *files))
    throw Error(fmt::format("process {} is no .NET process: dnheap ps lists those that are", pid));
}

// Returns the version without the number of its source: "10.0.15".
std::string version_of(const PortProcess &process) {
  const std::string &version = process.version;
  return version.empty() ? "(version unknown)" : version.substr(0, version.find('+'));
}

// Returns null, and notes why, for a dump that nothing can be asked about, as some kinds without heap are.
const Runtime *runtime_in(const Snapshot &snapshot, std::vector<std::string> &notes) {
  try {
    return &snapshot.runtime();
  } catch (const Interrupted &) {
    throw;
  } catch (const Error &error) {
    notes.push_back(error.what());
    return nullptr;
  }
}

std::vector<std::string> notes_of(const Target &target) {
  std::vector<std::string> out;
  for (const Note &note : target.notes)
    if (note.effect != Effect::none)
      out.push_back(note.sentence());
  return out;
}

struct CollectedFile {
  std::string file, kind;
  u64 bytes = 0;
  std::optional<u64> dump_bytes; // of the dump that a small core was made from
  double seconds = 0;
};

report::Table table_of_file(const CollectedFile &of) {
  using report::Kind;
  using F = CollectedFile;
  report::ColumnsOf<F> columns{{{"file", "File", Kind::text}, &F::file},
                               {{"kind", "Kind", Kind::text}, &F::kind},
                               {{"bytes", "Bytes", Kind::bytes}, &F::bytes}};
  if (of.dump_bytes)
    columns.add({{"dump_bytes", "Made from", Kind::bytes}, &F::dump_bytes});
  columns.add({{"seconds", "Seconds", Kind::real}, [](const F &f) { return std::round(f.seconds * 1000) / 1000; }});
  report::Table out = columns.table("dump", "", std::array{of});
  out.columns.front().wraps = true;
  return out;
}

report::Answer answer_collected(const Snapshot &snapshot, const ListeningProcess &process, const CollectedFile &of) {
  report::Answer out;
  out.command = "collect";
  std::vector<std::string> notes = notes_of(snapshot.target());
  const Runtime *runtime = runtime_in(snapshot, notes);
  out.target = target_facts(snapshot.target(), runtime);
  out.target.front().value = of.file; // the snapshot may be one of the dump that the file is made from
  out.headline.what =
      printable(of.file, 200) + ": " +
      (runtime ? runtime_headline(snapshot.target(), *runtime) : ".NET " + version_of(process.described));
  out.headline.facts = fmt::format("; {} of process {}, {}", of.dump_bytes ? "small core" : of.kind + " dump",
                                   process.shown_pid(), bytes_text(of.bytes));
  out.tables.push_back(table_of_file(of));
  out.tables.front().notes = std::move(notes);
  if (runtime)
    out.next_command = (runtime->why_no_heap().empty() ? "dnheap " : "dnheap threads ") + shell_word(of.file);
  return out;
}

// Makes the small core, or gives the dump its name. Returns the dump, opened.
std::unique_ptr<Snapshot> finish_collecting(SelfDump &dump, const SnapshotOptions &options,
                                            const CollectingOptions &collecting, CollectedFile &out) {
  SnapshotOptions opening = options;
  opening.record_reads = collecting.extract;
  out.bytes = dump.size();
  if (!collecting.extract) {
    dump.commit();
    return Snapshot::open(out.file, opening);
  }
  std::unique_ptr<Snapshot> snapshot = Snapshot::open(dump.path_for_now(), opening);
  out.dump_bytes = out.bytes;
  out.kind = "extracted";
  out.bytes = ask_and_extract(*snapshot, {out.file, collecting.no_values}).file_bytes;
  return snapshot;
}

using CollectClock = std::chrono::steady_clock;

report::Answer collect_from(ListeningProcess &process, const SnapshotOptions &options,
                            const CollectingOptions &collecting, CollectClock::time_point start) {
  CollectedFile out{file_to_collect(process, collecting), collecting.kind, 0, {}, 0};
  SelfDump dump(process, out.file, kind_called(collecting.kind).kind, options.watch);
  const std::unique_ptr<Snapshot> snapshot = finish_collecting(dump, options, collecting, out);
  out.seconds = std::chrono::duration<double>(CollectClock::now() - start).count();
  return answer_collected(*snapshot, process, out);
}

} // namespace

std::vector<std::string> kinds_of_dumps() {
  std::vector<std::string> out;
  for (const KindOfDump &kind : dump_kinds)
    out.emplace_back(kind.name);
  return out;
}

report::Answer collect_dump(u64 pid, const SnapshotOptions &options, const CollectingOptions &collecting) {
  check_collecting(collecting, kind_called(collecting.kind));
  check_is_dotnet(pid);
  const auto start = CollectClock::now();
  ListeningProcess process = find_listening_process(pid, options.watch);
  return collect_from(process, options, collecting, start);
}

report::Answer collect_dump(const PortToAsk &port, const SnapshotOptions &options,
                            const CollectingOptions &collecting) {
  check_collecting(collecting, kind_called(collecting.kind));
  if (!port.listens) {
    const auto start = CollectClock::now();
    ListeningProcess process = connect_to_process(port.path, options.watch);
    return collect_from(process, options, collecting, start);
  }
  const auto listener = std::make_shared<DiagnosticsListener>(port.path);
  if (port.on_listening)
    port.on_listening();
  PortArrival arrival = wait_for_runtime(listener, static_cast<double>(port.seconds), options.watch);
  report::Answer out = collect_from(arrival.process, options, collecting, CollectClock::now());
  if (arrival.was_starting)
    out.tables.front().notes.emplace_back(
        "the program was only starting when it connected, so the dump shows its beginning: one that is started with "
        "nosuspend runs on, and connects to a socket that is made later");
  return out;
}

} // namespace dnheap
