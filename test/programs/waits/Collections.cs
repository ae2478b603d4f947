// "threads": by name, their ids; "deadlocks": the threads of each circle over a BlockingCollection; "items", "places": threads that wait for an
// item, or for a free place, of which each has one in a collection of its own; "has": who else has such a collection on its stack.
// RunFine: the same waits, but somebody who goes on may add or take: nobody hangs for good.
using System;
using System.Collections.Concurrent;
using System.Collections.Generic;
using System.Linq;
using System.Runtime.CompilerServices;
using System.Threading;
using System.Threading.Tasks;

class Order { }
class DrainLock { }
class PushLock { }

// Its consumer idles, as in most programs.
static class Log
{
    public static readonly BlockingCollection<Order> Lines = new();

    public static void Write(Action ready)
    {
        ready();
        foreach (Order order in Lines.GetConsumingEnumerable())
            GC.KeepAlive(order);
    }
}

static class Collections
{
    static readonly Dictionary<string, Pair> threads = new();
    static readonly List<string> deadlocks = new(), items = new(), places = new();
    static readonly List<object> kept = new();
    static readonly ManualResetEvent go = new(false);

    static void Start(string name, Action<Action> run) => threads[name] = Program.Start(name, run);
    static void Expect(params string[] names) => deadlocks.Add("[" + string.Join(", ", names.Select(name => $"\"{name}\"")) + "]");

    static BlockingCollection<Order> Full()
    {
        BlockingCollection<Order> full = new(1);
        full.Add(new Order());
        return full;
    }

