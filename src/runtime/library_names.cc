#include "runtime/library_names.h"

#include "contract/find.h"

namespace dnheap {

namespace {

// One library's names, one per system.
struct Names {
  const char *linux_os, *windows, *macos;

  bool contain(std::string_view name) const { return name == linux_os || name == windows || name == macos; }
};

constexpr Names core_clr{core_clr_on_linux.data(), "coreclr.dll", "libcoreclr.dylib"};
constexpr Names separate_gcs[] = {{"libclrgc.so", "clrgc.dll", "libclrgc.dylib"},
                                  {"libclrgcexp.so", "clrgcexp.dll", "libclrgcexp.dylib"}};
constexpr Names hosts[] = {{"libhostfxr.so", "hostfxr.dll", "libhostfxr.dylib"},
                           {"libhostpolicy.so", "hostpolicy.dll", "libhostpolicy.dylib"}};

// Libraries of Microsoft.NETCore.App/native and of the hosts; C and C++ runtimes.
constexpr const char *native_windows_prefixes[] = {"hostfxr",
                                                   "hostpolicy",
                                                   "clrjit",
                                                   "clretwrc",
                                                   "mscordaccore",
                                                   "mscordbi",
                                                   "mscorrc",
                                                   "msquic",
                                                   "ucrtbase",
                                                   "vcruntime",
                                                   "msvcp",
                                                   "api-ms-win-",
                                                   "microsoft.diasymreader.native"};

template <class List> bool any_contains(const List &list, std::string_view name) {
  for (const Names &names : list)
    if (names.contain(name))
      return true;
  return false;
}

} // namespace

bool is_core_clr_library(std::string_view file_name) { return core_clr.contain(file_name); }

std::string core_clr_library_names() {
  return std::string(core_clr.linux_os) + ", " + core_clr.windows + ", " + core_clr.macos;
}

bool is_runtime_library(std::string_view file_name) {
  return core_clr.contain(file_name) || any_contains(separate_gcs, file_name);
}

bool is_made_code(std::string_view path) { return path.find("memfd:doublemapper") != path.npos; }

bool is_musl_library(std::string_view file_name) { return file_name.starts_with("ld-musl-"); }

bool is_host_library(std::string_view file_name) { return any_contains(hosts, file_name); }

std::span<const char *const> embedded_runtime_exports() {
  static constexpr const char *names[] = {descriptor_export, "DotNetRuntimeDebugHeader", "DotNetRuntimeInfo",
                                          "g_dacTable"};
  return names;
}

bool is_native_windows_library(std::string_view lower_case_name) {
  for (const char *prefix : native_windows_prefixes)
    if (lower_case_name.starts_with(prefix))
      return true;
  return lower_case_name.ends_with(".native.dll");
}

} // namespace dnheap
