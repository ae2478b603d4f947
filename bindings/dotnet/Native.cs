// The functions and structs of dnheap.h, as they are there. Snapshot.cs makes C# of them.
using System.Runtime.InteropServices;
using Microsoft.Win32.SafeHandles;

namespace DnHeap;

internal static unsafe partial class Native
{
    private const string Library = "dnheap-c";

    [StructLayout(LayoutKind.Sequential)]
    public struct Progress
    {
        public byte* Pass;
        public ulong Done, Total, Objects;
    }

    [StructLayout(LayoutKind.Sequential)]
    public struct Options
    {
        public nuint Size;
        public byte** ModuleFolders;
        public nuint ModuleFolderCount;
        public byte* TempDir;
        public ulong MaxMemory;
        public uint Threads, Runtime, RunsOn, ByPort;
        public delegate* unmanaged[Cdecl]<void*, Progress*, int> OnProgress;
        public void* Context;
    }

    [StructLayout(LayoutKind.Sequential)]
    public struct Info
    {
        public nuint Size;
        public byte* Path, Container, System, Architecture, Runtime, RuntimeVersion;
        public ulong Pid;
        public uint PointerSize, GcHeaps, ServerGc, Regions;
    }

    [StructLayout(LayoutKind.Sequential)]
    public struct Completeness
    {
        public nuint Size;
        public ulong Objects, Bytes, BadObjects, Gaps, GapBytes;
        public uint Complete, Reserved;
    }

    [StructLayout(LayoutKind.Sequential)]
    public struct Type
    {
        public ulong MethodTable, Count, Bytes, AlignedBytes;
        public byte* Name, Assembly;
        public uint Id, Flags;
    }

    [StructLayout(LayoutKind.Sequential)]
    public struct Object
    {
        public ulong Address, MethodTable, Bytes;
        public uint Type;
        public byte Generation, IsFree;
        public ushort Reserved;
    }

    [StructLayout(LayoutKind.Sequential)]
    public struct Reference
    {
        public ulong Target, Offset;
        public byte* Field;
    }

    [StructLayout(LayoutKind.Sequential)]
    public struct Edge
    {
        public ulong From, To;
    }

    [StructLayout(LayoutKind.Sequential)]
    public struct String
    {
        public ulong Address, Length;
        public byte* Text;
        public nuint TextSize;
    }

    [StructLayout(LayoutKind.Sequential)]
    public struct Root
    {
        public ulong Slot, Object;
        public byte* KindText, Name, Thread;
        public uint Kind, Flags;
    }

    [StructLayout(LayoutKind.Sequential)]
    public struct Dominated
    {
        public ulong Object, Dominator, RetainedObjects, RetainedBytes;
    }

    public sealed class SnapshotHandle() : SafeHandleZeroOrMinusOneIsInvalid(true)
    {
        public Action? Closed; // called when no call is under way any more

        protected override bool ReleaseHandle()
        {
            dnheap_close(handle);
            Closed?.Invoke();
            return true;
        }
    }

    public sealed class RowsHandle() : SafeHandleZeroOrMinusOneIsInvalid(true)
    {
        protected override bool ReleaseHandle()
        {
            dnheap_close_rows(handle);
            return true;
        }
    }

    [LibraryImport(Library)]
    public static partial byte* dnheap_version();
    [LibraryImport(Library)]
    public static partial byte* dnheap_error();
    [LibraryImport(Library)]
    public static partial void dnheap_free(void* answer);
    [LibraryImport(Library, StringMarshalling = StringMarshalling.Utf8)]
    public static partial int dnheap_open(string path, in Options options, out SnapshotHandle snapshot);
    [LibraryImport(Library)]
    public static partial int dnheap_attach(ulong pid, in Options options, out SnapshotHandle snapshot);
    [LibraryImport(Library)]
    public static partial int dnheap_release_process(SnapshotHandle snapshot);
    [LibraryImport(Library)]
    public static partial void dnheap_cancel(SnapshotHandle snapshot);
    [LibraryImport(Library)]
    private static partial void dnheap_close(nint snapshot);
    [LibraryImport(Library)]
    public static partial int dnheap_get_info(SnapshotHandle snapshot, ref Info info);
    [LibraryImport(Library)]
    public static partial int dnheap_get_completeness(SnapshotHandle snapshot, ref Completeness completeness);
    [LibraryImport(Library)]
    public static partial int dnheap_read(SnapshotHandle snapshot, ulong address, void* to, nuint size, out nuint copied);
    [LibraryImport(Library)]
    public static partial int dnheap_ask(SnapshotHandle snapshot, byte** arguments, nuint count, out byte* answer, out nuint size);
    [LibraryImport(Library)]
    public static partial int dnheap_command(byte** arguments, nuint count, delegate* unmanaged[Cdecl]<void*, Progress*, int> onProgress, void* context, out byte* answer, out nuint size);
    [LibraryImport(Library)]
    public static partial int dnheap_next(RowsHandle rows, void* buffer, nuint rowSize, nuint capacity, out nuint count);
    [LibraryImport(Library)]
    private static partial void dnheap_close_rows(nint rows);
    [LibraryImport(Library)]
    public static partial int dnheap_types(SnapshotHandle snapshot, out RowsHandle rows);
    [LibraryImport(Library)]
    public static partial int dnheap_objects(SnapshotHandle snapshot, out RowsHandle rows);
    [LibraryImport(Library)]
    public static partial int dnheap_references(SnapshotHandle snapshot, ulong @object, out RowsHandle rows);
    [LibraryImport(Library)]
    public static partial int dnheap_referrers(SnapshotHandle snapshot, ulong @object, out RowsHandle rows);
    [LibraryImport(Library)]
    public static partial int dnheap_edges(SnapshotHandle snapshot, out RowsHandle rows);
    [LibraryImport(Library)]
    public static partial int dnheap_strings(SnapshotHandle snapshot, ulong most, out RowsHandle rows);
    [LibraryImport(Library)]
    public static partial int dnheap_roots(SnapshotHandle snapshot, out RowsHandle rows);
    [LibraryImport(Library)]
    public static partial int dnheap_dominators(SnapshotHandle snapshot, out RowsHandle rows);

    // Of the C library: who may look into this process, where Linux' Yama asks.
    [LibraryImport("libc")]
    public static partial int prctl(int option, nuint argument, nuint none1, nuint none2, nuint none3);
}
