// Assertions on memory, as a test project has them. Each looks into the process that runs it.
using System.Runtime.CompilerServices;
using DnHeap;
using Shop;

public sealed class MemoryTests
{
    // In methods of their own: see MemoryAssert.
    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void Visit(string user)
    {
        Sessions.LogIn(user);
        Prices.Change();
        Sessions.LogOut(user);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void ForgetfulVisit(string user)
    {
        Sessions.LogIn(user);
        Sessions.ForgetfulLogOut(user);
    }

    [Fact]
    public void WhoLogsOutIsForgotten()
    {
        Visit("ada");
        MemoryAssert.NoInstances<Session>();
        MemoryAssert.NoGrowth(() => Visit("bob"), runs: 5);
    }

    [Fact]
    public void OrdersStayWithinTheirLimit()
    {
        Orders.Place(1000);
        MemoryAssert.Retains("Shop.Orders.s_all").AtMost(10_000);

        Orders.Place(1_000_000);
        var error = Assert.Throws<MemoryAssertException>(() => MemoryAssert.Retains("Shop.Orders.").AtMost(10_000));
        Assert.StartsWith("Shop.Orders. retains 1,00", error.Message);
        Assert.Contains("static Shop.Orders.s_all", error.Message);
        Orders.Clear();
        MemoryAssert.Retains("Shop.Orders.s_all").AtMost(10_000);
        Assert.Throws<ArgumentException>(() => MemoryAssert.Retains("Shop.Orders.s_al").AtMost(10_000));
    }

    // The shop's leak, and what the assertions say of it.
    [Fact]
    public void TheLeakIsFoundWithWhatHoldsIt()
    {
        ForgetfulVisit("eve");
        var error = Assert.Throws<MemoryAssertException>(MemoryAssert.NoInstances<Session>);
        Assert.StartsWith("1 instance of Shop.Session alive:\n  1 × static Shop.Prices.Changed", error.Message);

        int visitor = 0;
        error = Assert.Throws<MemoryAssertException>(() => MemoryAssert.NoGrowth(() => ForgetfulVisit($"visitor {visitor++}"), runs: 5));
        Assert.StartsWith("5 runs left more objects alive:\n", error.Message);
        Assert.Contains("  5 × Shop.Session\n", error.Message);
        Assert.Contains("static Shop.Prices.Changed", error.Message);
        Forget();
        MemoryAssert.NoInstances<Session>();
    }

    // What only the leak's author could do: takes all handlers off.
    private static void Forget() =>
        typeof(Prices).GetField("Changed", System.Reflection.BindingFlags.NonPublic | System.Reflection.BindingFlags.Static)!.SetValue(null, null);

    [Fact]
    public void WhatCannotBeAskedIsRefused()
    {
        Assert.Throws<ArgumentException>(MemoryAssert.NoInstances<IDisposable>);
        Assert.Throws<ArgumentException>(MemoryAssert.NoInstances<int>);
        Assert.Throws<ArgumentOutOfRangeException>(() => MemoryAssert.NoGrowth(() => { }, runs: 1));
    }

    // The library itself: the dump of another process.
    [Fact]
    public void ADumpIsRead()
    {
        if (Environment.GetEnvironmentVariable("DUMP") is not { } dump)
            return;
        using var snapshot = Snapshot.Open(dump);
        Assert.Equal("coreclr", snapshot.Info.Runtime);
        Assert.True(snapshot.Completeness.IsComplete);
        HeapType bytes = Assert.Single(snapshot.Types(), type => type.Name == "System.Byte[]");
        Assert.True(bytes.IsArray && bytes.Count == (ulong)snapshot.Objects().Count(one => one.Type == bytes.Id));
        HeapRoot cache = Assert.Single(snapshot.Roots(), root => root.Name == "Shop.Cache.SessionCache.Shared");
        ulong table = Assert.Single(snapshot.References(cache.Object), one => one.Field == "byToken").Target;
        Assert.Equal([cache.Object], snapshot.Referrers(table));
        Assert.Contains(new HeapEdge(cache.Object, table), snapshot.Edges());
        Assert.Equal(cache.Object, Assert.Single(snapshot.Dominators(), one => one.Object == table).Dominator);
        Assert.Contains(snapshot.Strings(100), one => one.Text is { Length: 100 } && one.Length > 100);
        Assert.Contains("System.Byte[]", snapshot.AskText("stat", "--top", "1"));
        var word = new byte[8];
        Assert.Equal(8, snapshot.Read(table, word));
        Assert.Equal(HeapError.NotFound, Assert.Throws<HeapException>(() => snapshot.Ask("show", "0x10")).Error);
        Assert.Contains("did you mean 'stat'", Assert.Throws<HeapException>(() => snapshot.Ask("stta")).Message);
        using var diff = Snapshot.Command("diff", dump, dump);
        Assert.Equal("diff", diff.RootElement.GetProperty("command").GetString());
        using (var stopped = Snapshot.Open(dump, new OpenOptions { Threads = 1 }))
        {
            stopped.Cancel();
            Assert.Equal(HeapError.Interrupted, Assert.Throws<HeapException>(() => stopped.Ask("waste")).Error);
        }
        Assert.Throws<HeapException>(() => Snapshot.Open(dump + ".not"));
        snapshot.Dispose();
        Assert.Throws<ObjectDisposedException>(() => snapshot.Ask("stat"));
    }
}
