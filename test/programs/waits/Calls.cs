// "stacks": [{"count", "methods": [the awaiting one first], "awaits"}] of the calls that wait at COUNT / 2, COUNT / 4 and
// COUNT / 4 places, and of some others.
using System;
using System.Collections.Generic;
using System.Net;
using System.Net.Sockets;
using System.Threading;
using System.Threading.Channels;
using System.Threading.Tasks;

static class Calls
{
    static readonly List<Task> kept = new();
    static readonly SemaphoreSlim gate = new(0);
    static readonly TaskCompletionSource<int> answer = new();
    static readonly List<string> said = new();
    static readonly Channel<int> orders = Channel.CreateUnbounded<int>();

    static async Task<int> Delayed()
    {
        await Task.Delay(TimeSpan.FromHours(1));
        return 1;
    }

    static async Task<int> Gated()
    {
        await gate.WaitAsync();
        return 2;
    }

    static async Task<int> Answered() => await answer.Task.ConfigureAwait(false);

    static async Task<int> Middle(int i)
    {
        int before = i % 4 < 2 ? await Delayed() : 0;
        if (i % 4 == 2)
            before += await Gated();
        return before + (i % 4 == 3 ? await Answered() : 0);
    }

    static async Task Outer(int i)
    {
        await Task.CompletedTask;
        await Middle(i);
    }

    static async Task All() => await Task.WhenAll(Delayed(), Gated());
    static async ValueTask<int> Quick() => await orders.Reader.ReadAsync();
    static async Task UsesQuick() => await Quick();

    static async IAsyncEnumerable<int> Numbers()
    {
        yield return 1;
        await gate.WaitAsync();
        yield return 2;
    }
    static async Task Sum()
    {
        await foreach (int number in Numbers())
            GC.KeepAlive(number);
    }

    static async Task Accept(Socket socket)
    {
        using Socket accepted = await socket.AcceptAsync();
    }

    static void Say(int count, string awaits, params string[] methods) =>
        said.Add($"{{\"count\": {count}, \"awaits\": \"{awaits}\", \"methods\": [\"{string.Join("\", \"", methods)}\"]}}");

    public static string Run(int count)
    {
        for (int i = 0; i < count; i++)
            kept.Add(Outer(i));
        Say(count / 2, "delay", "Calls.Delayed", "Calls.Middle", "Calls.Outer");
        Say(count / 4, "semaphore", "Calls.Gated", "Calls.Middle", "Calls.Outer");
        Say(count / 4, "TaskCompletionSource", "Calls.Answered", "Calls.Middle", "Calls.Outer");
        kept.Add(All());
        Say(1, "delay", "Calls.Delayed", "Calls.All");
        Say(1, "semaphore", "Calls.Gated", "Calls.All");
        for (int i = 0; i < 10; i++)
            kept.Add(UsesQuick());
        Say(10, "channel", "Calls.Quick", "Calls.UsesQuick");
        kept.Add(Sum());
        Say(1, "semaphore", "Calls.Numbers", "Calls.Sum");
        var socket = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
        socket.Bind(new IPEndPoint(IPAddress.Loopback, 0));
        socket.Listen();
        kept.Add(Accept(socket));
        Say(1, "socket", "Calls.Accept");
        return "\"stacks\": [" + string.Join(", ", said) + "]";
    }
}
