#include "base/host/windows.h"
#include "base/process/process.h"
#include "base/process/process_identity.h"

#include <algorithm>
#include <cwctype>
#include <memory>
#include <vector>
#include <winternl.h>

namespace dnheap {

namespace {

// The offsets are those of every 64-bit Windows since XP.
constexpr u64 peb_to_parameters = 0x20, to_command_line = 0x70, to_environment = 0x80, to_environment_size = 0x3f0;

// Not a function of an import library that others who link ours would have to name.
auto query_process() {
  using Query = decltype(&::NtQueryInformationProcess);
  const HMODULE library = ::GetModuleHandleW(L"ntdll.dll");
  return reinterpret_cast<Query>(reinterpret_cast<void *>(::GetProcAddress(library, "NtQueryInformationProcess")));
}

Address address_of_peb(u64 pid) {
  PROCESS_BASIC_INFORMATION about{};
  const auto query = query_process();
  const HANDLE process = ::OpenProcess(PROCESS_QUERY_LIMITED_INFORMATION, FALSE, static_cast<DWORD>(pid));
  if (!process)
    return 0;
  const bool known = query && query(process, ProcessBasicInformation, &about, sizeof about, nullptr) >= 0;
  ::CloseHandle(process);
  return known ? reinterpret_cast<Address>(about.PebBaseAddress) : 0;
}

// What a process was started with, as its own memory has it (RTL_USER_PROCESS_PARAMETERS).
class Parameters {
public:
  explicit Parameters(u64 pid) : memory_(pid) {
    if (const Address peb = address_of_peb(pid))
      at_ = word(peb + peb_to_parameters);
  }

  std::wstring command_line() const {
    const u64 size = word(at_ + to_command_line) & 0xffff; // of a UNICODE_STRING
    return text(word(at_ + to_command_line + sizeof(u64)), size);
  }
  // Returns "NAME=value" and a zero, again and again.
  std::wstring environment() const {
    constexpr u64 most = 4 << 20;
    return text(word(at_ + to_environment), std::min(word(at_ + to_environment_size), most));
  }

private:
  u64 word(Address address) const {
    u64 out = 0;
    return is_valid(address) && memory_.read(address, std::as_writable_bytes(std::span(&out, 1))) == sizeof out ? out
                                                                                                                : 0;
  }
  static bool is_valid(Address address) { return address > 0xffff; } // nothing lies below
  std::wstring text(Address address, u64 bytes) const {
    std::wstring out(bytes / sizeof(wchar_t), L'\0');
    out.resize(memory_.read(address, std::as_writable_bytes(std::span(out))) / sizeof(wchar_t));
    return out;
  }

  ProcessMemory memory_;
  Address at_ = 0;
};

// Null if this program may not read the process.
std::unique_ptr<Parameters> parameters_of(u64 pid) {
  try {
    return std::make_unique<Parameters>(pid);
  } catch (const std::exception &) {
    return nullptr;
  }
}

bool is_named(std::wstring_view entry, std::wstring_view name) {
  return entry.size() > name.size() && entry[name.size()] == L'=' &&
         std::ranges::equal(entry.substr(0, name.size()), name,
                            [](wchar_t a, wchar_t b) { return std::towupper(a) == std::towupper(b); });
}

} // namespace

u64 id_inside(u64 pid) { return pid; }
std::optional<u64> user_of(u64) { return std::nullopt; }
std::optional<u64> own_user() { return std::nullopt; }

std::string command_line_of(u64 pid) {
  const std::unique_ptr<Parameters> parameters = parameters_of(pid);
  const std::string out = parameters ? narrow(parameters->command_line()) : "";
  return out.empty() ? program_file(pid) : out;
}

std::string root_folder_of(u64) { return {}; }

std::optional<std::string> environment_of(u64 pid, const std::string &name) {
  const std::unique_ptr<Parameters> parameters = parameters_of(pid);
  const std::wstring all = parameters ? parameters->environment() : L"";
  if (all.empty())
    return std::nullopt;
  const std::wstring wanted = wide(name);
  for (std::wstring_view rest = all; !rest.empty();) {
    const std::wstring_view entry = rest.substr(0, rest.find(L'\0'));
    if (is_named(entry, wanted))
      return narrow(std::wstring(entry.substr(wanted.size() + 1)));
    rest.remove_prefix(std::min(entry.size() + 1, rest.size()));
  }
  return "";
}

std::optional<bool> sees_file(u64, const std::string &) { return std::nullopt; }

bool open_files_can_be_written() { return false; }

} // namespace dnheap
