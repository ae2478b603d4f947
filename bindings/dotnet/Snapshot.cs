using System.Collections.Concurrent;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Text;
using System.Text.Json;

namespace DnHeap;

/// <summary>The managed heap of a .NET process, in its dump or while it runs. Any thread may call; calls on one snapshot wait for
/// each other. Addresses are of that process.</summary>
public sealed unsafe class Snapshot : IDisposable
{
    private readonly Native.SnapshotHandle _handle;

    // OpenOptions.Progress of what is open, by the number that C is given: rows that are still read when their snapshot is disposed of
    // may call back later, and then find none.
    private static readonly ConcurrentDictionary<nint, Action<HeapProgress>> s_progress = new();
    private static long s_numbers;

    [ThreadStatic]
    private static Exception? s_thrown; // by OpenOptions.Progress

    private Snapshot(OpenOptions? options, Func<Native.Options, (int Code, Native.SnapshotHandle Handle)> open)
    {
        options ??= new OpenOptions();
        ArgumentNullException.ThrowIfNull(options.ModuleFolders);
        ArgumentOutOfRangeException.ThrowIfNegative(options.Threads);
        ArgumentOutOfRangeException.ThrowIfNegative(options.Runtime);
        using var folders = new Words(options.ModuleFolders);
        using var temp = new Words(options.TempFolder == null ? [] : [options.TempFolder]);
        nint progress = options.Progress == null ? 0 : (nint)Interlocked.Increment(ref s_numbers);
        if (options.Progress != null)
            s_progress[progress] = options.Progress;
        try
        {
            var (code, handle) = open(new Native.Options
            {
                Size = (nuint)sizeof(Native.Options),
                ModuleFolders = folders.Pointers,
                ModuleFolderCount = (nuint)options.ModuleFolders.Count,
                TempDir = temp.Pointers[0],
                MaxMemory = options.MaxMemory,
                Threads = (uint)options.Threads,
                Runtime = (uint)options.Runtime,
                RunsOn = options.Pause ? 0u : 1,
                ByPort = options.ByPort ? 1u : 0,
                OnProgress = options.Progress == null ? null : &OnProgress,
                Context = (void*)progress,
            });
            _handle = handle;
            _handle.Closed = () => s_progress.TryRemove(progress, out _);
            Check(code);
        }
        catch
        {
            s_progress.TryRemove(progress, out _);
            _handle?.Dispose();
            throw;
        }
    }

    /// <summary>A dump: an ELF core, a Windows minidump, a .gcdump, one of these compressed, or a folder with one.</summary>
    public static Snapshot Open(string path, OpenOptions? options = null)
    {
        ArgumentNullException.ThrowIfNull(path);
        if (path.Contains('\0'))
            throw new ArgumentException("a path has no zero char in it", nameof(path));
        return new(options, with => (Native.dnheap_open(path, with, out var handle), handle));
    }

    /// <summary>A process of this machine (Linux), but this one. It stands still until <see cref="Release"/>, until its memory was
    /// copied, or until the end; with <see cref="OpenOptions.ByPort"/> it goes on before this returns.</summary>
    public static Snapshot Attach(int pid, OpenOptions? options = null) =>
        new(options, with => (Native.dnheap_attach((ulong)pid, with, out var handle), handle));

    /// <summary>"0.1.0": of the native library.</summary>
    public static string LibraryVersion => Text(Native.dnheap_version());

    /// <summary>Lets a live process go on.</summary>
    public void Release() => Check(Native.dnheap_release_process(_handle));

    /// <summary>Ends what runs now, and all that is asked later. From any thread.</summary>
    public void Cancel() => Native.dnheap_cancel(_handle);

    /// <inheritdoc/>
    public void Dispose() => _handle.Dispose();

    /// <summary>What was opened.</summary>
    public HeapInfo Info
    {
        get
        {
            var of = new Native.Info { Size = (nuint)sizeof(Native.Info) };
            Check(Native.dnheap_get_info(_handle, ref of));
            return new(Text(of.Path), Text(of.Container), Text(of.System), Text(of.Architecture), Text(of.Runtime), Text(of.RuntimeVersion),
                of.Pid, (int)of.PointerSize, (int)of.GcHeaps, of.ServerGc != 0, of.Regions != 0);
        }
    }

