// Threads that wait in the usual ways.
using System;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Threading;
using System.Threading.Tasks;

namespace Held
{
    class Sleep { public long Number; }
    class WaitOne { public long Number; }
    class WaitAny { public long Number; }
    class MonitorWait { public long Number; }
    class LockOwner { public long Number; }
    class LockWaiter { public long Number; }
    class Join { public long Number; }
    class Semaphore { public long Number; }
    class ResetEventSlim { public long Number; }
    class TaskWait { public long Number; }
    class Native { public long Number; }
    class NativeStub { public long Number; }
    class Pool { public long Number; }
    class TaskRun { public long Number; }
    class Dead { public long Number; }
    class Several { public long Number; }
}

namespace Stacks
{
    static unsafe class Idle
    {
        static readonly object gate = new(), pulse = new();
        static readonly ManualResetEventSlim owned = new(false), slim = new(false);
        static readonly SemaphoreSlim semaphore = new(0);
        static readonly TaskCompletionSource never = new();
        static Thread sleeper;

        [DllImport("libc")]
        static extern int poll(void* files, nuint count, int milliseconds);
        [DllImport("libc", EntryPoint = "poll", SetLastError = true)]
        static extern int poll_with_error(byte[] files, nuint count, int milliseconds);

        public static void Start()
        {
            sleeper = Stage.Start(Sleep);
            Stage.Start(WaitOne);
            Stage.Start(WaitAny);
            Stage.Start(MonitorWait);
            Stage.Start(LockOwner);
            Stage.Start(LockWaiter);
            Stage.Start(Join);
            Stage.Start(Semaphore);
            Stage.Start(ResetEventSlim);
            Stage.Start(TaskWait);
            Stage.Start(Native, waits: false);
            Stage.Start(NativeStub, waits: false);
            Stage.Start(Dead);
            Stage.Start(Several);
            Stage.Expect();
            ThreadPool.UnsafeQueueUserWorkItem(Pool, null);
            Stage.Expect();
            Task.Run(TaskRun);
        }

        static void Sleep()
        {
            var held = Stage.Held(new Held.Sleep());
            Stage.Ready();
            Thread.Sleep(Timeout.Infinite);
            GC.KeepAlive(held);
        }

        static void WaitOne()
        {
            var held = Stage.Held(new Held.WaitOne());
            Stage.Block();
            GC.KeepAlive(held);
        }

        static void WaitAny()
        {
            var held = Stage.Held(new Held.WaitAny());
            Stage.Ready();
            WaitHandle.WaitAny(new WaitHandle[] { new AutoResetEvent(false), new Mutex(true) }, -1);
            WaitHandle.WaitAll(new WaitHandle[] { new AutoResetEvent(false), new ManualResetEvent(false) });
            GC.KeepAlive(held);
        }

        static void MonitorWait()
        {
            var held = Stage.Held(new Held.MonitorWait());
            lock (pulse)
            {
                Stage.Ready();
                Monitor.Wait(pulse);
            }
            GC.KeepAlive(held);
        }

        static void LockOwner()
        {
            var held = Stage.Held(new Held.LockOwner());
            lock (gate)
            {
                owned.Set();
                Stage.Block();
            }
            GC.KeepAlive(held);
        }

        static void LockWaiter()
        {
            var held = Stage.Held(new Held.LockWaiter());
            owned.Wait();
            Stage.Ready();
            lock (gate)
                GC.KeepAlive(held);
        }

        static void Join()
        {
            var held = Stage.Held(new Held.Join());
            Stage.Ready();
            sleeper.Join();
            GC.KeepAlive(held);
        }

        static void Semaphore()
        {
            var held = Stage.Held(new Held.Semaphore());
            Stage.Ready();
            semaphore.Wait();
            GC.KeepAlive(held);
        }

        static void ResetEventSlim()
        {
            var held = Stage.Held(new Held.ResetEventSlim());
            Stage.Ready();
            slim.Wait();
            GC.KeepAlive(held);
        }

        static void TaskWait()
        {
            var held = Stage.Held(new Held.TaskWait());
            Stage.Ready();
            never.Task.Wait();
            GC.KeepAlive(held);
        }

        static void Native()
        {
            var held = Stage.Held(new Held.Native());
            Stage.Ready();
            while (true)
                held.Number += poll(null, 0, -1);
        }

        static void NativeStub()
        {
            var held = Stage.Held(new Held.NativeStub());
            Stage.Ready();
            while (true)
                held.Number += poll_with_error(new byte[8], 0, -1);
        }

        static void Pool(object state)
        {
            var held = Stage.Held(new Held.Pool());
            Stage.Block();
            GC.KeepAlive(held);
        }

        static void TaskRun()
        {
            var held = Stage.Held(new Held.TaskRun());
            Stage.Block();
            GC.KeepAlive(held);
        }

        // Optimised code holds it no longer.
        static void Dead()
        {
            var held = Stage.Held(new Held.Dead(), By.Nothing);
            held.Number++;
            Stage.Block();
        }

        // More than there are registers.
        static void Several()
        {
            var a = Stage.Held(new Held.Several(), count: 9);
            var b = new Held.Several();
            var c = new Held.Several();
            var d = new Held.Several();
            var e = new Held.Several();
            var f = new Held.Several();
            var g = new Held.Several();
            var h = new Held.Several();
            var i = new Held.Several();
            Stage.Block();
            GC.KeepAlive(a);
            GC.KeepAlive(b);
            GC.KeepAlive(c);
            GC.KeepAlive(d);
            GC.KeepAlive(e);
            GC.KeepAlive(f);
            GC.KeepAlive(g);
            GC.KeepAlive(h);
            GC.KeepAlive(i);
        }
    }
}
