#include "base/error.h"
#include "base/host/windows.h"
#include "base/process/address_space.h"
#include "base/process/process.h"

#include <algorithm>
#include <psapi.h>
#include <utility>

namespace dnheap {

namespace {

constexpr u64 most_stretches = 1 << 20, most_images = 1 << 16;

MemoryStretch::Kind kind_of(const MEMORY_BASIC_INFORMATION &about) {
  using Kind = MemoryStretch::Kind;
  if (about.State == MEM_RESERVE)
    return Kind::reserved;
  return about.Type == MEM_IMAGE ? Kind::image : about.Type == MEM_MAPPED ? Kind::file : Kind::own;
}

MemoryStretch stretch_of(const MEMORY_BASIC_INFORMATION &about) {
  constexpr DWORD writing = PAGE_READWRITE | PAGE_WRITECOPY | PAGE_EXECUTE_READWRITE | PAGE_EXECUTE_WRITECOPY;
  constexpr DWORD running = PAGE_EXECUTE | PAGE_EXECUTE_READ | PAGE_EXECUTE_READWRITE | PAGE_EXECUTE_WRITECOPY;
  MemoryStretch out;
  out.start = reinterpret_cast<Address>(about.BaseAddress);
  out.end = out.start + about.RegionSize;
  out.allocation = reinterpret_cast<Address>(about.AllocationBase);
  out.kind = kind_of(about);
  const DWORD rights = about.State == MEM_COMMIT ? about.Protect : 0;
  out.writable = (rights & writing) != 0;
  out.executable = (rights & running) != 0;
  out.readable = out.writable || out.executable || (rights & PAGE_READONLY) != 0;
  out.is_guarded = (rights & PAGE_GUARD) != 0;
  return out;
}

// Returns "C:\…" for "\Device\HarddiskVolume2\…", by the letters that this program sees.
std::string with_letter(const std::wstring &path) {
  constexpr std::size_t longest = 1 << 10;
  for (wchar_t letter = L'A'; letter <= L'Z'; ++letter) {
    const wchar_t drive[] = {letter, L':', L'\0'};
    wchar_t device[longest] = {};
    if (!::QueryDosDeviceW(drive, device, longest))
      continue;
    const std::wstring front = device;
    if (!front.empty() && path.starts_with(front) && path.size() > front.size() && path[front.size()] == L'\\')
      return narrow(drive + path.substr(front.size()));
  }
  constexpr std::wstring_view dos = L"\\??\\";
  return narrow(path.starts_with(dos) ? path.substr(dos.size()) : path);
}

} // namespace

AddressSpace::AddressSpace(u64 pid) {
  { const ProcessMemory allowed(pid); } // throws
  process_ = ::OpenProcess(PROCESS_QUERY_INFORMATION | PROCESS_VM_READ, FALSE, static_cast<DWORD>(pid));
  if (!process_)
    throw Error("process " + std::to_string(pid) + " cannot be read: " + what_failed());
}

AddressSpace::~AddressSpace() { ::CloseHandle(process_); }

ProcessorKind AddressSpace::processor() const {
  USHORT own = 0, native = 0;
  if (!::IsWow64Process2(process_, &own, &native))
    return ProcessorKind::unknown;
  switch (own == IMAGE_FILE_MACHINE_UNKNOWN ? native : own) {
  case IMAGE_FILE_MACHINE_AMD64: return ProcessorKind::x64;
  case IMAGE_FILE_MACHINE_I386: return ProcessorKind::x86;
  case IMAGE_FILE_MACHINE_ARM64: return ProcessorKind::arm64;
  }
  return ProcessorKind::unknown;
}

std::vector<MemoryStretch> AddressSpace::stretches() const {
  std::vector<MemoryStretch> out;
  MEMORY_BASIC_INFORMATION about{};
  for (Address at = 0; out.size() < most_stretches &&
                       ::VirtualQueryEx(process_, reinterpret_cast<const void *>(at), &about, sizeof about) != 0;) {
    const Address end = reinterpret_cast<Address>(about.BaseAddress) + about.RegionSize;
    if (end <= at)
      break;
    if (about.State != MEM_FREE)
      out.push_back(stretch_of(about));
    at = end;
  }
  return out;
}

std::vector<LoadedImage> AddressSpace::images() const {
  std::vector<HMODULE> modules(1024);
  DWORD size = 0;
  const auto bytes = [&] { return static_cast<DWORD>(modules.size() * sizeof modules[0]); };
  while (::K32EnumProcessModulesEx(process_, modules.data(), bytes(), &size, LIST_MODULES_ALL) && size > bytes() &&
         modules.size() < most_images)
    modules.resize(size / sizeof modules[0] + 64);
  modules.resize(std::min<u64>(size / sizeof modules[0], modules.size()));
  std::vector<LoadedImage> out;
  std::wstring path(1 << 15, L'\0');
  for (const HMODULE module : modules) {
    MODULEINFO about{};
    if (!::K32GetModuleInformation(process_, module, &about, sizeof about))
      continue;
    const DWORD length = ::K32GetModuleFileNameExW(process_, module, path.data(), static_cast<DWORD>(path.size()));
    out.push_back({reinterpret_cast<Address>(about.lpBaseOfDll), about.SizeOfImage, narrow(path.substr(0, length))});
  }
  return out;
}

std::optional<std::vector<std::string>> loaded_files(u64 pid) {
  std::vector<std::string> out;
  if (pid == ::GetCurrentProcessId())
    return out; // cannot be read like others, and is no .NET process
  try {
    for (LoadedImage &image : AddressSpace(pid).images())
      out.push_back(std::move(image.path));
    return out;
  } catch (const Error &) {
    return std::nullopt;
  }
}

std::string AddressSpace::path_at(Address address) const {
  std::wstring path(1 << 15, L'\0');
  const DWORD length = ::K32GetMappedFileNameW(process_, reinterpret_cast<void *>(address), path.data(),
                                               static_cast<DWORD>(path.size()));
  return length ? with_letter(path.substr(0, length)) : std::string();
}

} // namespace dnheap
