using System.Diagnostics;
using System.Runtime.InteropServices;

namespace DnHeap;

/// <summary>A dump of this process, made by a child, `dnheap extract -p`, since no process can stop itself. It is small: what
/// the heap, the types and the stacks need. Deleted with the object, unless it is kept.</summary>
internal sealed class OwnDump : IDisposable
{
    public Snapshot Snapshot { get; }
    public string Path { get; }
    private readonly DirectoryInfo? _folder; // for nobody else to read
    private bool _isKept;

    /// <summary>After a full collection: what is dead is gone.</summary>
    public OwnDump()
    {
        _folder = MemoryAssert.DumpFolder == null ? Directory.CreateTempSubdirectory("dnheap-") : null;
        Path = System.IO.Path.Combine(MemoryAssert.DumpFolder ?? _folder!.FullName, $"{Environment.ProcessId}-{Guid.NewGuid():N}.core");
        GC.Collect();
        GC.WaitForPendingFinalizers();
        GC.Collect();
        try
        {
            Extract(Path);
            Snapshot = Snapshot.Open(Path);
        }
        catch
        {
            Delete();
            throw;
        }
    }

    /// <summary>Leaves the file to whoever wants to look further, if there is a folder for such files.</summary>
    public string Keep()
    {
        _isKept = MemoryAssert.DumpFolder != null;
        return _isKept ? $"the dump is kept: dnheap explore {Path}" : "MemoryAssert.DumpFolder names a folder to keep the dump in";
    }

    public void Dispose()
    {
        Snapshot.Dispose();
        if (!_isKept)
            Delete();
    }

    private void Delete()
    {
        File.Delete(Path);
        _folder?.Delete();
    }

    private static void Extract(string path)
    {
        if (!OperatingSystem.IsLinux())
            throw new PlatformNotSupportedException("MemoryAssert needs Linux: only there can dnheap look into a process that runs");
        var start = new ProcessStartInfo(FindProgram()) { RedirectStandardOutput = true, RedirectStandardError = true };
        foreach (string word in (string[])["extract", $"--pid={Environment.ProcessId}", "--output", path, "--no-progress"])
            start.ArgumentList.Add(word);
        using var permission = new Permission();
        using Process child = Process.Start(start)!;
        permission.Narrow(child.Id);
        var output = child.StandardOutput.ReadToEndAsync();
        string error = child.StandardError.ReadToEnd();
        child.WaitForExit();
        output.Wait();
        if (child.ExitCode != 0)
            throw new InvalidOperationException($"this process cannot be looked into: {error.Trim()}");
    }

    // It comes with the package, among the native files.
    private static string FindProgram()
    {
        if (MemoryAssert.Program is { } named)
            return named;
        string native = System.IO.Path.Combine(AppContext.BaseDirectory, "runtimes", RuntimeInformation.RuntimeIdentifier, "native");
        string portable = System.IO.Path.Combine(AppContext.BaseDirectory, "runtimes", $"linux-{RuntimeInformation.ProcessArchitecture.ToString().ToLowerInvariant()}", "native");
        string searched = AppContext.GetData("NATIVE_DLL_SEARCH_DIRECTORIES") as string ?? "";
        foreach (string folder in searched.Split(System.IO.Path.PathSeparator, StringSplitOptions.RemoveEmptyEntries).Concat([AppContext.BaseDirectory, native, portable]))
        {
            string program = System.IO.Path.Combine(folder, "dnheap");
            if (!File.Exists(program))
                continue;
            if (!OperatingSystem.IsWindows() && (File.GetUnixFileMode(program) & UnixFileMode.UserExecute) == 0)
                File.SetUnixFileMode(program, File.GetUnixFileMode(program) | UnixFileMode.UserExecute); // packages carry no modes
            return program;
        }
        throw new InvalidOperationException("the program `dnheap` is not among the native files of this application: MemoryAssert.Program can name it");
    }

    // Where Linux' Yama restricts who may look into a process (kernel.yama.ptrace_scope 1), a process may allow it itself. The child's id
    // is known only once it runs: so any may first, then the child alone, at last nobody. Elsewhere the call does nothing.
    private sealed class Permission : IDisposable
    {
        private const int SetPtracer = 0x59616d61;

        public Permission() => Set(nuint.MaxValue);
        public void Narrow(int pid) => Set((nuint)pid);
        public void Dispose() => Set(0);

        private static void Set(nuint who)
        {
            if (OperatingSystem.IsLinux())
                _ = Native.prctl(SetPtracer, who, 0, 0, 0);
        }
    }
}
