// Static constructors that wait: `Catalog`'s waits for a thread that needs Catalog, and so waits for it to be ready; `Prices`'s
// and `Taxes`'s wait for a lock each that a thread has which needs them. Two threads more wait for Catalog alone.
using System.Runtime.CompilerServices;
using System.Threading;

static class Catalog
{
    public static int Count;

    static Catalog()
    {
        var loader = new Thread(() => Constructors.Loader.Set(Load)) { IsBackground = true, Name = "Loader" };
        loader.Start();
        loader.Join(); // the loader needs the catalog
        Count = 1;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Load() => Count++;
}

static class Prices
{
    public static int Count;
    public static readonly object Gate = new();

    static Prices()
    {
        Constructors.Began.Signal();
        Constructors.Began.Wait();
        lock (Constructors.PriceGate) // which the other thread has, that needs Prices
            Count = 1;
    }
}

static class Constructors
{
    public static readonly Late Loader = new();
    public static readonly CountdownEvent Began = new(2);
    public static readonly object PriceGate = new();

    public static string Run()
    {
        Pair first = Program.Start("First", ready => { ready(); Use(); });
        Loader.Wait();
        Pair second = Program.Start("Second", ready => { ready(); Use(); });
        Pair third = Program.Start("Third", ready => { ready(); Use(); });
        Pair pricing = Program.Start("Pricing", ready => { ready(); UsePrices(); });
        Pair billing = Program.Start("Billing", ready =>
        {
            lock (PriceGate)
            {
                Began.Signal();
                Began.Wait();
                ready();
                UsePrices();
            }
        });
        Program.Settle(first, second, third, pricing, billing, Loader.Pair);
        (string Name, Pair Thread)[] all = [("loader", Loader.Pair), ("first", first), ("second", second), ("third", third), ("pricing", pricing), ("billing", billing)];
        return string.Join(", ", System.Linq.Enumerable.Select(all, one => $"\"{one.Name}\": {one.Thread.Os}"));
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Use() => Catalog.Count++;

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void UsePrices() => Prices.Count++;
}

// The thread that a static constructor starts.
sealed class Late
{
    public readonly Pair Pair = new();
    readonly ManualResetEventSlim ready = new();

    public void Set(ThreadStart then)
    {
        Pair.Set();
        ready.Set();
        then();
    }

    public void Wait() => ready.Wait();
}
