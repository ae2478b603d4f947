// Starts one thread for each scenario, and writes down what each has said of itself.
using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Text;
using System.Text.Json;
using System.Threading;

namespace Stacks
{
    enum By { Reference, Interior, Pinned, Argument, Nothing }

    static class Stage
    {
        class Said
        {
            public string Scenario, Thread, Trace;
            public WeakReference Held;
            public Type Type;
            public int Count, OsId, ManagedId;
            public By By;
        }

        static readonly List<Said> said = new();
        static readonly List<Thread> waiting = new();
        static readonly CountdownEvent ready = new(1);
        static readonly ManualResetEvent never = new(false);

        [DllImport("libc")]
        static extern int gettid();

        // Each in a thread of its own. It must call Ready once.
        public static Thread Start(ThreadStart body, bool waits = true, int stack = 0)
        {
            ready.AddCount();
            var thread = new Thread(body, stack) { IsBackground = true, Name = body.Method.Name };
            if (waits)
                waiting.Add(thread);
            thread.Start();
            return thread;
        }

        // For threads that are started by others.
        public static void Expect() => ready.AddCount();
        public static void Ready() => ready.Signal();

        // What a scenario's thread alone holds, and how: said by the method that will hold it, or by one that it calls and
        // that will have ended (`callers`: how many).
        [MethodImpl(MethodImplOptions.NoInlining)]
        public static T Held<T>(T held, By by = By.Reference, int count = 1, int callers = 0) where T : class
        {
            var trace = new StackTrace(1 + callers, true);
            lock (said)
                said.Add(new Said
                {
                    Scenario = trace.GetFrame(0)?.GetMethod()?.Name ?? held.GetType().Name,
                    Thread = System.Threading.Thread.CurrentThread.Name,
                    Trace = trace.ToString(),
                    Held = new WeakReference(held, true),
                    Type = held.GetType(),
                    Count = count,
                    OsId = gettid(),
                    ManagedId = Environment.CurrentManagedThreadId,
                    By = by,
                });
            return held;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        public static void Block()
        {
            Ready();
            never.WaitOne();
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        public static void BlockStarted() => never.WaitOne();

        // Returns when every scenario has come so far that it does nothing any more.
        public static void WaitUntilReady()
        {
            ready.Signal();
            if (!ready.Wait(60000))
                throw new InvalidOperationException(ready.CurrentCount + " scenarios did not begin");
            foreach (Thread thread in waiting)
                for (int i = 0; i < 1000 && (thread.ThreadState & System.Threading.ThreadState.WaitSleepJoin) == 0; i++)
                    Thread.Sleep(10);
            Thread.Sleep(200);
        }

        static string Json(string value) => "\"" + JsonEncodedText.Encode(value) + "\"";

        // In a thread that ends, so that no stack keeps what it looks at.
        public static string Account()
        {
            var text = new StringBuilder("\"held\": [");
            foreach (Said one in said)
            {
                object held = one.Held.Target;
                text.Append(text[^1] == '[' ? "" : ", ").Append("{\"scenario\": ").Append(Json(one.Scenario));
                text.Append(", \"thread\": ").Append(one.Thread == null ? "null" : Json(one.Thread));
                text.Append(", \"type\": ").Append(Json(TypeNames.Of(one.Type)));
                text.Append(", \"count\": ").Append(one.Count);
                text.Append(", \"by\": ").Append(Json(one.By.ToString().ToLowerInvariant()));
                text.Append(", \"os_id\": ").Append(one.OsId).Append(", \"managed_id\": ").Append(one.ManagedId);
                text.Append(", \"address\": ");
                text.Append(held == null ? "null" : "\"0x" + Truth.AddressOf(held).ToString("x") + "\"");
                text.Append(", \"trace\": [");
                foreach (string line in one.Trace.Split('\n', StringSplitOptions.RemoveEmptyEntries | StringSplitOptions.TrimEntries))
                    text.Append(text[^1] == '[' ? "" : ", ").Append(Json(line.StartsWith("at ") ? line[3..] : line));
                text.Append("]}");
            }
            return text.Append(']').ToString();
        }
    }
}
