// Threads that wait in known methods, and what each said of its stack just before.
using System;
using System.Collections.Generic;
using System.Runtime.CompilerServices;
using System.Text;
using System.Threading;

namespace Aot
{
    static class Waits
    {
        static readonly List<string> stacks = new(), threads = new();
        static readonly ManualResetEvent forever = new(false);
        static readonly object gate = new();
        static readonly CountdownEvent said = new(5);
        const int Depth = 100;

        public static void Start()
        {
            Monitor.Enter(gate);
            SayThread();
            Run("sleeper", static () => Sleep());
            Run("deep one", static () => Recurse(Depth));
            Run(null, static () => Enter());
            Run("holder", static () => new Place<string>().Hold("held"));
            Run(null, static () => new Derived_Place().Hold(1));
            said.Wait();
        }

        // What stood on the stacks, innermost first: as the runtime names it.
        public static string Text()
        {
            var text = new StringBuilder("\"stacks\": [");
            foreach (string stack in stacks)
                text.Append(text[^1] == '[' ? "" : ", ").Append('"').Append(stack.Replace("\r", "").Replace("\n", "\\n")).Append('"');
            return text.Append("], \"threads\": [").Append(string.Join(", ", threads)).Append(']').ToString();
        }

        public static void Release()
        {
            forever.Set();
            Monitor.Exit(gate);
        }

        public static void WaitForever()
        {
            Say();
            forever.WaitOne();
        }

        static void Run(string name, ThreadStart start) => new Thread(start) { IsBackground = true, Name = name }.Start();

        [System.Runtime.InteropServices.DllImport("libc", EntryPoint = "gettid")]
        static extern int Os();

        static void SayThread()
        {
            Thread self = Thread.CurrentThread;
            string name = self.Name == null ? "null" : "\"" + self.Name + "\"", state = self.IsBackground ? "background" : "foreground";
            lock (stacks)
                threads.Add($"{{\"os_id\": {Os()}, \"managed_id\": {self.ManagedThreadId}, \"name\": {name}, \"state\": \"{state}\"}}");
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        static void Say()
        {
            lock (stacks)
                stacks.Add(Environment.StackTrace);
            SayThread();
            said.Signal();
        }

        // A loop each, so that nothing is called by a jump.
        [MethodImpl(MethodImplOptions.NoInlining)]
        static void Sleep()
        {
            Say();
            for (;;)
                Thread.Sleep(int.MaxValue);
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        static int Recurse(int depth)
        {
            if (depth > 0)
                return Recurse(depth - 1) + depth;
            WaitForever();
            return 0;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        static void Enter()
        {
            Say();
            lock (gate)
                GC.KeepAlive(gate);
        }
    }

    class Place<T>
    {
        [MethodImpl(MethodImplOptions.NoInlining)]
        public void Hold(T value)
        {
            Waits.WaitForever();
            GC.KeepAlive(value);
        }
    }

    class Derived_Place
    {
        [MethodImpl(MethodImplOptions.NoInlining)]
        public void Hold(int value)
        {
            Waits.WaitForever();
            GC.KeepAlive(this);
        }

        public void Hold(string value) => GC.KeepAlive(value);
    }
}
