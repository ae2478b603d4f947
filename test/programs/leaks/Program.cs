// Has one problem with memory, by its argument, or none. Its truth is one object, "said": how many bytes and instances of
// what is to be found, as it knows them.
using System;
using System.Buffers;
using System.Collections.Concurrent;
using System.Collections.Generic;
using System.Collections.Immutable;
using System.Linq;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Threading;
using System.Threading.Tasks;

namespace Shop;

sealed class Session
{
    public byte[] Basket = new byte[1000];
    public string Name;
    public Session(int number) => Name = "session " + number;
}

static class SessionCache
{
    public static readonly ConcurrentDictionary<string, Session> Sessions = new();
}

// Values that are arrays, though a collection is made of arrays, too.
static class Thumbnails
{
    public static readonly Dictionary<int, byte[]> All = new();
    public static readonly ConcurrentDictionary<string, byte[]> ByName = new();
    public static readonly HashSet<Guid> Seen = new();
    public static readonly List<(long Id, long Time)> Log = new();
    public static ImmutableDictionary<int, byte[]> Frozen = ImmutableDictionary<int, byte[]>.Empty;
}

sealed class OrderBus
{
    public static readonly OrderBus Shared = new();
    public event EventHandler OrderChanged;
    public void Raise() => OrderChanged?.Invoke(this, EventArgs.Empty);
}

sealed class OrderView
{
    readonly byte[] pixels = new byte[2000];
    public void OnOrderChanged(object sender, EventArgs arguments) => pixels[0]++;
}

static class Jobs
{
    public static readonly List<Action> Undone = new();
}

sealed class Reminder
{
    public static readonly List<Reminder> All = new();
    readonly byte[] text = new byte[3000];
    public Timer Timer;
    public Reminder() => Timer = new Timer(state => ((Reminder)state).text[0]++, this, TimeSpan.FromHours(1), Timeout.InfiniteTimeSpan);
}

// What is known of each form; the table is the sessions', the key is one that never goes.
sealed class Form
{
    public static readonly Form Shared = new();
}
sealed class FormState
{
    public static readonly ConditionalWeakTable<Form, List<FormState>> All = new();
    readonly byte[] draft = new byte[2000];
    public FormState() => draft[0] = 1;
}

// Held by nothing but the runtime's own queue of timers.
sealed class Poller
{
    readonly byte[] buffer = new byte[3000];
    public void Start() => new Timer(_ => buffer[0]++).Change(TimeSpan.FromHours(1), TimeSpan.FromHours(1)); // which refers to itself
}

// Each message begins a span that nobody ends: its loop's context keeps the last one, and that the one before it.
sealed class Span
{
    static readonly AsyncLocal<Span> current = new();
    static readonly ManualResetEventSlim made = new();
    readonly byte[] tags = new byte[500];
    readonly Span parent;
    Span(Span parent) => this.parent = parent;
    static void Begin() => current.Value = new Span(current.Value);

    // `stands`: a thread stands in the loop; else it waits for the next message.
    // Whoever keeps what it returns keeps the loop.
    public static object Loop(int count, bool stands)
    {
        var next = new TaskCompletionSource();
        _ = Task.Run(async () =>
        {
            for (int i = 0; i < count; ++i)
            {
                if (i % 5_000 == 0)
                    await Task.Delay(1);
                Begin();
            }
            await Task.Delay(1);
            made.Set();
            if (stands)
                Thread.Sleep(Timeout.Infinite);
            await next.Task;
        });
        made.Wait();
        return next;
    }
}

static class Index
{
    public static readonly List<Session> ByNumber = new(20_000), ByName = new(20_000);
}

sealed class Batch
{
    public static readonly Batch First = new(), Second = new();
    public readonly ConcurrentQueue<Session> Waiting = new();
    public Undo.Step Last;
}

static class Undo
{
    public sealed class Step
    {
        public Step Before;
        public byte[] Text = new byte[500];
    }
    public static Step Last;
}

static class Payments
{
    public static readonly TaskCompletionSource Gateway = new();
    public static readonly List<Task> Pending = new();
    public static async Task PayAsync(int amount)
    {
        var receipt = new byte[4000];
        await Gateway.Task;
        receipt[0] = (byte)amount;
    }
}

sealed class Handle
{
    public static readonly ManualResetEventSlim Closed = new();
    readonly byte[] buffer = new byte[10_000];
    ~Handle()
    {
        Closed.Wait();
        buffer[0] = 1;
    }
}

static unsafe class Program
{
    const int MiB = 1 << 20;
    static readonly List<object> kept = new();
    static long bytes, instances;

