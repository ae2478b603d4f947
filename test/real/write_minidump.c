// write_minidump.exe PID FILE: all memory of a process, by the system's own writer. For windows_live.py.
#include <stdio.h>
#include <stdlib.h>
#include <windows.h>
// clang-format off
#include <dbghelp.h> // needs the types of <windows.h>
// clang-format on

int main(int count, char **arguments) {
  if (count != 3)
    return 2;
  const DWORD pid = (DWORD)strtoul(arguments[1], NULL, 10);
  const HANDLE process = OpenProcess(PROCESS_ALL_ACCESS, FALSE, pid);
  const HANDLE file =
      CreateFileA(arguments[2], GENERIC_READ | GENERIC_WRITE, 0, NULL, CREATE_ALWAYS, FILE_ATTRIBUTE_NORMAL, NULL);
  if (!process || file == INVALID_HANDLE_VALUE ||
      !MiniDumpWriteDump(process, pid, file, MiniDumpWithFullMemory, NULL, NULL, NULL)) {
    fprintf(stderr, "cannot: %lu\n", GetLastError());
    return 1;
  }
  return CloseHandle(file) ? 0 : 1;
}
