// inspect: has known timers, events and collections. Its truth, "said", has by inspector the rows that `dnheap inspect` has
// to have, by what tells them apart.
using System;
using System.Buffers;
using System.Collections.Concurrent;
using System.Collections.Generic;
using System.Collections.Immutable;
using System.IO;
using System.Net;
using System.Net.Http;
using System.Net.Sockets;
using System.Reflection;
using System.Reflection.Emit;
using System.Runtime.CompilerServices;
using System.Text.RegularExpressions;
using System.Threading;
using System.Threading.Channels;
using System.Threading.Tasks;

class Feed
{
    public Timer Refresh;
    public CancellationTokenSource Limit;
    public PeriodicTimer Beat;
    public System.Timers.Timer Old;
    public int Ticks;
    public Feed(int period) => Refresh = new Timer(Tick, new object(), 3_000_000, period);
    void Tick(object state) => ++Ticks;
    public void OnElapsed(object sender, System.Timers.ElapsedEventArgs e) => ++Ticks;
}

class Bus
{
    public event Action<string> Sent;
    public event EventHandler Closed;
    public void Send() => Sent?.Invoke("");
    public void Close() => Closed?.Invoke(this, EventArgs.Empty);
}

class View
{
    public int Seen;
    public void OnSent(string text) => ++Seen;
    public void OnClosed(object sender, EventArgs e) => ++Seen;
}

class Log { public static void Write(string text) { } }

class Store
{
    public Dictionary<int, string> ById = new();
    public ConcurrentDictionary<string, View> ByName = new();
    public List<long> Numbers = new(10);
    public HashSet<string> Names = new();
}

// What it holds, it says of itself.
class Depot
{
    public PriorityQueue<string, int> Urgent = new();
    public SortedList<int, string> SortedList = new(2000);
    public System.Collections.ArrayList Old = new(16);
    public System.Collections.Hashtable OldTable = new();
    public System.Collections.Queue OldQueue = new();
    public LinkedList<string> Linked = new();
    public SortedSet<long> Sorted = new();
    public SortedDictionary<int, string> SortedById = new();
    public ImmutableList<int> FixedList = ImmutableList<int>.Empty;
    public ImmutableDictionary<int, string> Fixed = ImmutableDictionary<int, string>.Empty;
    public ImmutableHashSet<string> FixedNames = ImmutableHashSet<string>.Empty;
    public ImmutableSortedSet<int> FixedSorted = ImmutableSortedSet<int>.Empty;
    public ImmutableSortedDictionary<int, string> FixedById = ImmutableSortedDictionary<int, string>.Empty;
    public ConcurrentStack<string> Stacked = new();
    public ConcurrentQueue<string> Queued = new();
    public ConcurrentBag<string> Bag = new();
    public BlockingCollection<string> Blocking = new();
    public Channel<string> Unbounded = Channel.CreateUnbounded<string>();
    public Channel<int> OneReader = Channel.CreateUnbounded<int>(new UnboundedChannelOptions { SingleReader = true });
    public Channel<long> Bounded = Channel.CreateBounded<long>(2000);
    public ConditionalWeakTable<string, object> Weak = new();

    public Depot(int count, List<object> kept)
    {
        for (int k = 0; k < count; ++k)
        {
            string text = "text " + k;
            kept.Add(text);
            Urgent.Enqueue(text, -k);
            SortedList[k] = text;
            Old.Add(text);
            OldTable[k] = text;
            OldQueue.Enqueue(text);
            Linked.AddLast(text);
            Sorted.Add(k);
            SortedById[k] = text;
            FixedList = FixedList.Add(k);
            Fixed = Fixed.Add(k, text);
            FixedNames = FixedNames.Add(text);
            FixedSorted = FixedSorted.Add(k);
            FixedById = FixedById.Add(k, text);
            Stacked.Push(text);
            Queued.Enqueue(text);
            Bag.Add(text);
            Blocking.Add(text);
            Unbounded.Writer.TryWrite(text);
            OneReader.Writer.TryWrite(k);
            Bounded.Writer.TryWrite(k);
            Weak.Add(text, this);
        }
        for (int k = 0; k < 30; ++k) // so that segments begin in the middle
        {
            Queued.TryDequeue(out _);
            Unbounded.Reader.TryRead(out _);
            OneReader.Reader.TryRead(out _);
            Stacked.TryPop(out _);
            Bag.TryTake(out _);
        }
    }

