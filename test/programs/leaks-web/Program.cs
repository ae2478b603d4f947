// An ASP.NET application whose singletons leak: an event, a cache, timers with their state, and as many pending requests as
// the argument says. Its truth, "said": what the GC's heap grew by with each of them.
using System;
using System.Collections.Concurrent;
using System.Collections.Generic;
using System.Globalization;
using System.Linq;
using System.Net;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Text;
using System.Threading;
using System.Threading.Tasks;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.Extensions.Caching.Memory;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;

namespace Shop
{
    sealed class OrderBus
    {
        public event EventHandler OrderChanged;
        public void Raise() => OrderChanged?.Invoke(this, EventArgs.Empty);
    }

    sealed class OrderView
    {
        readonly byte[] pixels = new byte[2000];
        public void OnOrderChanged(object sender, EventArgs arguments) => pixels[0]++;
    }

    sealed class SessionCache
    {
        public readonly ConcurrentDictionary<string, Session> Sessions = new(1, 20_000); // so that no table is outgrown

        // A thread stands in a method of the singleton's for ever: that makes it no owner of what the singleton holds.
        [MethodImpl(MethodImplOptions.NoInlining)]
        public void Audit(CountdownEvent begun)
        {
            begun.Signal();
            Thread.Sleep(Timeout.Infinite);
            GC.KeepAlive(this);
        }
    }

    sealed class Session
    {
        readonly byte[] basket = new byte[1000];
    }

    sealed class Reminders
    {
        readonly List<Reminder> all = new();
        public void Add() => all.Add(new Reminder());
    }

    sealed class Reminder
    {
        readonly byte[] text = new byte[3000];
        readonly Timer timer;
        public Reminder() => timer = new Timer(state => ((Reminder)state).text[0]++, this, TimeSpan.FromHours(1), Timeout.InfiniteTimeSpan);
    }

    sealed class PaymentGateway
    {
        readonly TaskCompletionSource answer = new(TaskCreationOptions.RunContinuationsAsynchronously);
        public int Waiting;

        public async Task<int> PayAsync()
        {
            var receipt = new byte[800_000];
            Interlocked.Increment(ref Waiting);
            await answer.Task;
            return receipt.Length;
        }
    }

    sealed class Connection : IDisposable
    {
        public void Dispose() { }
    }

    static class Program
    {
        static readonly List<string> said = new();
        static IServiceScope[] open; // scopes that nobody disposes

        [MethodImpl(MethodImplOptions.NoInlining)]
        static void Keep(IServiceProvider services)
        {
            var memory = services.GetRequiredService<IMemoryCache>();
            for (int i = 0; i < 120; ++i)
                memory.Set("price " + i, new object(), new MemoryCacheEntryOptions { Size = 2 });
            for (int i = 0; i < 30; ++i)
                memory.Set(i, new object(), new MemoryCacheEntryOptions { Size = 1 });
            open = Enumerable.Range(0, 25).Select(_ => services.CreateScope()).ToArray();
            foreach (IServiceScope scope in open)
                scope.ServiceProvider.GetRequiredService<Connection>();
            said.Add("\"entries\": 150, \"size\": 270, \"limit\": 5000, \"scopes\": 25");
        }

        // `more`: that were made before, of the same kind.
        static void Live(string what, int count, Action<int> make, Action wait = null, int more = 0)
        {
            long before = GC.GetTotalMemory(true);
            for (int i = 0; i < count; ++i)
                make(i);
            wait?.Invoke();
            said.Add($"\"{what}\": {(GC.GetTotalMemory(true) - before) * (count + more) / count}");
        }

        // Of what leaves no garbage it is what was allocated: the GC's total leaves out small gaps between objects.
        static void Allocated(string what, int count, Action<int> make)
        {
            long before = GC.GetAllocatedBytesForCurrentThread();
            for (int i = 0; i < count; ++i)
                make(i);
            said.Add($"\"{what}\": {GC.GetAllocatedBytesForCurrentThread() - before}");
        }

        [DllImport("libc")] static extern int socket(int domain, int type, int protocol);
        [DllImport("libc")] static extern unsafe int connect(int socket, byte* address, int length);
        [DllImport("libc")] static extern unsafe nint send(int socket, byte* from, nint length, int flags);

        // A client without objects.
        static unsafe void Request(int port)
        {
            byte* address = stackalloc byte[16] { 2, 0, (byte)(port >> 8), (byte)port, 127, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0 };
            int connection = socket(2, 1, 0);
            ReadOnlySpan<byte> text = "GET /pay HTTP/1.1\r\nHost: shop\r\n\r\n"u8;
            fixed (byte* request = text)
                if (connect(connection, address, 16) != 0 || send(connection, request, text.Length, 0) != text.Length)
                    throw new InvalidOperationException("no connection");
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        static void Audit(IServiceProvider services)
        {
            using var begun = new CountdownEvent(1);
            new Thread(() => services.GetRequiredService<SessionCache>().Audit(begun)) { IsBackground = true, Name = "Auditor" }.Start();
            begun.Wait();
        }

        // Not in Main, whose variables would hold what the services hold.
        [MethodImpl(MethodImplOptions.NoInlining)]
        static void Leak(IServiceProvider services, int pending, int port)
        {
            var gateway = services.GetRequiredService<PaymentGateway>();
            Request(port);
            while (gateway.Waiting < 1)
                Thread.Sleep(10);
            var bus = services.GetRequiredService<OrderBus>();
            var cache = services.GetRequiredService<SessionCache>();
            var reminders = services.GetRequiredService<Reminders>();
            Live("requests", pending, _ => Request(port), () =>
            {
                while (gateway.Waiting < pending + 1)
                    Thread.Sleep(10);
                Thread.Sleep(200);
            }, more: 1);
            var handlers = new EventHandler[20_000]; // adding them leaves garbage
            Allocated("events", handlers.Length, i => handlers[i] = new OrderView().OnOrderChanged);
            foreach (EventHandler handler in handlers)
                bus.OrderChanged += handler;
            Live("timers", 8_000, _ => reminders.Add());
            Allocated("cache", 20_000, i => cache.Sessions[i.ToString("D8")] = new Session());
        }

        static async Task Main(string[] arguments)
        {
            int pending = int.Parse(arguments[0], CultureInfo.InvariantCulture);
            WebApplicationBuilder builder = WebApplication.CreateSlimBuilder();
            builder.WebHost.UseUrls("http://127.0.0.1:0");
            builder.Logging.ClearProviders();
            builder.Services.AddMemoryCache(options => options.SizeLimit = 5000).AddScoped<Connection>();
            builder.Services.AddSingleton<OrderBus>().AddSingleton<SessionCache>().AddSingleton<Reminders>().AddSingleton<PaymentGateway>();
            WebApplication app = builder.Build();
            app.MapGet("/pay", async (PaymentGateway gateway) => await gateway.PayAsync());
            await app.StartAsync();
            int port = new Uri(app.Urls.First()).Port;
            Keep(app.Services);
            Leak(app.Services, pending, port);
            Audit(app.Services);
            Truth.Print($"\"said\": {{{string.Join(", ", said)}}}");
            Truth.Wait();
            GC.KeepAlive(app);
        }
    }
}
