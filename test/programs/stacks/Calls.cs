// Calls of unusual kinds: through the pre-stub, from native code, by delegates, by code made at run time, deep ones.
using System;
using System.Linq.Expressions;
using System.Reflection;
using System.Reflection.Emit;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Runtime.Loader;
using System.Threading;
using System.Threading.Tasks;

namespace Held
{
    class PreStub { public long Number; }
    class PreStubStack { public long Number; }
    class PreStubThis
    {
        public long Held;
        [MethodImpl(MethodImplOptions.NoInlining)]
        public long Use(int number) => Held + Missing.Number("", number);
    }
    class PreStubStruct { public long Number; }
    class PreStubByref { public long A, B; }
    class Initializing { public long Number; }
    class InInitializer { public long Number; }
    class WaitsForInitializer { public long Number; }
    class Callback { public long Number; }
    class CallbackCaller { public long Number; }
    class DelegateCallback { public long Number; }
    class Delegate { public long Number; }
    class Multicast { public long Number; }
    class OpenDelegate { public long Number; }
    class Lambda { public long Number; }
    class DynamicMethod { public long Number; }
    class ExpressionTree { public long Number; }
    class TailCall { public long Number; }
    class Invoked { public long Number; }
    class Deep { public long Number; }
    class Async { public long Number; }
    class Finalizer { public long Number; ~Finalizer() { Stacks.Calls.Finalize(this); } }
    class InFinalizer { public long Number; }
}

namespace Stacks
{
    static unsafe class Calls
    {
        public const int Depth = 500;
        const MethodImplOptions Maker = MethodImplOptions.NoInlining | MethodImplOptions.NoOptimization; // see Byrefs

        public static void Start()
        {
            AssemblyLoadContext.Default.Resolving += OnResolving;
            Stage.Start(PreStub);
            Stage.Start(PreStubStack);
            Stage.Start(PreStubThis);
            Stage.Start(PreStubStruct);
            Stage.Start(PreStubByref);
            Stage.Start(Initializing);
            Stage.Start(WaitsForInitializer, waits: false);
            Stage.Start(Callback);
            Stage.Start(DelegateCallback);
            Stage.Start(Delegate);
            Stage.Start(Multicast);
            Stage.Start(OpenDelegate);
            Stage.Start(Lambda);
            Stage.Start(DynamicMethod);
            Stage.Start(ExpressionTree);
            Stage.Start(TailCall);
            Stage.Start(Invoked);
            Stage.Start(Deep);
            Stage.Start(Asynchronous.Async);
            Stage.Expect();
            MakeFinalizable();
            GC.Collect();
        }

        // The methods that are called cannot be compiled as long as the assembly "stacks-missing" is not there.
        static Assembly OnResolving(AssemblyLoadContext context, AssemblyName name)
        {
            if (name.Name == "stacks-missing")
                Stage.Block();
            return null;
        }
        [MethodImpl(MethodImplOptions.NoInlining)]
        static long TakesOne(Held.PreStub a, string b, int c) => a.Number + Missing.Number(b, c);
        static void PreStub() => TakesOne(Stage.Held(new Held.PreStub(), By.Argument), "text", 3);

        [MethodImpl(MethodImplOptions.NoInlining)]
        static long TakesMany(int a, object b, long c, string d, object e, object f, object g, double h, Held.PreStubStack i) =>
            i.Number + Missing.Number(d, a);
        static void PreStubStack() => TakesMany(1, "b", 3, "d", "e", "f", "g", 8, Stage.Held(new Held.PreStubStack(), By.Argument));

        static void PreStubThis() => Stage.Held(new Held.PreStubThis(), By.Argument).Use(3);

        [MethodImpl(MethodImplOptions.NoInlining)]
        static long TakesStruct(int a, Pair pair) => Missing.Number((string)pair.First, a);
        [MethodImpl(Maker)]
        static Pair MakePair() => new() { First = "text", Number = 3, Second = Stage.Held(new Held.PreStubStruct(), By.Argument, callers: 1) };
        static void PreStubStruct() => TakesStruct(1, MakePair());