    public IEnumerable<(string Field, int Count)> Counts() => new[]
    {
        ("Urgent", Urgent.Count), ("SortedList", SortedList.Count), ("Old", Old.Count), ("OldTable", OldTable.Count), ("OldQueue", OldQueue.Count),
        ("Linked", Linked.Count), ("Sorted", Sorted.Count), ("SortedById", SortedById.Count), ("FixedList", FixedList.Count), ("Fixed", Fixed.Count),
        ("FixedNames", FixedNames.Count), ("FixedSorted", FixedSorted.Count), ("FixedById", FixedById.Count), ("Stacked", Stacked.Count),
        ("Queued", Queued.Count), ("Bag", Bag.Count), ("Blocking", Blocking.Count), ("Unbounded", Unbounded.Reader.Count),
        ("OneReader", Old.Count - 30), ("Bounded", Bounded.Reader.Count), ("Weak", Old.Count),
    };
}

class Plugin : System.Runtime.Loader.AssemblyLoadContext { public Plugin() : base("plugin", true) { } }

// Was told to unload, and has a View that something keeps.
class Addon : System.Runtime.Loader.AssemblyLoadContext
{
    public static readonly List<object> Kept = new();
    Addon() : base("addon", true) { }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static object Make()
    {
        var context = new Addon();
        object view = Activator.CreateInstance(context.LoadFromAssemblyPath(typeof(Addon).Assembly.Location).GetType("View"));
        context.Unload();
        return view;
    }

    // A thread runs code of it, and nothing else is left. Returns the thread's number.
    [MethodImpl(MethodImplOptions.NoInlining)]
    public static int Run()
    {
        var number = new int[1];
        var context = new Addon();
        Type type = context.LoadFromAssemblyPath(typeof(Addon).Assembly.Location).GetType("Runs");
        var begun = new ManualResetEvent(false);
        new Thread(type.GetMethod("Forever").CreateDelegate<ParameterizedThreadStart>()) { IsBackground = true }
            .Start(new object[] { begun, number });
        begun.WaitOne();
        context.Unload();
        return number[0];
    }
}

public static class Runs
{
    [System.Runtime.InteropServices.DllImport("libc")]
    static extern int gettid();

    public static void Forever(object given)
    {
        ((int[])((object[])given)[1])[0] = gettid();
        ((ManualResetEvent)((object[])given)[0]).Set();
        Thread.Sleep(Timeout.Infinite);
    }
}

class Rule
{
    public Regex Made, Compiled, Linear;
    public Match Last;
}

// Contexts with one to four, and 18, values: each count has a map of its own class.
static class Ambient
{
    public static readonly AsyncLocal<View> Seen = new();
    public static readonly AsyncLocal<string>[] Names = new AsyncLocal<string>[17];
    static readonly CancellationTokenSource stop = new();
    static int stopped;

    static void OnStop() => ++stopped;

    public static void Register(int names)
    {
        Seen.Value = new View();
        for (int k = 0; k < names; ++k)
            (Names[k] ??= new AsyncLocal<string>()).Value = "name " + k;
        stop.Token.Register(OnStop);
    }
}

class Blocked
{
    static readonly ManualResetEvent never = new(false);
    public static readonly ManualResetEvent Begun = new(false);
    ~Blocked() { Begun.Set(); never.WaitOne(); }
}

class Waits { public int Number; ~Waits() { ++Number; } }

class Shop
{
    public HttpClient Client = new(new SocketsHttpHandler());
    public OwnConnection Database = new();
    public Plugin Plugin = new();
    public Socket Socket = new(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
    public FileStream File = new("/dev/null", FileMode.Open, FileAccess.Read);
    public byte[] Rented;
}

static class Program
{
    static readonly List<object> kept = new();
    static readonly List<string> rows = new();

