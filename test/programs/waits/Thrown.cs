// "thrown": [{"type", "hresult", "count", "stack": ["Type.Method(Type)", …]}], from the exceptions themselves; "in_flight": the
// thread that stands in a handler, and the type of its exception; "nested": one that threw another while it was in a handler, and
// the types, its own first; "faulted": how many tasks nobody looked at; "constructor": what a static constructor threw.
using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Linq;
using System.Reflection;
using System.Reflection.Emit;
using System.Runtime.CompilerServices;
using System.Threading;
using System.Threading.Tasks;

class OrderFailure : Exception { public OrderFailure(string text) : base(text) { HResult = unchecked((int)0x80041234); } }
class WrappedFailure : Exception { public WrappedFailure(Exception inner) : base("wrapped", inner) { } }
class NeverThrown : Exception { }
class TaskFailure : Exception { }
class InFlight : Exception { }
class Dynamic : Exception { }
class OuterFlight : Exception { }
class OwnFlight : Exception { }

static class Thrown
{
    static readonly List<Exception> kept = new();
    static readonly List<Task> tasks = new();

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Pay(string order)
    {
        if (order != null)
            throw new OrderFailure("no money for " + order);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void CheckOut(string order)
    {
        Pay(order);
        GC.KeepAlive(order);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Wrap()
    {
        try
        {
            Pay("wrapped");
        }
        catch (Exception inner)
        {
            throw new WrappedFailure(inner);
        }
    }

    static void Catch(Action what)
    {
        try
        {
            what();
        }
        catch (Exception e)
        {
            kept.Add(e);
        }
    }

    static Action Throwing()
    {
        var method = new DynamicMethod("MadeUp", null, Type.EmptyTypes);
        ILGenerator code = method.GetILGenerator();
        code.Emit(OpCodes.Newobj, typeof(Dynamic).GetConstructor(Type.EmptyTypes));
        code.Emit(OpCodes.Throw);
        return method.CreateDelegate<Action>();
    }

    static string Name(StackFrame frame)
    {
        MethodBase method = frame.GetMethod();
        string type = method.DeclaringType == null ? "DynamicClass" : TypeNames.Of(method.DeclaringType);
        var parameters = method.GetParameters().Select(p => p.ParameterType.IsPrimitive ? p.ParameterType.Name : TypeNames.Of(p.ParameterType));
        return type + "." + method.Name + "(" + string.Join(", ", parameters) + ")";
    }

    public static string Run()
    {
        for (int i = 0; i < 100; i++)
            Catch(() => CheckOut("order"));
        for (int i = 0; i < 10; i++)
            Catch(Wrap);
        for (int i = 0; i < 5; i++)
            kept.Add(new NeverThrown());
        Action throwing = Throwing();
        for (int i = 0; i < 3; i++)
            Catch(throwing);
        for (int i = 0; i < 9; i++)
            tasks.Add(Task.Run(() => throw new TaskFailure()));
        while (tasks.Any(task => !task.IsCompleted))
            Thread.Sleep(1);
        GC.KeepAlive(tasks[0].Exception);
        GC.KeepAlive(tasks[1].Exception);
        Pair thread = Program.Start("Catcher", ready =>
        {
            try
            {
                throw new InFlight();
            }
            catch (InFlight)
            {
                ready();
                Thread.Sleep(Timeout.Infinite);
            }
        });
        Pair nested = Program.Start("Nested", ready =>
        {
            try
            {
                throw new OuterFlight();
            }
            catch (OuterFlight)
            {
                try
                {
                    throw new OwnFlight();
                }
                catch (OwnFlight)
                {
                    ready();
                    Thread.Sleep(Timeout.Infinite);
                }
            }
        });
        Program.Settle(thread, nested);
        try
        {
            GC.KeepAlive(Failing.Value);
        }
        catch (TypeInitializationException e)
        {
            failed = e;
        }
        var all = kept.Concat(kept.Where(e => e.InnerException != null).Select(e => e.InnerException));
        var groups = all.GroupBy(e => string.Join(", ", new StackTrace(e).GetFrames().Select(f => $"\"{Name(f)}\"")))
                         .SelectMany(g => g.GroupBy(e => e.GetType()).Select(h => (g.Key, h.ToArray())));
        var texts = groups.Select(g => $"{{\"type\": \"{g.Item2[0].GetType()}\", \"hresult\": \"0x{g.Item2[0].HResult:x8}\", " +
                                       $"\"count\": {g.Item2.Length}, \"stack\": [{g.Key}]}}").ToArray();
        return $"\"thrown\": [{string.Join(", ", texts)}], \"in_flight\": {{\"os_id\": {thread.Os}, \"type\": \"InFlight\"}}, " +
               $"\"nested\": {{\"os_id\": {nested.Os}, \"types\": [\"OwnFlight\", \"OuterFlight\"]}}, \"faulted\": 7, \"constructor\": \"{failed?.InnerException?.GetType()}\"";
    }

    static Exception failed;
}

class ConstructorFailure : Exception { }

// .NET 11 keeps the stack of what a static constructor threw as text alone.
static class Failing
{
    public static readonly int Value = Fail();
    static int Fail() => throw new ConstructorFailure();
}