        [MethodImpl(MethodImplOptions.NoInlining)]
        static long TakesByref(ref long a, string b) => a + Missing.Number(b, 3);
        [MethodImpl(Maker)]
        static ref long MakeByref() => ref Stage.Held(new Held.PreStubByref(), By.Argument, callers: 1).B;
        static void PreStubByref() => TakesByref(ref MakeByref(), "text");

        static class Slow
        {
            public static readonly ManualResetEventSlim Begun = new(false);
        }
        static class SlowToInitialize
        {
            public static object Value;
            static SlowToInitialize()
            {
                var held = Stage.Held(new Held.InInitializer());
                Slow.Begun.Set();
                Stage.Block();
                GC.KeepAlive(held);
            }
            [MethodImpl(MethodImplOptions.NoInlining)]
            public static void Use(object value) => Value = value;
        }
        static void Initializing() => SlowToInitialize.Use(Stage.Held(new Held.Initializing(), By.Argument));
        static void WaitsForInitializer()
        {
            Slow.Begun.Wait();
            Stage.Ready();
            SlowToInitialize.Use(Stage.Held(new Held.WaitsForInitializer(), By.Argument));
        }

        [DllImport("libc")]
        static extern void qsort(void* items, nint count, nint size, delegate* unmanaged<void*, void*, int> compare);
        delegate int Compare(nint a, nint b);
        [DllImport("libc", EntryPoint = "qsort")]
        static extern void qsort_by_delegate(nint items, nint count, nint size, Compare compare);

        [UnmanagedCallersOnly]
        static int CalledBack(void* a, void* b)
        {
            var held = Stage.Held(new Held.Callback());
            Stage.Block();
            GC.KeepAlive(held);
            return 0;
        }
        static void Callback()
        {
            var held = Stage.Held(new Held.CallbackCaller());
            long* numbers = stackalloc long[2];
            qsort(numbers, 2, 8, &CalledBack);
            GC.KeepAlive(held);
        }

        static int CalledBackByDelegate(nint a, nint b)
        {
            var held = Stage.Held(new Held.DelegateCallback());
            Stage.Block();
            GC.KeepAlive(held);
            return 0;
        }
        static void DelegateCallback()
        {
            long* numbers = stackalloc long[2];
            qsort_by_delegate((nint)numbers, 2, 8, CalledBackByDelegate);
        }

        class Target
        {
            public long Number;
            public void Hold(Held.Delegate held)
            {
                Stage.Block();
                Number++;
                GC.KeepAlive(held);
            }
            public void Last(Held.Multicast held)
            {
                Stage.Block();
                GC.KeepAlive(held);
            }
            public void First(Held.Multicast held) => Number++;
            public void Open(Held.OpenDelegate held)
            {
                Stage.Block();
                GC.KeepAlive(held);
            }
        }
        static void Delegate() => new Action<Held.Delegate>(new Target().Hold)(Stage.Held(new Held.Delegate(), By.Argument));
        static void Multicast()
        {
            var target = new Target();
            Action<Held.Multicast> all = target.First;
            all += target.First;
            all += target.Last;
            all(Stage.Held(new Held.Multicast(), By.Argument));
        }
        static void OpenDelegate() =>
            typeof(Target).GetMethod("Open").CreateDelegate<Action<Target, Held.OpenDelegate>>()(new Target(), Stage.Held(new Held.OpenDelegate(), By.Argument));
        static void Lambda()
        {
            int captured = Environment.TickCount;
            Func<Held.Lambda, int> lambda = held =>
            {
                Stage.Block();
                GC.KeepAlive(held);
                return captured;
            };
            lambda(Stage.Held(new Held.Lambda(), By.Argument));
        }

        static MethodInfo Find(Type type, string name) =>
            type.GetMethod(name, BindingFlags.Static | BindingFlags.Public | BindingFlags.NonPublic);
        [MethodImpl(Maker)]
        public static Held.DynamicMethod SayDynamic(Held.DynamicMethod held) => Stage.Held(held, callers: 1);
        [MethodImpl(Maker)]
        public static Held.ExpressionTree SayExpression(Held.ExpressionTree held) => Stage.Held(held, callers: 1);

