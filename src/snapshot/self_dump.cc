#include "snapshot/self_dump.h"

#include "base/error.h"
#include "base/process/process.h"
#include "base/process/process_identity.h"
#include "base/text.h"
#include "image/module_image.h"
#include "runtime/library_names.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <random>

namespace dnheap {

namespace {

// A folder of its own for the file that the runtime writes. createdump cannot be stopped: if the folder is removed, a
// file that it has not begun yet cannot come to be later.
class WritingPlace {
public:
  // `here`, `inside`: the folder's path for this process, and for the one that writes. Without `has_folder` the
  // writing process could not write to a folder of this one's, so these are the file's paths themselves.
  WritingPlace(std::string here, std::string inside, bool has_folder)
      : folder_(has_folder ? here : ""), here_(std::move(here)), inside_(std::move(inside)) {
    if (!has_folder)
      return;
    std::error_code error;
    if (!std::filesystem::create_directory(folder_, error))
      throw Error("cannot write to " + folder_ + ": " + (error ? error.message() : "it is there already"));
    here_ += "/core";
    inside_ += "/core";
  }
  ~WritingPlace() {
    std::error_code ignored;
    std::filesystem::remove(here_, ignored);
    if (!folder_.empty())
      std::filesystem::remove(folder_, ignored);
  }
  WritingPlace(const WritingPlace &) = delete;
  WritingPlace &operator=(const WritingPlace &) = delete;