    // Takes within a lock that whoever adds needs first.
    static void Drain(Action ready, BlockingCollection<Order> orders, object guard)
    {
        lock (guard)
        {
            ready();
            GC.KeepAlive(orders.Take());
        }
    }
    static void Fill(Action ready, BlockingCollection<Order> orders, object guard)
    {
        ready();
        go.WaitOne();
        lock (guard)
            GC.KeepAlive(guard);
        orders.Add(new Order());
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void TakeWithinALock()
    {
        BlockingCollection<Order> orders = new();
        object guard = new DrainLock();
        Start("Drain", ready => Drain(ready, orders, guard));
        Start("Fill", ready => Fill(ready, orders, guard));
        items.Add("Drain");
        Expect("Drain", "Fill");
    }

    static void Push(Action ready, BlockingCollection<Order> orders, object guard)
    {
        lock (guard)
        {
            ready();
            orders.Add(new Order());
        }
    }
    static void Pull(Action ready, BlockingCollection<Order> orders, object guard)
    {
        ready();
        go.WaitOne();
        lock (guard)
            GC.KeepAlive(guard);
        GC.KeepAlive(orders.Take());
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void AddWithinALock()
    {
        BlockingCollection<Order> orders = Full();
        object guard = new PushLock();
        Start("Push", ready => Push(ready, orders, guard));
        Start("Pull", ready => Pull(ready, orders, guard));
        places.Add("Push");
        Expect("Pull", "Push");
    }

    // Waits for the end of whoever adds, before it takes anything.
    static void Collect(Action ready, BlockingCollection<Order> orders, Task maker)
    {
        ready();
        maker.Wait();
        foreach (Order order in orders.GetConsumingEnumerable())
            GC.KeepAlive(order);
    }
    static void Make(BlockingCollection<Order> orders)
    {
        orders.Add(new Order());
        orders.CompleteAdding();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void WaitForTheMaker()
    {
        BlockingCollection<Order> orders = Full();
        Task maker = null;
        Start("Maker", ready =>
        {
            maker = new Task(() => { ready(); Make(orders); });
            maker.RunSynchronously();
        });
        Start("Collector", ready => Collect(ready, orders, maker));
        places.Add("Maker");
        Expect("Collector", "Maker");
    }

    // Two stages, each of which feeds the other, and both are full.
    static void Pass(Action ready, BlockingCollection<Order> from, BlockingCollection<Order> to)
    {
        foreach (Order order in from.GetConsumingEnumerable())
        {
            ready();
            go.WaitOne();
            while (true)
                to.Add(order);
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void FeedEachOther()
    {
        BlockingCollection<Order> there = Full(), back = Full();
        Start("There", ready => Pass(ready, there, back));
        Start("Back", ready => Pass(ready, back, there));
        places.Add("There");
        places.Add("Back");
        Expect("Back", "There");
    }

    static string Said() =>
        "\"threads\": {" + string.Join(", ", threads.Select(one => $"\"{one.Key}\": {one.Value.Json}")) + "}, \"deadlocks\": [" +
        string.Join(", ", deadlocks) + "], \"items\": [" + string.Join(", ", items.Select(name => $"\"{name}\"")) + "], \"places\": [" +
        string.Join(", ", places.Select(name => $"\"{name}\"")) + "]";

    public static string Run()
    {
        TakeWithinALock();
        AddWithinALock();
        WaitForTheMaker();
        FeedEachOther();
        Start("Logger", Log.Write);
        items.Add("Logger");
        go.Set();
        Program.Settle(threads.Values.ToArray());
        return Said();
    }

    // Consumers, one of which may take at a time: the others wait for the lock, and none of them ever adds anything.
    static void TakeInTurn(Action ready, BlockingCollection<Order> orders, object guard)
    {
        ready();
        lock (guard)
            GC.KeepAlive(orders.Take());
    }
    // The same by other words.
    static void TakeInTurnToo(Action ready, BlockingCollection<Order> orders, object guard)
    {
        ready();
        go.WaitOne();
        lock (guard)
        {
            orders.TryTake(out Order order);
            GC.KeepAlive(order);
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void ConsumersInTurn()
    {
        BlockingCollection<Order> orders = new();
        object guard = new DrainLock();
        for (int i = 0; i < 3; i++)
            Start($"InTurn{i}", ready => TakeInTurn(ready, orders, guard));
        Start("InTurnToo", ready => TakeInTurnToo(ready, orders, guard));
        kept.Add(orders);
    }

    static void Sleep(Action ready, BlockingCollection<Order> orders)
    {
        ready();
        Thread.Sleep(Timeout.Infinite);
        orders.Add(new Order());
    }
    static void Consume(Action ready, BlockingCollection<Order> orders)
    {
        foreach (Order order in orders.GetConsumingEnumerable())
        {
            ready();
            Thread.Sleep(Timeout.Infinite);
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void OthersGoOn()
    {
        BlockingCollection<Order> orders = new(), full = Full();
        object drain = new DrainLock(), push = new PushLock();
        Start("DrainFine", ready => Drain(ready, orders, drain));
        Start("FillFine", ready => Fill(ready, orders, drain));
        Start("Another", ready => Sleep(ready, orders));
        items.Add("DrainFine");
        Start("Slow", ready => Consume(ready, full));
        full.Add(new Order());
        Start("PushFine", ready => Push(ready, full, push));
        Start("PullFine", ready => Pull(ready, full, push));
        places.Add("PushFine");
    }

    static void Join(Action ready, BlockingCollection<Order> orders, Task consumer)
    {
        ready();
        consumer.Wait();
        orders.Dispose();
    }

    // A timer adds: who waits for the consumer's end has the collection, too, and adds nothing.
    [MethodImpl(MethodImplOptions.NoInlining)]
    static void BossOfAConsumer()
    {
        BlockingCollection<Order> orders = new();
        Task consumer = null;
        Start("Consumer", ready =>
        {
            consumer = new Task(() =>
            {
                ready();
                GC.KeepAlive(orders.Take());
            });
            consumer.RunSynchronously();
        });
        items.Add("Consumer");
        Start("Boss", ready => Join(ready, orders, consumer));
        kept.Add(new Timer(_ => orders.Add(new Order()), null, 3600_000, 3600_000));
    }

    // A timer takes, and so will a task that has not begun.
    [MethodImpl(MethodImplOptions.NoInlining)]
    static void BossOfAMaker()
    {
        for (int way = 0; way < 2; way++)
        {
            BlockingCollection<Order> orders = Full();
            Task maker = null;
            string name = way == 0 ? "Timed" : "Tasked";
            Start(name + "Maker", ready =>
            {
                maker = new Task(() => { ready(); Make(orders); });
                maker.RunSynchronously();
            });
            places.Add(name + "Maker");
            Start(name + "Boss", ready => Collect(ready, orders, maker));
            kept.Add(way == 0 ? new Timer(_ => orders.Take(), null, 3600_000, 3600_000) : new Task(() => orders.Take()));
        }
    }

    public static string RunFine()
    {
        ConsumersInTurn();
        OthersGoOn();
        BossOfAConsumer();
        BossOfAMaker();
        Start("Logger", Log.Write);
        items.Add("Logger");
        go.Set();
        Program.Settle(threads.Values.ToArray());
        return Said();
    }
}