    /// <summary>How much of the heap all answers rest on.</summary>
    public HeapCompleteness Completeness
    {
        get
        {
            var of = new Native.Completeness { Size = (nuint)sizeof(Native.Completeness) };
            Check(Native.dnheap_get_completeness(_handle, ref of));
            return new(of.Complete != 0, of.Objects, of.Bytes, of.BadObjects, of.Gaps, of.GapBytes);
        }
    }

    /// <summary>What <c>dnheap VERB DUMP …</c> says, as JSON: <c>Ask("path", "Shop.Session", "--top", "3")</c>. The program's
    /// help and doc/schema say what there is.</summary>
    public JsonDocument Ask(params string[] words) => JsonDocument.Parse(Answer(words));

    /// <summary>The same for people; or as CSV, with <c>"--format", "csv"</c>.</summary>
    public string AskText(params string[] words)
    {
        ArgumentNullException.ThrowIfNull(words);
        return Encoding.UTF8.GetString(Answer(words.Length == 0 ? words : [words[0], "--format", "text", .. words[1..]]));
    }

    /// <summary>Of verbs that open what they need themselves: <c>Command("diff", "before.core", "after.core")</c>.</summary>
    public static JsonDocument Command(params string[] words)
    {
        using var arguments = new Words(words);
        int code = Native.dnheap_command(arguments.Pointers, (nuint)words.Length, null, null, out byte* answer, out nuint size);
        return JsonDocument.Parse(Taken(code, answer, size));
    }

    /// <summary>The process's memory from an address on; returns how many bytes were there.</summary>
    public int Read(ulong address, Span<byte> to)
    {
        if (to.IsEmpty)
            return 0;
        fixed (byte* at = to)
        {
            Check(Native.dnheap_read(_handle, address, at, (nuint)to.Length, out nuint copied));
            return (int)copied;
        }
    }

    /// <summary>All types that have objects.</summary>
    public IEnumerable<HeapType> Types() => Read<Native.Type, HeapType>(
        (out Native.RowsHandle rows) => Native.dnheap_types(_handle, out rows),
        of => new(of.MethodTable, Text(of.Name), Text(of.Assembly), Id(of.Id), of.Count, of.Bytes, of.AlignedBytes, (of.Flags & 2) != 0));

    /// <summary>All objects by address, holes too.</summary>
    public IEnumerable<HeapObject> Objects() => Read<Native.Object, HeapObject>(
        (out Native.RowsHandle rows) => Native.dnheap_objects(_handle, out rows),
        of => new(of.Address, of.MethodTable, of.Bytes, Id(of.Type), (Generation)of.Generation, of.IsFree != 0));

    /// <summary>What one object refers to, by its fields.</summary>
    public IEnumerable<HeapReference> References(ulong address) => Read<Native.Reference, HeapReference>(
        (out Native.RowsHandle rows) => Native.dnheap_references(_handle, address, out rows),
        of => new(of.Target, Text(of.Field), of.Offset == ulong.MaxValue ? null : of.Offset));

    /// <summary>Who refers to one object. Looks at every reference of the heap.</summary>
    public IEnumerable<ulong> Referrers(ulong address) => Read<Native.Edge, ulong>(
        (out Native.RowsHandle rows) => Native.dnheap_referrers(_handle, address, out rows), of => of.From);

    /// <summary>All references of the heap.</summary>
    public IEnumerable<HeapEdge> Edges() => Read<Native.Edge, HeapEdge>(
        (out Native.RowsHandle rows) => Native.dnheap_edges(_handle, out rows), of => new(of.From, of.To));