        static void DynamicMethod()
        {
            var method = new System.Reflection.Emit.DynamicMethod("MadeAtRunTime", typeof(void), new[] { typeof(string), typeof(int) }, typeof(Calls).Module, true);
            ILGenerator code = method.GetILGenerator();
            LocalBuilder local = code.DeclareLocal(typeof(Held.DynamicMethod));
            code.Emit(OpCodes.Newobj, typeof(Held.DynamicMethod).GetConstructor(Type.EmptyTypes));
            code.Emit(OpCodes.Call, Find(typeof(Calls), nameof(SayDynamic)));
            code.Emit(OpCodes.Stloc, local);
            code.Emit(OpCodes.Call, Find(typeof(Stage), nameof(Stage.Block)));
            code.Emit(OpCodes.Ldloc, local);
            code.Emit(OpCodes.Call, Find(typeof(GC), nameof(GC.KeepAlive)));
            code.Emit(OpCodes.Ret);
            method.CreateDelegate<Action<string, int>>()("text", 3);
        }

        static void ExpressionTree()
        {
            ParameterExpression held = Expression.Variable(typeof(Held.ExpressionTree));
            Expression.Lambda<Action>(Expression.Block(
                new[] { held },
                Expression.Assign(held, Expression.Call(Find(typeof(Calls), nameof(SayExpression)), Expression.New(typeof(Held.ExpressionTree)))),
                Expression.Call(Find(typeof(Stage), nameof(Stage.Block))),
                Expression.Call(Find(typeof(GC), nameof(GC.KeepAlive)), held))).Compile()();
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        public static void CalledLast(Held.TailCall held)
        {
            Stage.Held(held);
            Stage.Block();
            GC.KeepAlive(held);
        }
        static void TailCall()
        {
            var method = new System.Reflection.Emit.DynamicMethod("CallsAtItsEnd", typeof(void), Type.EmptyTypes, typeof(Calls).Module, true);
            ILGenerator code = method.GetILGenerator();
            code.Emit(OpCodes.Newobj, typeof(Held.TailCall).GetConstructor(Type.EmptyTypes));
            code.Emit(OpCodes.Tailcall);
            code.Emit(OpCodes.Call, Find(typeof(Calls), nameof(CalledLast)));
            code.Emit(OpCodes.Ret);
            method.CreateDelegate<Action>()();
        }

        public static void InvokedByReflection(Held.Invoked held)
        {
            Stage.Held(held);
            Stage.Block();
            GC.KeepAlive(held);
        }
        static void Invoked() => Find(typeof(Calls), nameof(InvokedByReflection)).Invoke(null, new object[] { new Held.Invoked() });

        [MethodImpl(MethodImplOptions.NoInlining)]
        static long Recurse(int depth)
        {
            var held = new Held.Deep { Number = depth };
            if (depth == 1)
            {
                Stage.Held(held, count: Depth);
                Stage.Block();
            }
            else
                depth += (int)Recurse(depth - 1);
            return held.Number;
        }
        static void Deep() => Recurse(Depth);

        [MethodImpl(MethodImplOptions.NoInlining)]
        static void MakeFinalizable() => new Held.Finalizer();
        public static void Finalize(Held.Finalizer finalized)
        {
            Stage.Held(finalized);
            var held = Stage.Held(new Held.InFinalizer());
            Stage.Block();
            GC.KeepAlive(held);
            GC.KeepAlive(finalized);
        }
    }

    static class Asynchronous
    {
        // It waits in its first step, on the stack of who called it.
        static async Task WaitsAtOnce()
        {
            var held = Stage.Held(new Held.Async());
            Stage.Block();
            GC.KeepAlive(held);
            await Task.Yield();
        }
        public static void Async() => WaitsAtOnce().Wait();
    }
}
