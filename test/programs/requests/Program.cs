// An ASP.NET application with known requests: some held open by its own code, by HTTP/1.1 (before and after the response
// has begun) and by HTTP/2; connections that wait for their next request; contexts of requests that have ended, which a
// list keeps; contexts of its own; and sessions. Its truth, "said": how many there are of each.
using System;
using System.Collections.Generic;
using System.Linq;
using System.Net;
using System.Net.Http;
using System.Runtime.CompilerServices;
using System.Threading;
using System.Threading.Tasks;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Server.Kestrel.Core;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;

namespace Shop
{
    // Keeps what ASP.NET takes back when a request ends.
    sealed class AuditEntry
    {
        readonly HttpContext context;
        public AuditEntry(HttpContext context) => this.context = context;
    }

    sealed class Audit
    {
        public readonly List<AuditEntry> Seen = new(64);
        public readonly List<HttpContext> Made = new(64);
        public readonly List<ISession> Sessions = new(64);
    }

    sealed class Silent : ILoggerProvider, ILogger
    {
        public ILogger CreateLogger(string name) => this;
        public IDisposable BeginScope<T>(T state) => null;
        public bool IsEnabled(LogLevel level) => level >= LogLevel.Warning;
        public void Log<T>(LogLevel level, EventId id, T state, Exception exception, Func<T, Exception, string> text) { }
        public void Dispose() { }
    }

    static class Program
    {
        const int Paying = 12, Streaming = 5, Streams = 7, Idle = 6, Ended = 9, Made = 4, Sessions = 3;
        static readonly TaskCompletionSource answer = new(TaskCreationOptions.RunContinuationsAsynchronously);
        static readonly Audit audit = new();
        static int waiting;

        static Task Hold()
        {
            Interlocked.Increment(ref waiting);
            return answer.Task;
        }

        static WebApplication Build()
        {
            WebApplicationBuilder builder = WebApplication.CreateSlimBuilder();
            builder.WebHost.ConfigureKestrel(options =>
            {
                options.Listen(IPAddress.Loopback, 0, listen => listen.Protocols = HttpProtocols.Http1);
                options.Listen(IPAddress.Loopback, 0, listen => listen.Protocols = HttpProtocols.Http2);
            });
            builder.Logging.ClearProviders().AddProvider(new Silent()); // with a log each request has an Activity, which has its start
            // With an accessor each request has a context of its own.
            builder.Services.AddHttpContextAccessor().AddDistributedMemoryCache().AddSession();
            WebApplication app = builder.Build();
            app.UseSession();
            app.MapPost("/pay/{order}", async (string order) => await Hold());
            app.MapGet("/prices", async (HttpContext context) =>
            {
                await context.Response.WriteAsync("first");
                await context.Response.Body.FlushAsync();
                await Hold();
            });
            app.MapGet("/stream", async () => await Hold());
            app.MapGet("/health", () => "fine");
            app.MapGet("/audit", (HttpContext context) =>
            {
                lock (audit)
                    audit.Seen.Add(new AuditEntry(context));
            });
            app.MapGet("/visit", (HttpContext context) =>
            {
                context.Session.SetInt32("visits", 1);
                lock (audit)
                    audit.Sessions.Add(context.Session);
            });
            return app;
        }

        static HttpClient Client(string url, Version version) =>
            new() { BaseAddress = new Uri(url), DefaultRequestVersion = version, DefaultVersionPolicy = HttpVersionPolicy.RequestVersionExact };

        // Not in Main, whose variables would hold more.
        [MethodImpl(MethodImplOptions.NoInlining)]
        static async Task<object> Load(string one, string two)
        {
            HttpClient http = Client(one, HttpVersion.Version11), http2 = Client(two, HttpVersion.Version20);
            for (int i = 0; i < Ended; ++i)
                await http.GetStringAsync("/audit");
            for (int i = 0; i < Sessions; ++i)
                await http.GetStringAsync("/visit");
            for (int i = 0; i < Made; ++i)
                audit.Made.Add(new DefaultHttpContext());
            var tasks = new List<Task>();
            for (int i = 0; i < Paying; ++i)
                tasks.Add(http.PostAsync("/pay/" + i, null));
            for (int i = 0; i < Streaming; ++i)
                tasks.Add(http.GetAsync("/prices", HttpCompletionOption.ResponseHeadersRead));
            await Task.Delay(300); // so that ages differ
            for (int i = 0; i < Streams; ++i)
                tasks.Add(http2.GetAsync("/stream"));
            while (Volatile.Read(ref waiting) < Paying + Streaming + Streams)
                await Task.Delay(10);
            // Connections of their own, each of which has answered a request and waits for another one.
            var idle = new List<HttpClient>();
            for (int i = 0; i < Idle; ++i)
            {
                idle.Add(Client(one, HttpVersion.Version11));
                await idle[i].GetStringAsync("/health");
            }
            await Task.Delay(200);
            return (http, http2, tasks, idle);
        }

        static async Task Main()
        {
            WebApplication app = Build();
            await app.StartAsync();
            string[] urls = app.Urls.ToArray();
            object kept = await Load(urls[0], urls[1]);
            for (int i = 0; i < 3; ++i)
            {
                GC.Collect();
                GC.WaitForPendingFinalizers();
            }
            Truth.Print($"\"said\": {{\"paying\": {Paying}, \"streaming\": {Streaming}, \"streams\": {Streams}, \"idle\": {Idle}, " +
                        $"\"ended\": {audit.Seen.Count}, \"made\": {audit.Made.Count}, \"sessions\": {audit.Sessions.Count}}}");
            Truth.Wait();
            GC.KeepAlive(kept);
            GC.KeepAlive(app);
        }
    }
}
