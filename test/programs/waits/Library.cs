// "held": by type, how many objects are alive that only a local of a pending call holds, each of which awaits the library. Of some calls nobody
// keeps the task: the library alone does.
using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Net;
using System.Net.Http;
using System.Net.Sockets;
using System.Runtime.CompilerServices;
using System.Text;
using System.Threading;
using System.Threading.Channels;
using System.Threading.Tasks;

static class Library
{
    // One type for each way to wait.
    class OverSemaphore { }
    class OverSocket { }
    class OverLine { }
    class OverCopy { }
    class OverRequest { }
    class OverChannel { }
    class OverTick { }
    class OverDelay { }
    class OverValue { }

    const int Count = 25;
    static readonly List<WeakReference> made = new();
    static readonly List<object> kept = new();
    static readonly SemaphoreSlim gate = new(0);
    static readonly Channel<int> orders = Channel.CreateUnbounded<int>();

    static T Made<T>(T value) where T : class
    {
        lock (made)
            made.Add(new WeakReference(value));
        return value;
    }

    static async Task Semaphore()
    {
        var held = Made(new OverSemaphore());
        await gate.WaitAsync(TimeSpan.FromHours(1));
        GC.KeepAlive(held);
    }

    static async Task Socket(NetworkStream stream)
    {
        var held = Made(new OverSocket());
        await stream.ReadAsync(new byte[64], 0, 64);
        GC.KeepAlive(held);
    }

    static async Task Line(StreamReader reader)
    {
        var held = Made(new OverLine());
        await reader.ReadLineAsync();
        GC.KeepAlive(held);
    }

    static async Task Copy(NetworkStream stream)
    {
        var held = Made(new OverCopy());
        await stream.CopyToAsync(Stream.Null);
        GC.KeepAlive(held);
    }

    static async Task Request(HttpClient client, Uri address)
    {
        var held = Made(new OverRequest());
        await client.GetAsync(address);
        GC.KeepAlive(held);
    }

    static async ValueTask<int> Read()
    {
        var held = Made(new OverValue());
        int order = await orders.Reader.ReadAsync();
        GC.KeepAlive(held);
        return order;
    }

    static async Task Order()
    {
        var held = Made(new OverChannel());
        await Read();
        GC.KeepAlive(held);
    }

    static async Task Tick(PeriodicTimer timer)
    {
        var held = Made(new OverTick());
        await timer.WaitForNextTickAsync();
        GC.KeepAlive(held);
    }

    static async Task Delay(CancellationToken token)
    {
        var held = Made(new OverDelay());
        await Task.Delay(TimeSpan.FromHours(1), token).WaitAsync(TimeSpan.FromHours(2));
        GC.KeepAlive(held);
    }

    // A connection on which the other side never says anything.
    static NetworkStream Connect(IPEndPoint to)
    {
        var client = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
        client.Connect(to);
        return new NetworkStream(client, true);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Begin(IPEndPoint place)
    {
        var client = new HttpClient();
        kept.Add(client);
        for (int i = 0; i < Count; i++)
        {
            Semaphore();                             // the semaphore's list holds it
            Delay(CancellationToken.None);           // timers hold it
            Order();                                 // the channel
            Socket(Connect(place));                  // the engine of sockets
            Line(new StreamReader(Connect(place), Encoding.UTF8));
            Copy(Connect(place));
            kept.Add(Request(client, new Uri($"http://{place}/{i}")));
            var timer = new PeriodicTimer(TimeSpan.FromHours(1));
            kept.Add(timer);
            Tick(timer);
        }
    }

    public static string Run()
    {
        var listener = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
        listener.Bind(new IPEndPoint(IPAddress.Loopback, 0));
        listener.Listen(8 * Count);
        kept.Add(listener);
        Begin((IPEndPoint)listener.LocalEndPoint!);
        for (int quiet = 0, last = 0; quiet < 20; Thread.Sleep(50)) // requests begin on the pool
        {
            quiet = made.Count == last && made.Count == 9 * Count ? quiet + 1 : 0;
            last = made.Count;
        }
        GC.Collect();
        GC.WaitForPendingFinalizers();
        GC.Collect();
        var alive = made.Select(one => one.Target).Where(one => one != null).GroupBy(one => one!.GetType().Name);
        string said = string.Join(", ", alive.Select(type => $"\"Library.{type.Key}\": {type.Count()}"));
        made.Clear();
        return "\"held\": {" + said + "}";
    }
}
