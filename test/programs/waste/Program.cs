// waste SCALE: stores known amounts for nothing, each kind held by one field of a class of its own: equal strings, equal arrays,
// equal small objects, arrays of zeros, collections that are empty, hold one element or are too large, boxes, holes beside pins. Its
// truth, "said", is the list of rows that `waste` has to have: kind, field, count, bytes; and what `frag` has to say of the holes.
using System;
using System.Collections.Concurrent;
using System.Collections.Generic;
using System.IO;
using System.Runtime;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Text;

class Quote { public string Currency, Id; }
class Picture { public byte[] Thumbnail; }
class Setting { public long Low, High; }
class Rule { public Setting Range; }
class Sheet { public double[] Cells; }
class Customer { public List<string> Orders; }
class Session { public Dictionary<string, object> Items; }
class Tag { public HashSet<int> Numbers; }
class Basket { public List<object> Lines; }
class Job { public Queue<long> Waiting; }
class Undo { public Stack<object> Steps; }
class Cache { public ConcurrentDictionary<string, object> Entries; }
class Letter { public StringBuilder Text; }
class Draft { public MemoryStream Body; }
class Reading { public object Value; }

class OwnList : List<object> { public OwnList(int capacity) : base(capacity) { } }
class Page { public OwnList Words; }

static class Program
{
    static readonly List<string> rows = new();
    static readonly List<object> kept = new();
    static readonly List<GCHandle> pins = new();
    static byte[][] buffers;

    static long Aligned(long bytes) => (bytes + 7) & ~7L;
    static long StringBytes(int length) => Math.Max(24, Aligned(22 + 2 * length));
    static long ArrayBytes(long length, int element) => Aligned(24 + length * element);

    static void Say(string kind, string field, long count, long bytes) =>
        rows.Add($"{{\"kind\": \"{kind}\", \"field\": \"{field}\", \"count\": {count}, \"bytes\": {bytes}}}");

    static T[] Make<T>(int count, Func<int, T> make)
    {
        var all = new T[count];
        for (int i = 0; i < count; ++i)
            all[i] = make(i);
        kept.Add(all);
        return all;
    }