    static void Say(string inspector, string row) => rows.Add($"{{\"inspector\": \"{inspector}\", {row}}}");

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Timers()
    {
        for (int i = 0; i < 300; ++i)
            kept.Add(new Feed(60_000));
        Say("timers", "\"held_by\": \"Feed.Refresh\", \"active\": true, \"kind\": \"Timer\", \"count\": 300, \"period_ms\": 60000, " +
                      "\"callback\": \"Feed.Tick\", \"target_type\": \"Feed\", \"due_ms_most\": 3000000");
        for (int i = 0; i < 40; ++i)
        {
            var stopped = new Feed(60_000);
            stopped.Refresh.Change(Timeout.Infinite, Timeout.Infinite);
            kept.Add(stopped);
        }
        Say("timers", "\"held_by\": \"Feed.Refresh\", \"active\": false, \"kind\": \"Timer\", \"count\": 40, \"callback\": \"Feed.Tick\"");
        for (int i = 0; i < 50; ++i)
        {
            var feed = (Feed)kept[i];
            feed.Limit = new CancellationTokenSource(TimeSpan.FromHours(2));
            feed.Beat = new PeriodicTimer(TimeSpan.FromMinutes(30));
            feed.Old = new System.Timers.Timer(7_000_000) { AutoReset = true };
            feed.Old.Elapsed += feed.OnElapsed;
            feed.Old.Start();
        }
        Say("timers", "\"held_by\": \"Feed.Limit\", \"kind\": \"CancellationTokenSource\", \"count\": 50, \"due_ms_most\": 7200000");
        Say("timers", "\"held_by\": \"Feed.Beat\", \"kind\": \"PeriodicTimer\", \"count\": 50, \"period_ms\": 1800000");
        Say("timers", "\"held_by\": \"Feed.Old\", \"kind\": \"System.Timers.Timer\", \"count\": 50, \"period_ms\": 7000000, " +
                      "\"callback\": \"Feed.OnElapsed\", \"target_type\": \"Feed\"");
        Thread.Sleep(300); // so that ages differ
        var delays = new Task[25];
        for (int i = 0; i < delays.Length; ++i)
            delays[i] = Task.Delay(5_000_000);
        kept.Add(delays);
        Say("timers", "\"kind\": \"Task.Delay\", \"count\": 25, \"due_ms_most\": 5000000, " +
                      "\"held_by\": \"System.Threading.Tasks.Task[]\"");
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Events()
    {
        var bus = new Bus();
        for (int i = 0; i < 700; ++i)
        {
            var view = new View();
            bus.Sent += view.OnSent;
            bus.Sent += view.OnSent;
        }
        bus.Sent += Log.Write;
        bus.Closed += new View().OnClosed;
        kept.Add(bus);
        for (int i = 0; i < 10; ++i)
        {
            var small = new Bus();
            small.Closed += new View().OnClosed;
            small.Closed += new View().OnClosed;
            kept.Add(small);
        }
        Say("events", "\"event\": \"Bus.Sent\", \"handlers\": 1401, \"publishers\": 1, \"most\": 1401, \"targets\": 700, \"target_bytes\": 16800, " +
                      "\"methods\": [{\"method\": \"View.OnSent\", \"target_type\": \"View\", \"count\": 1400}, " +
                      "{\"method\": \"Log.Write\", \"target_type\": null, \"count\": 1}]");
        Say("events", "\"event\": \"Bus.Closed\", \"handlers\": 20, \"publishers\": 10, \"most\": 2, \"targets\": 20");
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Collections()
    {
        for (int i = 0; i < 30; ++i)
        {
            var store = new Store();
            for (int k = 0; k < 100 + i; ++k)
            {
                store.ById[k] = "text";
                store.ByName["name " + k] = null;
                store.Names.Add("name " + k);
            }
            for (int k = 0; k < 20; ++k)
                store.ById.Remove(k);
            store.Numbers.AddRange(new long[] { 1, 2, 3 });
            kept.Add(store);
        }
        long all = 30 * 100 + 29 * 30 / 2;
        Say("collections", $"\"held_by\": \"Store.ById\", \"count\": 30, \"elements\": {all - 600}, \"most\": 109");
        Say("collections", $"\"held_by\": \"Store.ByName\", \"count\": 30, \"elements\": {all}, \"most\": 129");
        Say("collections", $"\"held_by\": \"Store.Names\", \"count\": 30, \"elements\": {all}, \"most\": 129");
        Say("collections", "\"held_by\": \"Store.Numbers\", \"count\": 30, \"elements\": 90, \"capacity\": 300, \"bytes\": 4080");
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void MoreCollections()
    {
        var sums = new Dictionary<string, (int Sum, int Most)>();
        foreach (int count in new[] { 31, 100, 1500 })
        {
            var depot = new Depot(count, kept);
            kept.Add(depot);
            foreach ((string field, int held) in depot.Counts())
            {
                (int sum, int most) = sums.GetValueOrDefault(field);
                sums[field] = (sum + held, Math.Max(most, held));
            }
        }
        foreach ((string field, (int sum, int most)) in sums)
            Say("collections", $"\"held_by\": \"Depot.{field}\", \"count\": 3, \"elements\": {sum}, \"most\": {most}");
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Resources()
    {
        for (int i = 0; i < 12; ++i)
        {
            var shop = new Shop();
            if (i < 4)
                shop.Client.Dispose();
            if (i < 5)
                shop.Database.Open();
            if (i < 3)
                shop.Plugin.Unload();
            if (i < 2)
                shop.Socket.Dispose();
            else if (i < 5)
            {
                shop.Socket.Bind(new IPEndPoint(IPAddress.Loopback, 0));
                shop.Socket.Listen();
            }
            shop.Rented = ArrayPool<byte>.Shared.Rent(100_000);
            kept.Add(shop);
        }
        foreach (object one in kept)
            if (one is Shop shop)
                ArrayPool<byte>.Shared.Return(shop.Rented);
        Say("pools", "\"type\": \"System.Byte[]\", \"length\": 131072, \"kept_for\": \"one thread\", \"count\": 1");
        Say("pools", "\"type\": \"System.Byte[]\", \"length\": 131072, \"kept_for\": \"all threads\", \"count\": 11");
        Say("http", "\"held_by\": \"Shop.Client\", \"state\": \"disposed\", \"count\": 4");
        Say("http", "\"held_by\": \"Shop.Client\", \"state\": \"in use\", \"count\": 8");
        Say("db", "\"held_by\": \"Shop.Database\", \"state\": \"open\", \"count\": 5");
        Say("db", "\"held_by\": \"Shop.Database\", \"state\": \"closed\", \"count\": 7");
        Say("contexts", "\"type\": \"Plugin\", \"state\": \"collectible, unloading\", \"count\": 3");
        Say("sockets", "\"held_by\": \"Shop.Socket\", \"state\": \"disposed\", \"count\": 2");
        Say("sockets", "\"held_by\": \"Shop.Socket\", \"state\": \"listening\", \"count\": 3");
        Say("sockets", "\"held_by\": \"Shop.Socket\", \"state\": \"open\", \"count\": 7");
        Say("safehandles", "\"held_by\": \"System.Net.Sockets.Socket._handle\", \"state\": \"open\", \"count\": 10");
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Contexts()
    {
        for (int i = 0; i < 5; ++i)
            Addon.Kept.Add(Addon.Make());
        for (int i = 0; i < 2; ++i)
            System.Runtime.InteropServices.GCHandle.Alloc(Addon.Make());
        Addon.Make(); // which nothing keeps
        int thread = Addon.Run();
        Say("contexts", "\"type\": \"Addon\", \"state\": \"collectible, unloading\", \"count\": 1, \"objects\": 0, \"object_bytes\": 0, " +
                        $"\"kept_by\": \"thread {thread} Runs.Forever(System.Object)\"");
        Say("contexts", "\"type\": \"Addon\", \"state\": \"collectible, unloading\", \"count\": 5, \"objects\": 5, \"object_bytes\": 120, " +
                        "\"kept_by\": \"static Addon.Kept._items[*](its assembly's LoaderAllocator)\"");
        Say("contexts", "\"type\": \"Addon\", \"state\": \"collectible, unloading\", \"count\": 2, \"objects\": 2, \"object_bytes\": 48, " +
                        "\"kept_by\": \"handle:strong View \\u2192 (its assembly's LoaderAllocator)\"");
        Say("contexts", "\"type\": \"Plugin\", \"state\": \"collectible\", \"count\": 9, \"objects\": 0, " +
                        "\"kept_by\": \"handle:strong System.Reflection.LoaderAllocator\"");
    }

    // Of each assembly something is kept: an object of its type, or the type.
    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Emitted()
    {
        var rules = new List<object>();
        for (int i = 0; i < 40; ++i)
            rules.Add(Activator.CreateInstance(Emit("Rules" + i, AssemblyBuilderAccess.RunAndCollect)));
        Made = rules.ToArray();
        for (int i = 0; i < 15; ++i)
            kept.Add(Emit($"Fixed{i}v2", AssemblyBuilderAccess.Run));
        Say("emitted", "\"name\": \"Rules*\", \"count\": 40, \"collectible\": true, \"objects\": 40, \"object_bytes\": 960, \"maker\": null, " +
                       "\"kept_by\": \"static Program.Made[*](its assembly's LoaderAllocator)\"");
        Say("emitted", "\"name\": \"Fixed*v*\", \"count\": 15, \"collectible\": false, \"objects\": null, \"kept_by\": null");
    }
    static object[] Made;

    [MethodImpl(MethodImplOptions.NoInlining)]
    static Type Emit(string name, AssemblyBuilderAccess access) =>
        AssemblyBuilder.DefineDynamicAssembly(new AssemblyName(name), access).DefineDynamicModule("main")
            .DefineType("Rule", TypeAttributes.Public).CreateType();

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Regexes()
    {
        for (int i = 0; i < 60; ++i)
            kept.Add(new Rule { Made = new Regex("rule (a|b)+ " + i % 4), Compiled = new Regex("one", RegexOptions.Compiled | RegexOptions.IgnoreCase),
                                Linear = new Regex("line" + i, RegexOptions.NonBacktracking) });
        for (int i = 0; i < 30; ++i)
            Regex.IsMatch("text", "text " + i % 7);
        foreach (object one in kept)
            if (one is Rule rule)
                rule.Last = rule.Made.Match("rule ab 1");
        Say("regex", "\"held_by\": \"Rule.Made\", \"engine\": \"interpreted\", \"options\": \"None\", \"count\": 60, \"patterns\": 4, \"is_cached\": false");
        Say("regex", "\"held_by\": \"Rule.Compiled\", \"engine\": \"compiled\", \"options\": \"IgnoreCase, Compiled\", \"count\": 60, \"patterns\": 1");
        Say("regex", "\"held_by\": \"Rule.Linear\", \"engine\": \"non-backtracking\", \"options\": \"NonBacktracking\", \"count\": 60, \"patterns\": 60");
        Say("regex", "\"is_cached\": true, \"engine\": \"interpreted\", \"count\": 7, \"patterns\": 7");
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void AsyncLocals()
    {
        foreach (int names in new[] { 0, 1, 2, 3, 17 })
            for (int i = 0; i < 12; ++i)
                ExecutionContext.Run(ExecutionContext.Capture(), _ => Ambient.Register(names), null);
        const string captor = "\"held_by\": \"System.Threading.CancellationTokenSource+CallbackNode.ExecutionContext\", \"calls\": \"Ambient.OnStop\"";
        Say("asynclocals", "\"local\": \"static Ambient.Seen\", \"local_type\": \"System.Threading.AsyncLocal<View>\", \"value_type\": \"View\", " +
                           $"\"count\": 60, \"values\": 60, \"bytes\": 1440, \"kept\": 60, \"captured\": 60, {captor}");
        Say("asynclocals", "\"local\": \"System.Threading.AsyncLocal<System.String>[]\", \"value_type\": \"System.String\", " +
                           $"\"count\": 48, \"values\": 276, \"kept\": 276, {captor}");
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Drop<T>(int count) where T : new()
    {
        for (int i = 0; i < count; ++i)
            new T();
    }

    static void Finalizers()
    {
        Drop<Blocked>(1);
        GC.Collect();
        Blocked.Begun.WaitOne();
        Drop<Waits>(500);
        Say("finalizers", "\"type\": \"Waits\", \"count\": 500, \"bytes\": 12000");
    }

    static void Main()
    {
        Timers();
        Events();
        Collections();
        MoreCollections();
        Resources();
        Contexts();
        Emitted();
        Regexes();
        AsyncLocals();
        GC.Collect();
        GC.WaitForPendingFinalizers();
        Finalizers(); // which block from now on
        GC.Collect();
        Truth.AfterLastCollection();
        Truth.Print($"\"said\": [{string.Join(", ", rows)}]");
        Truth.Wait();
        GC.KeepAlive(kept);
    }
}
