// native LIBRARY: has known numbers of blocks from malloc, each kind of a size that nothing else asks for: held by a field, a SafeHandle,
// an array, a MemoryManager, a list in native memory, the cache of LIBRARY (cache.c); lost; freed. Its truth, "said", is the list of
// owners: who holds them, how many there are, and of which size.
using System;
using System.Buffers;
using System.Collections.Generic;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

class Bitmap { public nint Pixels; public Bitmap(nint pixels) => Pixels = pixels; }

struct Slice { public long Length; public unsafe byte* Pointer; }
class Page { public string Name = "page"; public Slice Slice; }

class PixelHandle : SafeHandle
{
    public PixelHandle(nint value) : base(0, true) => SetHandle(value);
    public override bool IsInvalid => handle == 0;
    protected override bool ReleaseHandle() => true;
}

unsafe class NativeBuffer : MemoryManager<byte>
{
    readonly byte* _start;
    readonly int _length;
    public NativeBuffer(nint start, int length)
    {
        _start = (byte*)start;
        _length = length;
    }
    public override Span<byte> GetSpan() => new(_start, _length);
    public override MemoryHandle Pin(int elementIndex = 0) => new(_start + elementIndex);
    public override void Unpin() { }
    protected override void Dispose(bool disposing) { }
}

class Chain { public nint First; }

static class Program
{
    static readonly List<string> rows = new();
    static readonly List<object> kept = new();
    static nint[] table;

    static unsafe nint Block(int size)
    {
        void* block = NativeMemory.Alloc((nuint)size);
        new Span<byte>(block, size).Fill(1);
        return (nint)block;
    }

    static void Say(string kind, string name, int blocks, int size) =>
        rows.Add($"{{\"kind\": \"{kind}\", \"name\": \"{name}\", \"blocks\": {blocks}, \"size\": {size}}}");

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Lose(int blocks, int size)
    {
        for (int i = 0; i < blocks; ++i)
            Block(size);
        Say("nobody", "", blocks, size);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static unsafe void Fill(string library)
    {
        for (int i = 0; i < 900; ++i)
            kept.Add(new Bitmap(Block(20_016)));
        Say("field", "Bitmap.Pixels", 900, 20_016);
        for (int i = 0; i < 30; ++i)
            kept.Add(new Bitmap(Block(400_000)));
        Say("field", "Bitmap.Pixels", 30, 400_000);
        for (int i = 0; i < 700; ++i)
            kept.Add(new PixelHandle(Block(7_024)));
        Say("field", "PixelHandle.handle", 700, 7_024);
        for (int i = 0; i < 150; ++i)
            kept.Add(new Page { Slice = new Slice { Length = 9_040, Pointer = (byte*)Block(9_040) } });
        Say("field", "Page.Slice.Pointer", 150, 9_040);
        for (int i = 0; i < 120; ++i)
            kept.Add(new NativeBuffer(Block(11_008), 11_008));
        Say("field", "NativeBuffer._start", 120, 11_008);
        table = new nint[2_500];
        for (int i = 0; i < table.Length; ++i)
            table[i] = Block(1_520);
        Say("field", "System.IntPtr[][*]", table.Length, 1_520);
        nint first = 0;
        for (int i = 0; i < 3_000; ++i)
        {
            nint node = Block(2_512);
            *(nint*)node = first;
            first = node;
        }
        kept.Add(new Chain { First = first });
        Say("field", "Chain.First", 3_000, 2_512);
        nint module = NativeLibrary.Load(library);
        var add = (delegate* unmanaged<nint, void>)NativeLibrary.GetExport(module, "cache_add");
        for (int i = 0; i < 400; ++i)
            add(16_016);
        Say("library", "libcache.so", 400, 16_016);
        Say("library", "libcache.so", 400, 3_424);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static unsafe void Free()
    {
        var blocks = new nint[2_000];
        for (int i = 0; i < blocks.Length; ++i)
            blocks[i] = Block(6_000);
        foreach (nint block in blocks)
            NativeMemory.Free((void*)block);
        Array.Clear(blocks);
    }

    static void Main(string[] arguments)
    {
        Fill(arguments[0]);
        Lose(1_500, 12_512);
        Lose(25, 500_000);
        Free();
        GC.Collect();
        GC.Collect();
        Truth.Print($"\"said\": [{string.Join(", ", rows)}]");
        Truth.Wait();
        GC.KeepAlive(kept);
        GC.KeepAlive(table);
    }
}