    // What the GC's heap grows by meanwhile, all of it alive.
    static void Live(int count, Action<int> make)
    {
        long before = GC.GetTotalMemory(true);
        for (int i = 0; i < count; ++i)
            make(i);
        bytes = GC.GetTotalMemory(true) - before;
        instances = count;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Handles(int count)
    {
        for (int i = 0; i < count; ++i)
            new Handle();
    }

    // Pinned objects with much that died between them.
    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Holes(int count)
    {
        for (int i = 0; i < count; ++i)
        {
            kept.Add(new byte[84_000]);
            GCHandle.Alloc(new byte[100], GCHandleType.Pinned);
        }
    }

    // Lets go of one in so many of what lies between them.
    static void Drop(int one_in)
    {
        GC.Collect();
        for (int i = 0; i < kept.Count; i += one_in)
            kept[i] = null;
        GC.Collect();
        GC.Collect();
    }

    // Returns what a variable of Main holds.
    static object Run(string problem)
    {
        object loop = null;
        switch (problem)
        {
            case "cache":
                Live(40_000, i => SessionCache.Sessions["key " + i] = new Session(i));
                break;
            case "arrays":
                Live(20_000, i => Thumbnails.All[i] = new byte[1500]);
                break;
            case "values":
                Live(1_000_000, i => Thumbnails.Seen.Add(Guid.NewGuid()));
                break;
            case "values-list":
                Live(3_000_000, i => Thumbnails.Log.Add((i, i)));
                break;
            case "arrays-concurrent":
                Live(20_000, i => Thumbnails.ByName["name " + i] = new byte[1500]);
                break;
            case "arrays-immutable":
                Live(20_000, i => Thumbnails.Frozen = Thumbnails.Frozen.Add(i, new byte[1500]));
                break;
            case "events":
                Live(20_000, i => OrderBus.Shared.OrderChanged += new OrderView().OnOrderChanged);
                break;
            case "delegates":
                Live(20_000, i =>
                {
                    var view = new OrderView();
                    Jobs.Undone.Add(() => view.OnOrderChanged(null, null));
                });
                break;
            case "two-indexes": // each of the two keeps all of them
                Index.ByName.Clear(); // their arrays are not counted
                Live(20_000, i =>
                {
                    var session = new Session(i);
                    Index.ByNumber.Add(session);
                    Index.ByName.Add(session);
                });
                break;
            case "gchandles":
                Live(20_000, i => GCHandle.Alloc(new Session(i)));
                break;
            case "timers":
                Live(15_000, i => Reminder.All.Add(new Reminder()));
                break;
            case "chain":
                Live(60_000, i => Undo.Last = new Undo.Step { Before = Undo.Last });
                break;
            case "weak":
                List<FormState> states = FormState.All.GetOrCreateValue(Form.Shared);
                Live(15_000, i => states.Add(new FormState()));
                break;
            case "queue": // of several segments
                Live(40_000, i => Batch.First.Waiting.Enqueue(new Session(i)));
                break;
            case "chain-several": // entered by other objects in its middle
                Live(60_000, i =>
                {
                    Undo.Last = new Undo.Step { Before = Undo.Last };
                    if (i == 20_000)
                        Batch.First.Last = Undo.Last;
                    if (i == 40_000)
                        Batch.Second.Last = Undo.Last;
                });
                break;
            case "flow":
            case "flow-stands":
                Live(1, _ => loop = Span.Loop(60_000, problem == "flow-stands"));
                instances = 60_000;
                break;
            case "own-timers":
                Live(10_000, i => new Poller().Start());
                break;
            case "async":
                Live(10_000, i => Payments.Pending.Add(Payments.PayAsync(i)));
                break;
            case "few": // a quarter each
                Live(6_000, i => OrderBus.Shared.OrderChanged += new OrderView().OnOrderChanged);
                Live(4_000, i => Reminder.All.Add(new Reminder()));
                Live(24_000, i => Undo.Last = new Undo.Step { Before = Undo.Last });
                Live(3_000, i => Payments.Pending.Add(Payments.PayAsync(i)));
                break;
            case "pool":
                Live(400, i => kept.Add(ArrayPool<byte>.Shared.Rent(100_000)));
                break;
            case "finalizer":
                Handles(5_000);
                GC.Collect();
                Thread.Sleep(500);
                GC.Collect();
                bytes = 5_000L * 10_048;
                instances = 5_000;
                break;
            case "native":
                for (int i = 0; i < 200_000; ++i)
                    NativeMemory.Fill(NativeMemory.Alloc(1000), 1000, 1);
                bytes = 200_000L * 1008;
                instances = 200_000;
                break;
            case "threads":
                for (int i = 0; i < 700; ++i)
                    new Thread(() => Thread.Sleep(Timeout.Infinite)) { IsBackground = true }.Start();
                instances = 700;
                break;
            case "dead":
                Live(100_000, i => kept.Add(new byte[1000])); // in gen2, which is not collected any more
                kept.Clear();
                break;
            case "empty": // what is freed is kept: GCRetainVM
                Live(300, i => kept.Add(new byte[MiB]));
                kept.Clear();
                GC.Collect();
                GC.Collect();
                break;
            case "holes":
                Holes(1_500);
                Drop(1);
                bytes = 1_500L * 84_024;
                break;
            case "holes-few": // a third of the heap
                Holes(1_500);
                Drop(3);
                break;
            case "strings":
                Quotes.All.AddRange(Enumerable.Range(0, 300_000).Select(number => new Quote(number)));
                Live(Quotes.All.Count, i => Quotes.All[i].Currency = "the currency of country number " + i % 20);
                break;
            case "strings-few": // no more than a third of it is copies
                Quotes.All.AddRange(Enumerable.Range(0, 300_000).Select(number => new Quote(number)));
                Live(Quotes.All.Count, i => Quotes.All[i].Currency = "the currency of country number " + (i % 5 < 2 ? i % 20 : i));
                break;
            case "contexts":
                Live(40, _ => PluginContext.LoadAndUnload());
                break;
            case "http":
                PaymentCall.Begin();
                Live(400, _ => PaymentCall.Done.Add(new PaymentCall()));
                break;
            case "db":
                Live(2_000, i => ReportJob.Done.Enqueue(new ReportJob(i)));
                break;
            case "healthy": // much, but of nobody alone; and a cache that is small
                Live(2_000, i => SessionCache.Sessions["key " + i] = new Session(i));
                break;
            case "steady": // a large array that is no collection
                Live(1, i => kept.Add(new byte[30 * MiB]));
                break;
            default:
                throw new ArgumentException(problem);
        }
        return loop;
    }

    static void Main(string[] arguments)
    {
        object loop = Run(arguments[0]);
        Truth.Print($"\"said\": {{\"bytes\": {bytes}, \"instances\": {instances}}}");
        Truth.Wait();
        GC.KeepAlive(kept);
        GC.KeepAlive(loop);
    }
}
