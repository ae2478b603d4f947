// Threads that wait inside handlers of exceptions.
using System;
using System.Collections.Generic;
using System.Runtime.CompilerServices;
using System.Runtime.ExceptionServices;

namespace Held
{
    class Catch { public long Number; }
    class CatchOuter { public long Number; }
    class CatchThrower { public long Number; }
    class Finally { public long Number; }
    class FinallyNormal { public long Number; }
    class Filter { public long Number; }
    class FilterThrower { public long Number; }
    class FilterDeep { public long Number; }
    class CatchInCatch { public long Number; }
    class CatchInCatchInner { public long Number; }
    class FinallyInCatch { public long Number; }
    class Fault { public long Number; }
    class Rethrown { public long Number; }
    class Unhandled { public long Number; }
    class FirstChance { public long Number; }
    class Hardware { public long Number; }
    class Failed : Exception { public Failed(string text) : base(text) { } }
    class WillNotBeHandled : Exception { }
    class SeenFirst : Exception { }
}

namespace Stacks
{
    static unsafe class Funclets
    {
        public static void Start(bool unhandled)
        {
            Stage.Start(Catch);
            Stage.Start(Finally);
            Stage.Start(FinallyNormal);
            Stage.Start(Filter);
            Stage.Start(FilterDeep);
            Stage.Start(CatchInCatch);
            Stage.Start(FinallyInCatch);
            Stage.Start(Fault);
            Stage.Start(Rethrown);
            Stage.Start(Hardware);
            AppDomain.CurrentDomain.FirstChanceException += OnFirstChance;
            Stage.Start(FirstChance);
            if (unhandled)
            {
                AppDomain.CurrentDomain.UnhandledException += OnUnhandled;
                Stage.Start(Unhandled);
            }
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        static void Throw(string text) => throw new Held.Failed(text);

        // What it holds is dead when a handler runs, alive while a filter does.
        [MethodImpl(MethodImplOptions.NoInlining)]
        static void ThrowHolding(object held)
        {
            Throw("thrown");
            GC.KeepAlive(held);
        }

        static void Catch()
        {
            var outer = Stage.Held(new Held.CatchOuter());
            try
            {
                ThrowHolding(Stage.Held(new Held.CatchThrower(), By.Nothing));
            }
            catch (Exception)
            {
                var held = Stage.Held(new Held.Catch());
                Stage.Block();
                GC.KeepAlive(held);
            }
            GC.KeepAlive(outer);
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        static void FinallyHolding()
        {
            var held = Stage.Held(new Held.Finally());
            try
            {
                Throw("thrown");
            }
            finally
            {
                Stage.Block();
                GC.KeepAlive(held);
            }
        }
        static void Finally()
        {
            try
            {
                FinallyHolding();
            }
            catch (Held.Failed)
            {
            }
        }

        static void FinallyNormal()
        {
            var held = Stage.Held(new Held.FinallyNormal());
            try
            {
                held.Number = Environment.TickCount;
            }
            finally
            {
                Stage.Block();
                GC.KeepAlive(held);
            }
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        static bool Waits(object held)
        {
            Stage.Block();
            GC.KeepAlive(held);
            return true;
        }
        static void Filter()
        {
            var held = Stage.Held(new Held.Filter());
            try
            {
                ThrowHolding(Stage.Held(new Held.FilterThrower(), By.Argument));
            }
            catch (Exception) when (Waits(null))
            {
            }
            GC.KeepAlive(held);
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        static void Between(int depth)
        {
            try
            {
                if (depth == 0)
                    Throw("deep");
                Between(depth - 1);
            }
            finally
            {
                GC.KeepAlive(depth);
            }
        }
        static void FilterDeep()
        {
            var held = Stage.Held(new Held.FilterDeep());
            try
            {
                Between(20);
            }
            catch (Exception) when (Waits(held))
            {
            }
        }

        static void CatchInCatch()
        {
            var held = Stage.Held(new Held.CatchInCatch());
            try
            {
                Throw("first");
            }
            catch (Exception first)
            {
                try
                {
                    Throw("second");
                }
                catch (Exception second)
                {
                    var inner = Stage.Held(new Held.CatchInCatchInner());
                    Stage.Block();
                    GC.KeepAlive(inner);
                    GC.KeepAlive(second);
                }
                GC.KeepAlive(first);
            }
            GC.KeepAlive(held);
        }

        static void FinallyInCatch()
        {
            try
            {
                Throw("outer");
            }
            catch (Exception)
            {
                try
                {
                    FinallyHoldingAnother();
                }
                catch (Exception)
                {
                }
            }
        }
        [MethodImpl(MethodImplOptions.NoInlining)]
        static void FinallyHoldingAnother()
        {
            var held = Stage.Held(new Held.FinallyInCatch());
            try
            {
                Throw("inner");
            }
            finally
            {
                Stage.Block();
                GC.KeepAlive(held);
            }
        }

        // The compiler makes a fault handler of it.
        static IEnumerable<int> Iterates()
        {
            try
            {
                yield return 1;
                Throw("from an iterator");
            }
            finally
            {
                var held = Stage.Held(new Held.Fault());
                Stage.Block();
                GC.KeepAlive(held);
            }
        }
        static void Fault()
        {
            try
            {
                foreach (int number in Iterates())
                    GC.KeepAlive(number);
            }
            catch (Exception)
            {
            }
        }

        static void Rethrown()
        {
            try
            {
                try
                {
                    Throw("again");
                }
                catch (Exception)
                {
                    throw;
                }
            }
            catch (Exception e)
            {
                var held = Stage.Held(new Held.Rethrown());
                Stage.Block();
                GC.KeepAlive(held);
                ExceptionDispatchInfo.Throw(e);
            }
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        static long Read(Held.Hardware from) => from.Number;
        static void Hardware()
        {
            var held = Stage.Held(new Held.Hardware());
            try
            {
                Read(null);
            }
            catch (NullReferenceException)
            {
                Stage.Block();
                GC.KeepAlive(held);
            }
        }

        static void OnFirstChance(object sender, FirstChanceExceptionEventArgs e)
        {
            if (e.Exception is Held.SeenFirst)
                Stage.Block();
        }
        static void FirstChance()
        {
            var held = Stage.Held(new Held.FirstChance());
            try
            {
                throw new Held.SeenFirst();
            }
            catch (Held.SeenFirst)
            {
                GC.KeepAlive(held);
            }
        }

        static void OnUnhandled(object sender, UnhandledExceptionEventArgs e)
        {
            if (e.ExceptionObject is Held.WillNotBeHandled)
                Stage.Block();
        }
        [MethodImpl(MethodImplOptions.NoInlining)]
        static void ThrowUnhandled() => throw new Held.WillNotBeHandled();
        static void Unhandled()
        {
            var held = Stage.Held(new Held.Unhandled());
            ThrowUnhandled();
            GC.KeepAlive(held);
        }
    }
}
