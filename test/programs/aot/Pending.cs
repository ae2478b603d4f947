// Calls that wait, what they throw, and who is called back: what a debug file would name the fields of.
using System;
using System.Collections.Generic;
using System.Runtime.CompilerServices;
using System.Text;
using System.Threading;
using System.Threading.Tasks;

namespace Aot
{
    class Late : Exception
    {
        public Late(string text, Exception inner) : base(text, inner) { }
    }

    class Publisher
    {
        public event Action Changed;
        public void Add(Action handler) => Changed += handler;
        public void Raise() => Changed?.Invoke();
    }

    class Subscriber
    {
        public int Calls;
        public void OnChanged() => Calls++;
    }

    static class Pending
    {
        const int Chains = 20, Handlers = 30, Timers = 5, Exceptions = 3;
        static readonly TaskCompletionSource<int> never = new();
        static readonly List<object> kept = new();
#if NET9_0_OR_GREATER
        static readonly Lock held = new();
#else
        static readonly object held = new();
#endif
        static readonly Publisher publisher = new();
        static readonly ManualResetEvent entered = new(false);

        public static void Make()
        {
            for (int i = 0; i < Chains; i++)
                kept.Add(Outer(i));
            kept.Add(Delay());
            for (int i = 0; i < Handlers; i++)
                publisher.Add(new Subscriber().OnChanged);
            for (int i = 0; i < Timers; i++)
                kept.Add(new Timer(Due, null, TimeSpan.FromHours(1), Timeout.InfiniteTimeSpan));
            for (int i = 0; i < Exceptions; i++)
                kept.Add(Caught());
            Enter();
            new Thread(Contend) { IsBackground = true, Name = "contender" }.Start();
            entered.WaitOne();
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        static async Task<int> Outer(int number) => await Inner(number) + 1;

        [MethodImpl(MethodImplOptions.NoInlining)]
        static async Task<int> Inner(int number)
        {
            int found = await never.Task;
            return found + number;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        static async Task Delay() => await Task.Delay(TimeSpan.FromHours(1));

        static void Due(object state) => GC.KeepAlive(state);

        [MethodImpl(MethodImplOptions.NoInlining)]
        static Exception Caught()
        {
            try
            {
                Throw();
                return null;
            }
            catch (Late e)
            {
                return e;
            }
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        static void Throw() => throw new Late("too late", new TimeoutException("the reason"));

        [MethodImpl(MethodImplOptions.NoInlining)]
        static void Contend()
        {
            entered.Set();
            Enter();
            Exit();
        }

#if NET9_0_OR_GREATER
        static void Enter() => held.Enter();
        static void Exit() => held.Exit();
#else
        static void Enter() => Monitor.Enter(held);
        static void Exit() => Monitor.Exit(held);
#endif

        public static string Text() =>
            $"\"async\": {{\"Aot.Pending.Outer\": {Chains}, \"Aot.Pending.Inner\": {Chains}, \"Aot.Pending.Delay\": 1}}, "
            + $"\"events\": {{\"Aot.Subscriber.OnChanged\": {Handlers}}}, \"timers\": {{\"Aot.Pending.Due\": {Timers}}}, "
            + $"\"exceptions\": {{\"Aot.Late\": {Exceptions}}}, \"lock_owner\": {Environment.CurrentManagedThreadId}";

        public static void Release()
        {
            Exit();
            GC.KeepAlive(kept);
            publisher.Raise();
        }
    }
}
