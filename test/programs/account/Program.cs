// Takes known amounts of memory: of malloc in small blocks, of which some are freed again, and in large ones; of the heap,
// in arrays that live and arrays that are dead; threads that wait. Its truth is one object, "said".
using System;
using System.Collections.Generic;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Threading;

static unsafe class Program
{
    const int MiB = 1 << 20;
    const int SmallBlock = 2040, LargeBlock = MiB; // 8 bytes more are malloc's own

    static readonly List<byte[]> arrays = new();
    static long dead; // bytes of the heap that nothing holds any more

    static nint Block(int size)
    {
        void* block = NativeMemory.Alloc((nuint)size);
        NativeMemory.Fill(block, (nuint)size, 0x5a);
        return (nint)block;
    }

    // Returns how many blocks it kept.
    static long Small(long bytes, bool freeOther)
    {
        var blocks = new nint[bytes / SmallBlock];
        for (int i = 0; i < blocks.Length; ++i)
            blocks[i] = Block(SmallBlock);
        dead += blocks.Length * sizeof(nint);
        long kept = blocks.Length;
        for (int i = 0; freeOther && i < blocks.Length; i += 2, --kept)
            NativeMemory.Free((void*)blocks[i]);
        return kept;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static long Arrays(long bytes, bool keep)
    {
        const int size = 1000;
        long sum = 0;
        if (keep)
            arrays.Capacity = (int)(bytes / size + 1); // else its smaller ones would be dead
        for (; sum < bytes; sum += size + 24)
        {
            var array = new byte[size];
            Array.Fill(array, (byte)1);
            if (keep)
                arrays.Add(array);
        }
        return sum;
    }

    static void Main(string[] arguments)
    {
        int small = int.Parse(arguments[0]), large = int.Parse(arguments[1]), managed = int.Parse(arguments[2]), threads = int.Parse(arguments[3]);
        for (int i = 0; i < threads; ++i)
            new Thread(() => Thread.Sleep(Timeout.Infinite)) { IsBackground = true }.Start();
        long live = Arrays((long)managed * MiB, true);
        GC.Collect();
        GC.WaitForPendingFinalizers();
        GC.Collect();
        dead = Arrays((long)managed / 8 * MiB, false);
        long kept = Small((long)small * MiB, false);
        long halves = Small(32L * MiB, true);
        for (int i = 0; i < large; ++i)
            Block(LargeBlock);
        Truth.Print($"\"said\": {{\"small\": {(kept + halves) * SmallBlock}, \"freed\": {halves * SmallBlock}, " +
                    $"\"large\": {(long)large * LargeBlock}, \"large_blocks\": {large}, \"live\": {live}, \"dead\": {dead}}}");
        Truth.Wait();
        GC.KeepAlive(arrays);
    }
}