  // Has the runtime write straight into an existing file. Returns false if the file system has no links.
  bool link_to(const std::string &file) {
    std::error_code error;
    std::filesystem::create_hard_link(file, here_, error);
    return is_linked_ = !error;
  }
  bool is_linked() const { return is_linked_; }
  const std::string &here() const { return here_; }
  const std::string &inside() const { return inside_; }
  // 0 if nothing is there yet.
  u64 size() const {
    std::error_code error;
    const auto out = std::filesystem::file_size(here_, error);
    return error ? 0 : out;
  }

private:
  std::string folder_, here_, inside_;
  bool is_linked_ = false;
};

bool has_own_user(u64 pid) { return user_of(pid) == own_user(); }

std::string random_name() {
  std::random_device random;
  return fmt::format("dnheap-{:08x}{:08x}{:08x}", random(), random(), random());
}

// Returns the path under which the process sees a file of this process's; empty if it does not, or may not write there.
std::string path_inside(const ListeningProcess &process, const std::string &path) {
  if (!has_own_user(process.pid))
    return {};
  const std::string root = root_folder_of(process.pid);
  if (!root.empty() && path.starts_with(root + "/"))
    return path.substr(root.size());
  const PortFolder &folder = process.port.folder();
  return sees_file(process.pid, path).value_or(folder.path == folder.inside) ? path : std::string();
}

std::unique_ptr<WritingPlace> place_for(const ListeningProcess &process, const NewFile &file) {
  const std::string path = std::filesystem::absolute(file.path_for_now()).string();
  if (const std::string inside = path_inside(process, path); !inside.empty()) {
    auto out = std::make_unique<WritingPlace>(path + ".d", inside + ".d", true);
    if (open_files_can_be_written())
      out->link_to(path);
    return out;
  }
  const PortFolder &folder = process.port.folder();
  const std::string name = "/" + random_name();
  return std::make_unique<WritingPlace>(folder.path + name, folder.inside + name, has_own_user(process.pid));
}

// Returns about how large the dump becomes; 0: small. createdump adds pages of libraries to the process's own memory.
u64 size_to_expect(u64 pid, SelfDumpKind kind) {
  constexpr u64 of_libraries = 32 << 20;
  const std::optional<u64> memory = kind == SelfDumpKind::full   ? resident_memory(pid)
                                    : kind == SelfDumpKind::heap ? private_memory(pid)
                                                                 : std::nullopt;
  return memory ? *memory + of_libraries : 0;
}

void check_room(const std::string &file, u64 needed) {
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::absolute(file).parent_path();
  const std::filesystem::space_info space = std::filesystem::space(folder, error);
  if (!error && space.available < needed)
    throw Error("the dump may take " + bytes_text(needed) + ", and " + folder.string() + " has room for " +
                bytes_text(space.available) +
                ": name a file elsewhere with -o, or take a smaller kind of dump (--kind)");
}

// Returns the version without the number of its source: "10.0.15".
std::string version_of(const ListeningProcess &process) {
  const std::string &version = process.described.version;
  return version.substr(0, version.find('+'));
}

// Returns the folder of a program that is a single file with CoreCLR in it; empty for others.
std::string folder_of_single_file(u64 pid) {
  const std::string program = program_file(pid);
  const std::shared_ptr<const MappedFile> file = MappedFile::try_open(program);
  constexpr const char *info[] = {"DotNetRuntimeInfo"};
  if (!file || !exports_any(file->bytes(), info))
    return "";
  std::error_code error;
  const std::filesystem::path path = std::filesystem::read_symlink(program, error); // as /proc has it
  return (error ? std::filesystem::path(program) : path).parent_path().string();
}

// Returns the folder where the runtime looks for createdump: the one of its library, or of the program that has the
// runtime inside. Empty: unknown.
std::string folder_of_runtime(u64 pid) {
  for (const std::string &file : loaded_files(pid).value_or(std::vector<std::string>()))
    if (const std::string name = file_name_of(file); is_core_clr_library(name))
      return file.substr(0, file.size() - name.size() - 1);
  return folder_of_single_file(pid);
}

// The runtime of .NET 8 removes its own socket when it cannot start createdump: so it is not asked where that is known
// beforehand.
void check_createdump(const ListeningProcess &process) {
  const std::string folder = folder_of_runtime(process.pid);
  const std::string here = root_folder_of(process.pid) + folder;
  if (folder.empty() || !is_folder(here) || is_file(here + "/createdump") || is_file(here + "/createdump.exe"))
    return;
  throw Error(
      fmt::format("process {} cannot dump itself: {} has no createdump, which writes dumps: copy that file there "
                  "from an installation of .NET {}, or from the NuGet package Microsoft.NETCore.App.Runtime.* "
                  "of that version and platform, or read the process's memory with dnheap -p {}",
                  process.pid, folder, version_of(process), process.pid));
}

// Returns why createdump has written nothing, although the runtime reports success: a single-file program lacks what
// all kinds but full need.
std::string why_no_file(const ListeningProcess &process, SelfDumpKind kind) {
  const std::string folder = folder_of_runtime(process.pid);
  const std::string here = root_folder_of(process.pid) + folder;
  if (kind == SelfDumpKind::full || folder.empty() || !is_folder(here) || is_file(here + "/libmscordaccore.so") ||
      is_file(here + "/mscordaccore.dll"))
    return ": the process's standard output may say why";
  return ": " + folder + " has no libmscordaccore.so, which createdump needs for this kind: copy that of .NET " +
         version_of(process) + " there, or take --kind full";
}

// Makes one line of createdump's messages.
std::string words_of_createdump(std::string_view text) {
  constexpr std::string_view front = "[createdump] ";
  std::string out;
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (line.starts_with(front))
      line.remove_prefix(front.size());
    if (!line.empty() && !line.starts_with("Failure took"))
      out += (out.empty() ? "" : "; ") + std::string(line);
  }
  return printable(out, 400);
}

// Returns what to do about a failure, beginning with punctuation.
std::string remedy_for(const std::string &words, const ListeningProcess &process) {
  const auto has = [&](const char *text) { return words.find(text) != words.npos; };
  const std::string by_memory = process.pid
                                    ? "or read the process's memory with dnheap -p " + std::to_string(process.pid)
                                    : "or run dnheap where it sees the process, and read its memory with -p PID";
  if (has("execve") || has("launching createdump"))
    return ": put createdump of .NET " + version_of(process) + " beside " + std::string(core_clr_on_linux) +
           ", executable, " + by_memory;
  if (has("No space left"))
    return ": name a file elsewhere with -o";
  if (has("Read-only file system") || has("Permission denied") || has("Could not create output file"))
    return ": the process itself writes the file, with its own rights: name a folder that it may write to with -o, " +
           by_memory;
  if (has("ptrace") || has("Operation not permitted") || has("/mem"))
    return ": createdump may not trace its own process here (kernel.yama.ptrace_scope of 2 or 3, or a seccomp "
           "profile): "
           "allow that";
  return ": " + by_memory.substr(3);
}

// NativeAOT's runtime says nothing but that it failed (10.0.12). It has no library of its own.
bool is_refused_by_native_aot(const DiagnosticsReply &reply, u64 pid) {
  constexpr u32 it_failed = 0x80004005;
  return reply.error == it_failed && reply.message.empty() && process_text(pid, "maps").has_value() &&
         folder_of_runtime(pid).empty();
}

[[noreturn]] void fail_to_dump(const DiagnosticsReply &reply, const ListeningProcess &process) {
  const std::string name = "process " + std::to_string(process.shown_pid());
  if (reply.error == DiagnosticsReply::not_supported || reply.error == DiagnosticsReply::unknown_command ||
      is_refused_by_native_aot(reply, process.pid))
    throw Error(name +
                " cannot dump itself: its runtime writes no dumps (NativeAOT's does not): take a core with "
                "gcore, or read its memory with dnheap -p " +
                std::to_string(process.shown_pid()));
  std::string words = words_of_createdump(reply.message);
  if (words.empty())
    words = "error " + hex(reply.error);
  throw Error(name + " could not dump itself: " + words + remedy_for(words, process));
}

// createdump replaces %p and the like in the name.
std::string without_patterns(const std::string &path) {
  std::string out;
  for (char c : path)
    out += c == '%' ? std::string("%%") : std::string(1, c);
  return out;
}

void ask_for_dump(ListeningProcess &process, const std::string &path, SelfDumpKind kind, const Patience &patience) {
  constexpr DiagnosticsCommand commands[] = {{1, 3}, {1, 2}, {1, 1}}; // the newest has a message with its errors
  DiagnosticsPayload payload;
  payload.put(std::string_view(without_patterns(path)));
  payload.put(static_cast<u32>(kind));
  payload.put(u32{0}); // no log
  DiagnosticsReply reply;
  for (const DiagnosticsCommand command : commands) {
    reply = process.port.ask(command, payload.bytes(), patience);
    if (reply.is_ok)
      return;
    if (reply.error != DiagnosticsReply::unknown_command)
      break;
  }
  fail_to_dump(reply, process);
}

// Copies what the runtime has written where this process cannot have it written itself.
void copy_dump(const std::string &from, NewFile &to, const Watch &watch) {
  if (!is_file(from))
    return;
  const std::shared_ptr<const MappedFile> file = MappedFile::open(from);
  const Bytes bytes = file->bytes();
  constexpr u64 piece = 4 << 20;
  Timer timer(watch, "copy", bytes.size());
  for (u64 at = 0; at < bytes.size(); at += piece) {
    watch.check();
    to.write(bytes.subspan(at, std::min<u64>(piece, bytes.size() - at)));
    if (watch.progress)
      watch.progress->done = at;
  }
}

// Returns what is to be done while the process writes.
std::function<void()> turn_of(u64 pid, const WritingPlace &place, const Watch &watch) {
  return [pid, &place, &watch, start = process_start(pid)] {
    watch.check();
    if (watch.progress)
      watch.progress->done = place.size();
    if (process_start(pid) != start)
      throw Error("process " + std::to_string(pid) + " ended while it wrote its dump; what it had written is removed");
  };
}

} // namespace