    /// <summary>All strings, of each at most so many chars.</summary>
    public IEnumerable<HeapString> Strings(int most = 1 << 20)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(most);
        return Read<Native.String, HeapString>(
            (out Native.RowsHandle rows) => Native.dnheap_strings(_handle, (ulong)most, out rows),
            of => new(of.Address, of.Length, of.Text == null ? null : Encoding.UTF8.GetString(of.Text, (int)of.TextSize)));
    }

    /// <summary>What keeps objects alive by itself.</summary>
    public IEnumerable<HeapRoot> Roots() => Read<Native.Root, HeapRoot>(
        (out Native.RowsHandle rows) => Native.dnheap_roots(_handle, out rows),
        of => new(of.Object, of.Slot, (RootKind)of.Kind, Text(of.KindText), Text(of.Name), Text(of.Thread), (of.Flags & 1) != 0, (of.Flags & 4) != 0));

    /// <summary>Of all objects that a root reaches, what would be freed without them.</summary>
    public IEnumerable<HeapDominated> Dominators() => Read<Native.Dominated, HeapDominated>(
        (out Native.RowsHandle rows) => Native.dnheap_dominators(_handle, out rows),
        of => new(of.Object, of.Dominator, of.RetainedObjects, of.RetainedBytes));

    private delegate int Begin(out Native.RowsHandle rows);

    // Texts in rows are good until the next ones are read.
    private static IEnumerable<TResult> Read<TRow, TResult>(Begin begin, Func<TRow, TResult> make) where TRow : unmanaged
    {
        Check(begin(out var rows));
        using (rows)
        {
            var buffer = new TRow[1024];
            for (int count = Fill(rows, buffer); count > 0; count = Fill(rows, buffer))
                for (int i = 0; i < count; ++i)
                    yield return make(buffer[i]);
        }
    }

    private static int Fill<TRow>(Native.RowsHandle rows, TRow[] buffer) where TRow : unmanaged
    {
        fixed (TRow* at = buffer)
        {
            Check(Native.dnheap_next(rows, at, (nuint)sizeof(TRow), (nuint)buffer.Length, out nuint count));
            return (int)count;
        }
    }

    private byte[] Answer(string[] words)
    {
        using var arguments = new Words(words);
        int code = Native.dnheap_ask(_handle, arguments.Pointers, (nuint)words.Length, out byte* answer, out nuint size);
        return Taken(code, answer, size);
    }

    private static byte[] Taken(int code, byte* answer, nuint size)
    {
        try
        {
            Check(code);
            return new ReadOnlySpan<byte>(answer, checked((int)size)).ToArray();
        }
        finally
        {
            Native.dnheap_free(answer);
        }
    }

    private static void Check(int code)
    {
        if (s_thrown is { } thrown)
        {
            s_thrown = null;
            System.Runtime.ExceptionServices.ExceptionDispatchInfo.Throw(thrown);
        }
        if (code != 0)
            throw new HeapException((HeapError)code, Text(Native.dnheap_error()));
    }

    [UnmanagedCallersOnly(CallConvs = [typeof(CallConvCdecl)])]
    private static int OnProgress(void* context, Native.Progress* now)
    {
        try
        {
            if (s_progress.TryGetValue((nint)context, out Action<HeapProgress>? call))
                call(new(now->Pass == null ? null : Text(now->Pass), now->Done, now->Total, now->Objects));
            return 0;
        }
        catch (Exception thrown)
        {
            s_thrown = thrown;
            return 1;
        }
    }

    private static uint? Id(uint id) => id == uint.MaxValue ? null : id;
    private static string Text(byte* text) => Marshal.PtrToStringUTF8((nint)text) ?? "";

    // Strings as C has them.
    private sealed class Words : IDisposable
    {
        public byte** Pointers { get; }
        private readonly int _count;

        public Words(IReadOnlyList<string> words)
        {
            ArgumentNullException.ThrowIfNull(words);
            foreach (string word in words)
            {
                ArgumentNullException.ThrowIfNull(word, nameof(words));
                if (word.Contains('\0'))
                    throw new ArgumentException("a text has a zero char in it, where C's would end", nameof(words));
            }
            Pointers = (byte**)NativeMemory.AllocZeroed((nuint)words.Count + 1, (nuint)sizeof(byte*));
            _count = words.Count;
            for (int i = 0; i < _count; ++i)
                Pointers[i] = (byte*)Marshal.StringToCoTaskMemUTF8(words[i]);
        }

        public void Dispose()
        {
            for (int i = 0; i < _count; ++i)
                Marshal.FreeCoTaskMem((nint)Pointers[i]);
            NativeMemory.Free(Pointers);
        }
    }
}
