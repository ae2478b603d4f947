// References of every shape, and delegates of every kind. Its truth has "references": type → what all slots of its objects
// are called, elements folded; and "delegates": type → what its one object calls, in order, as reflection says.
using System;
using System.Collections.Generic;
using System.Linq;
using System.Reflection;
using System.Reflection.Emit;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

[InlineArray(3)]
struct Three { object _element; }
struct Pair<K, V> { public K Key; public int Number; public V Value; }
[InlineArray(4)]
struct Pairs { Pair<int, string> _element; }
struct Wrapped { object _only; }
[StructLayout(LayoutKind.Explicit)]
struct Union
{
    [FieldOffset(0)] public string Text;
    [FieldOffset(0)] public int[] Numbers;
    [FieldOffset(8)] public long Other;
}

class Base { object _inherited = new(); }
class Structs : Base
{
    Three _three;
    Pairs _pairs;
    Union _union;
    Wrapped _wrapped;
    Pair<Pair<string, int>, object> _nested;
    Pair<int, object>? _maybe;
    (string, object) _tuple;
    string Text { get; set; }

    public Structs()
    {
        _three[1] = this;
        _pairs[2].Value = "pair";
        _union.Text = "union";
        _nested.Key.Key = "nested";
        _maybe = new() { Value = this };
        _tuple = ("tuple", this);
    }
}
class Generic<T>
{
    public T Item;
    Pair<int, T> _pair;
    static object s_shared;
    public void Use() { }
    public class Inner { T _inner; Pair<T, T>[] _array; }
}
class Derived : Generic<string> { object _own; }
[StructLayout(LayoutKind.Sequential)]
class Marshalled { public int Number; public string Text; }

class Publisher
{
    public void Handle() { }
    public virtual void Overridden() { }
}
class Subscriber : Publisher
{
    public override void Overridden() { }
}
static class Extensions
{
    public static void Extend(this string text) { }
    public static void Static() { }
}

delegate void Closed();
delegate void ClosedVirtual();
delegate void Static();
delegate void OpenVirtual(Publisher publisher);
delegate void OpenInstance(Publisher publisher);
delegate void Several();
delegate void Lambda();
delegate void Captured();
delegate void Local();
delegate void Extension();
delegate void OfGeneric();
delegate void OfGenericMethod();
delegate void Dynamic();
delegate int Native();

static unsafe class Program
{
    static readonly SortedDictionary<string, string[]> references = new(StringComparer.Ordinal);
    static readonly SortedDictionary<string, string[]> delegates = new(StringComparer.Ordinal);

    static void References(object value, params string[] names) =>
        references[TypeNames.Of(Truth.Keep(value).GetType())] = names;

    static void Delegate(Delegate value, string name = null) =>
        delegates[TypeNames.Of(Truth.Keep(value).GetType())] =
            name != null ? [name] : value.GetInvocationList().Select(part => MethodName(part.Method)).ToArray();

    static string MethodName(MethodInfo method) => TypeNames.Of(method.DeclaringType) + "." + method.Name;

    static void MakeReferences()
    {
        References(new Structs(), "._inherited", "._three._element[*]", "._pairs._element[*].Value",
                   "._union.Text|._union.Numbers", "._wrapped._only", "._nested.Key.Key", "._nested.Value",
                   "._maybe.value.Value", "._tuple.Item1", "._tuple.Item2", ".<Text>k__BackingField");
        References(new Generic<string>(), ".Item", "._pair.Value");
        References(new Generic<Pair<int, string>>(), ".Item.Value", "._pair.Value.Value");
        References(new Generic<Pair<Publisher, Wrapped>> { Item = { Key = new() } }, ".Item.Key", ".Item.Value._only", "._pair.Value.Key",
                   "._pair.Value.Value._only");
        References(new Generic<Three>(), ".Item._element[*]", "._pair.Value._element[*]");
        References(new Generic<int>());
        References(new Generic<DayOfWeek>.Inner(), "._array");
        References(new Derived(), ".Item", "._pair.Value", "._own");
        References(new Marshalled(), ".Text");
        References(new Pair<int, string>[2], "[*].Value");
        References(new Pair<string, object>[1][], "[*]");
        References(new Publisher[2, 3], "[*]");
        References(new Pair<object, object>[2, 3, 4], "[*].Key", "[*].Value");
        References(new Three[2], "[*]._element[*]");
        References((object)new Three(), "._element[*]");
        References(new List<Pair<Union, string>>.Enumerator(), "._list", "._current.Key.Text|._current.Key.Numbers", "._current.Value");
        References(new Dictionary<Publisher, Pair<int, string>>(), "._buckets", "._entries", "._comparer", "._keys",
                   "._values");
    }

    static void MakeDelegates()
    {
        var subscriber = new Subscriber();
        Delegate(new Closed(subscriber.Handle));
        Delegate(new ClosedVirtual(subscriber.Overridden));
        Delegate(new Static(Extensions.Static));
        MethodInfo overridden = typeof(Publisher).GetMethod(nameof(Publisher.Overridden));
        Delegate(overridden.CreateDelegate<OpenVirtual>(), "Publisher.Overridden");
        Delegate(typeof(Publisher).GetMethod(nameof(Publisher.Handle)).CreateDelegate<OpenInstance>());
        Several several = subscriber.Handle;
        several += Extensions.Static;
        several += subscriber.Overridden;
        Delegate(several);
        Delegate(new Lambda(() => GC.KeepAlive(references)));
        int captured = Environment.ProcessId;
        Delegate(new Captured(() => captured++));
        static void Inside() { }
        Delegate(new Local(Inside));
        Delegate(new Extension("text".Extend));
        Delegate(new OfGeneric(new Generic<string>().Use));
        Delegate(new OfGenericMethod(OfMethod<string>));
        var dynamic = new DynamicMethod("Emitted", typeof(void), null);
        dynamic.GetILGenerator().Emit(OpCodes.Ret);
        Delegate(dynamic.CreateDelegate(typeof(Dynamic)), "DynamicClass.Emitted");
        nint native = NativeLibrary.GetExport(NativeLibrary.Load("libc.so.6"), "getpid");
        bool isMusl = System.IO.File.ReadLines("/proc/self/maps").Any(line => line.Contains("/ld-musl-"));
        Delegate(Marshal.GetDelegateForFunctionPointer<Native>(native), isMusl ? "ld-musl-x86_64.so.1" : "libc.so.6");
    }

    static void OfMethod<T>() => Console.Error.WriteLine(typeof(T));

    static string Text(string name, SortedDictionary<string, string[]> rows) =>
        $"\"{name}\": {{" + string.Join(", ", rows.Select(row =>
            $"\"{row.Key}\": [" + string.Join(", ", row.Value.Select(value => $"\"{value}\"")) + "]")) + "}";

    static void Main()
    {
        MakeReferences();
        MakeDelegates();
        string types = Truth.Types();
        Truth.AfterLastCollection();
        GC.Collect();
        GC.WaitForPendingFinalizers();
        GC.Collect();
        Truth.Print(types + ", " + Text("references", references) + ", " + Text("delegates", delegates));
        Truth.Wait();
    }
}