ListeningProcess find_listening_process(u64 pid, const Watch &watch) {
  PortSearch search = find_diagnostics_port(pid);
  if (!search.port)
    throw Error(search.why_not);
  ListeningProcess out{pid, std::move(*search.port), {}};
  out.described = ask_for_process(out.port, {5, [&] { watch.check(); }});
  if (out.described.pid != id_inside(pid))
    throw Error(
        fmt::format("the diagnostics port {} is that of another process, {}", out.port.path(), out.described.pid));
  return out;
}

PortLook look_at_port(u64 pid) {
  constexpr double patience = 1;
  PortSearch search = find_diagnostics_port(pid);
  if (!search.port)
    return {};
  try {
    return {PortState::answers, ask_for_process(*search.port, {patience, {}})};
  } catch (const Error &) {
    return {PortState::silent, {}};
  }
}

SelfDump::SelfDump(ListeningProcess &process, const std::string &path, SelfDumpKind kind, const Watch &watch)
    : file_(path) {
  check_createdump(process);
  const u64 expected = size_to_expect(process.pid, kind);
  check_room(file_.path_for_now(), expected);
  const std::unique_ptr<WritingPlace> place = place_for(process, file_);
  if (!place->is_linked())
    check_room(place->here(), expected);
  {
    Timer timer(watch, "dump", expected);
    ask_for_dump(process, place->inside(), kind, {0, turn_of(process.pid, *place, watch)});
    timer.bytes(place->size());
  }
  if (place->is_linked())
    file_.take_size();
  else
    copy_dump(place->here(), file_, watch);
  if (file_.size() == 0)
    throw Error(fmt::format("process {} says that it has dumped itself, but there is no dump{}", process.shown_pid(),
                            why_no_file(process, kind)));
}

} // namespace dnheap