    static string Fresh(string text) => new string(text.AsSpan());

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Contents(int scale)
    {
        string[] currencies = { "currency EUR", "currency USD", "currency CHF", "currency GBP", "currency JPY" };
        int quotes = 20_000 * scale;
        Make(quotes, i => new Quote { Currency = Fresh(currencies[i % 5]), Id = "quote " + i });
        // The literals themselves are frozen, or there as well: from .NET 8 on nothing of them is waste.
        Say("duplicate_strings", "Quote.Currency", quotes, quotes * StringBytes(12));

        int pictures = 2_000 * scale;
        Make(pictures, i =>
        {
            var bytes = new byte[300];
            for (int k = 0; k < bytes.Length; ++k)
                bytes[k] = (byte)(1 + (i % 4 + k) % 250);
            return new Picture { Thumbnail = bytes };
        });
        Say("duplicate_arrays", "Picture.Thumbnail", pictures - 4, (pictures - 4) * ArrayBytes(300, 1));

        int rules = 10_000 * scale;
        Make(rules, i => new Rule { Range = new Setting { Low = i % 10, High = 100 } });
        Say("duplicate_objects", "Rule.Range", rules - 10, (rules - 10) * 32L);

        int sheets = 200 * scale;
        Make(sheets, i =>
        {
            var cells = new double[1000];
            cells[i % 1000] = i + 1;
            cells[7] = -1 - i;
            return new Sheet { Cells = cells };
        });
        long zeros = 0;
        for (int i = 0; i < sheets; ++i)
            zeros += i % 1000 == 7 ? 999 * 8 : 998 * 8;
        Say("mostly_zero_arrays", "Sheet.Cells", sheets, zeros);

        int readings = 30_000 * scale;
        Make(readings, i => new Reading { Value = i % 2 == 0 ? i : (object)new Guid(i, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10) });
        Say("boxes", "Reading.Value", readings, readings * 24L);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Collections(int scale)
    {
        var element = new object();
        kept.Add(element);
        int some = 3_000 * scale;
        const int list = 32, dictionary = 80, hashSet = 64;

        Make(some, i => new Customer { Orders = new List<string>() });
        Say("empty_collections", "Customer.Orders", some, some * (long)list);
        Make(some, i => new Session { Items = new Dictionary<string, object> { ["key"] = element } });
        Say("one_element_collections", "Session.Items", some, some * (dictionary + ArrayBytes(3, 4) + ArrayBytes(3, 24) - 24L));
        Make(some, i => new Tag { Numbers = new HashSet<int>(17) });
        Say("empty_collections", "Tag.Numbers", some, some * (hashSet + ArrayBytes(17, 4) + ArrayBytes(17, 12)));
        Make(some, i =>
        {
            var lines = new List<object>(100);
            for (int k = 0; k < 1 + i % 3; ++k)
                lines.Add(element);
            return new Basket { Lines = lines };
        });
        long one = (some + 2) / 3, two = (some + 1) / 3, three = some / 3;
        Say("one_element_collections", "Basket.Lines", one, one * (list + ArrayBytes(100, 8) - 8));
        Say("over_allocated_collections", "Basket.Lines", two + three, two * 98 * 8 + three * 97 * 8);
        Make(some, i =>
        {
            var waiting = new Queue<long>(50);
            for (int k = 0; k < 10; ++k)
                waiting.Enqueue(i * 100 + k + 1);
            return new Job { Waiting = waiting };
        });
        Say("over_allocated_collections", "Job.Waiting", some, some * 40L * 8);
        Make(some, i =>
        {
            var steps = new Stack<object>(20);
            for (int k = 0; k < 15; ++k)
                steps.Push(element);
            return new Undo { Steps = steps };
        });
        Make(some, i =>
        {
            var words = new OwnList(30) { element, element, element };
            return new Page { Words = words };
        });
        Say("over_allocated_collections", "Page.Words", some, some * 27L * 8);
        Make(some, i => new Letter { Text = new StringBuilder("some text ", 1000).Append(i % 10) });
        Say("over_allocated_collections", "Letter.Text", some, some * 989L * 2);

        // As large as a list of so many, which doubles, would be.
        const int drafts = 40, written = 100_000, room = 262_144;
        Make(drafts, i =>
        {
            var body = new MemoryStream(room);
            for (int k = 0; k < written; ++k)
                body.WriteByte((byte)(i + k % 251 + 1));
            return new Draft { Body = body };
        });
        Say("unused_room", "Draft.Body", drafts, drafts * (long)(room - written));

        // What an empty one takes depends on the version: as much as was allocated for it, but for the objects that are locks.
        kept.Add(new ConcurrentDictionary<string, object>());
        long before = GC.GetAllocatedBytesForCurrentThread();
        var measured = new ConcurrentDictionary<string, object>();
        long taken = GC.GetAllocatedBytesForCurrentThread() - before - 24L * (Environment.ProcessorCount - 1);
        kept.Add(measured); // which may grow
        Make(some, i => new Cache { Entries = new ConcurrentDictionary<string, object>() });
        Say("empty_collections", "Cache.Entries", some, some * taken);
    }

    // Pairs of large arrays: the first of each stays, pinned, the second goes.
    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Large(int pairs)
    {
        buffers = new byte[2 * pairs][];
        for (int i = 0; i < 2 * pairs; ++i)
        {
            buffers[i] = new byte[200_000];
            for (int k = 0; k < 200_000; ++k)
                buffers[i][k] = (byte)(1 + (k + i) % 251);
            buffers[i][i] = 255;
        }
        for (int i = 0; i < 2 * pairs; i += 2)
            pins.Add(GCHandle.Alloc(buffers[i], GCHandleType.Pinned));
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void DropSecond(int pairs)
    {
        for (int i = 1; i < 2 * pairs - 1; i += 2)
            buffers[i] = null;
    }

    static void Main(string[] arguments)
    {
        int scale = int.Parse(arguments[0]);
        const int pairs = 20;
        Contents(scale);
        Collections(scale);
        Large(pairs);
        Collect();
        Collect();
        DropSecond(pairs);
        Collect();
        long hole = ArrayBytes(200_000, 1);
        Truth.AfterLastCollection();
        Truth.Print($"\"said\": {{\"rows\": [{string.Join(", ", rows)}], " +
                    $"\"holes\": {{\"count\": {pairs - 1}, \"bytes\": {(pairs - 1) * hole}}}}}");
        Truth.Wait();
        GC.KeepAlive(kept);
        GC.KeepAlive(buffers);
    }

    static void Collect()
    {
        GC.Collect(2, GCCollectionMode.Forced, blocking: true, compacting: false);
        GC.WaitForPendingFinalizers();
    }
}
