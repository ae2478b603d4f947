// Collections of each kind with known entries, after removals and after they grew. Its truth is, by the collection's label, a list
// "entries" of [key, value] in the order in which the collection itself lists them; key null: the entry has no key.
using System;
using System.Collections;
using System.Collections.Concurrent;
using System.Collections.Frozen;
using System.Collections.Generic;
using System.Collections.Immutable;
using System.Collections.ObjectModel;
using System.Globalization;
using System.Linq;
using System.Runtime.CompilerServices;
using System.Text;
using System.Threading;
using System.Threading.Channels;

namespace Shop;

sealed class Item;

struct Place
{
    public string Shelf;
    public int Row;
}

static class Program
{
    static readonly StringBuilder said = new();
    static readonly List<object> kept = new();

    static string Number(object value) => Convert.ToString(value, CultureInfo.InvariantCulture);
    static string Text(string text) => "\"" + text.Replace("\"", "\\\"") + "\"";
    static string Json(object value) => value switch
    {
        null => "null",
        string text => Text(text),
        int or long or byte or double => Number(value),
        bool truth => truth ? "true" : "false",
        Place place => Text($"{{Shelf = \"{place.Shelf}\", Row = {place.Row}}}"),
        ValueTuple<int, int> pair => Text($"{{Item1 = {pair.Item1}, Item2 = {pair.Item2}}}"),
        Guid or TimeSpan => Text(value.ToString()),
        DayOfWeek day => Text(day.ToString()),
        _ => $"{{\"type\": {Text(value.GetType().FullName)}}}",
    };

    static string Entry(object one)
    {
        if (one is DictionaryEntry entry)
            return $"[{Json(entry.Key)}, {Json(entry.Value)}]";
        Type type = one?.GetType();
        if (type is { IsGenericType: true } && type.GetGenericTypeDefinition() == typeof(KeyValuePair<,>))
            return $"[{Json(type.GetProperty("Key").GetValue(one))}, {Json(type.GetProperty("Value").GetValue(one))}]";
        return $"[null, {Json(one)}]";
    }

    // Says what the collection lists of itself, or what is known to be in it.
    static T Say<T>(string label, T collection, IEnumerable known = null) where T : class
    {
        Truth.Label(label, collection);
        kept.Add(collection);
        IEnumerable entries = known ?? (IEnumerable)collection;
        said.Append(said.Length == 0 ? "" : ", ").Append(Text(label)).Append(": [");
        said.AppendJoin(", ", entries.Cast<object>().Select(Entry)).Append(']');
        return collection;
    }

    static Place At(int row) => new() { Row = row, Shelf = "shelf " + row };
    static IEnumerable<int> Numbers(int count) => Enumerable.Range(100, count);
    static Dictionary<string, int> Named(int count) => Numbers(count).ToDictionary(i => "name " + i, i => i);

    static void Dictionaries()
    {
        var removed = Named(40);
        foreach (int i in new[] { 103, 107, 139, 100 })
            removed.Remove("name " + i);
        removed["again"] = 7;
        Say("dictionary", removed);
        Say("dictionary of structs", Numbers(5).ToDictionary(At, i => (i, -i)));
        Say("dictionary of objects", Numbers(5).ToDictionary(i => i, _ => new Item()));
        Say("dictionary of nothing", new Dictionary<string, int>());
        Say("dictionary with null", new Dictionary<string, string> { ["a"] = null, ["b"] = "" });
        Say("dictionary of days", new Dictionary<DayOfWeek, bool> { [DayOfWeek.Friday] = true });
        Say("dictionary of ids", new Dictionary<Guid, TimeSpan> { [new Guid(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11)] = TimeSpan.FromSeconds(5) });
        Say("keys", new Dictionary<string, int> { ["one"] = 1, ["two"] = 2 }.Keys);
        Say("values", new Dictionary<string, int> { ["one"] = 1, ["two"] = 2 }.Values);
        Say("read-only dictionary", new ReadOnlyDictionary<string, int>(Named(3)));
        var sorted = new SortedDictionary<string, int>(Named(30)) { ["a"] = 1 };
        sorted.Remove("name 104");
        Say("sorted dictionary", sorted);
    }

    static void Concurrent()
    {
        var grown = new ConcurrentDictionary<string, int>(Named(500));
        grown.TryRemove("name 110", out _);
        Say("concurrent dictionary", grown);
        Say("concurrent dictionary of structs", new ConcurrentDictionary<int, Place>(Numbers(9).Select(i => KeyValuePair.Create(i, At(i)))));
        var queue = new ConcurrentQueue<int>(Numbers(100)); // in several segments
        for (int i = 0; i < 40; ++i)
            queue.TryDequeue(out _);
        Say("concurrent queue", queue);
        var texts = new ConcurrentQueue<string>();
        for (int i = 0; i < 200; ++i) // around the end of its only segment
        {
            texts.Enqueue("text " + i);
            if (i >= 20)
                texts.TryDequeue(out _);
        }
        Say("concurrent queue of texts", texts);
        var stack = new ConcurrentStack<string>(new[] { "a", "b", "c", "d" });
        stack.TryPop(out _);
        Say("concurrent stack", stack);
        var bag = new ConcurrentBag<int>(Numbers(70));
        for (int i = 0; i < 9; ++i)
            bag.TryTake(out _);
        var other = new Thread(() => bag.Add(-1));
        other.Start();
        other.Join();
        Say("concurrent bag", bag);
        Say("blocking collection", new BlockingCollection<int>(new ConcurrentQueue<int>(Numbers(4))));
    }

    static void Channels()
    {
        var channel = Channel.CreateUnbounded<int>();
        var bounded = Channel.CreateBounded<string>(5);
        var single = Channel.CreateUnbounded<int>(new UnboundedChannelOptions { SingleReader = true });
        for (int i = 0; i < 40; ++i)
        {
            channel.Writer.TryWrite(i);
            single.Writer.TryWrite(i);
            bounded.Writer.TryWrite("text " + i);
            if (i == 2)
            {
                bounded.Reader.TryRead(out _);
                channel.Reader.TryRead(out _);
                single.Reader.TryRead(out _);
            }
        }
        Say("channel", channel, Enumerable.Range(1, 39));
        Say("channel of one reader", single, Enumerable.Range(1, 39));
        Say("bounded channel", bounded, new[] { "text 1", "text 2", "text 3", "text 4", "text 5" });
    }

    static void Lists()
    {
        var list = new List<string>(Named(20).Keys);
        list.RemoveRange(3, 9);
        Say("list", list);
        Say("list of structs", Numbers(4).Select(At).ToList());
        Say("collection", new Collection<int>(Numbers(3).ToList()));
        Say("observable", new ObservableCollection<int>(Numbers(3)));
        Say("read-only collection", Numbers(3).ToList().AsReadOnly());
        Say("observable read-only", new ReadOnlyObservableCollection<int>(new ObservableCollection<int>(Numbers(2))));
        var linked = new LinkedList<int>(Numbers(6));
        linked.RemoveFirst();
        linked.AddFirst(1);
        Say("linked list", linked);
        Say("sorted list", new SortedList<string, int>(Named(9)));
        Say("array", Numbers(5).ToArray());
        Say("array of texts", new[] { "a", null, "c" });
        Say("array of structs", new[] { At(1), At(2) });
        Say("array of two dimensions", new[,] { { 1, 2 }, { 3, 4 } });
    }

    static void Sets()
    {
        var set = Named(30).Keys.ToHashSet();
        set.Remove("name 105");
        set.Remove("name 129");
        Say("hash set", set);
        var sorted = new SortedSet<int>(Numbers(50).Reverse());
        sorted.Remove(120);
        Say("sorted set", sorted);
    }

    static void Queues()
    {
        var queue = new Queue<int>(Numbers(6));
        for (int i = 0; i < 5; ++i) // around the end of its array
        {
            queue.Dequeue();
            queue.Enqueue(i);
        }
        Say("queue", queue);
        var stack = new Stack<string>(new[] { "a", "b", "c" });
        stack.Pop();
        Say("stack", stack);
        var urgent = new PriorityQueue<string, int>(Numbers(20).Select(i => ("name " + i, (i * 7) % 20)));
        urgent.Dequeue();
        Say("priority queue", urgent, urgent.UnorderedItems.Select(one => KeyValuePair.Create(one.Priority, one.Element)));
    }

    static void Untyped()
    {
        var table = new Hashtable();
        foreach (int i in Numbers(50))
            table["name " + i] = i;
        table.Remove("name 120");
        Say("hashtable", table);
        Say("array list", new ArrayList { "a", 2, null });
        Say("untyped queue", new Queue(new object[] { 1, "b" }));
        Say("untyped stack", new Stack(new object[] { 1, "b" }));
        Say("untyped sorted list", new SortedList { ["a"] = 1, ["b"] = 2 });
    }

    static void Immutable()
    {
        Say("immutable dictionary", Named(60).ToImmutableDictionary().Remove("name 103"));
        // All keys with one hash code: in the node's list of further entries.
        Say("immutable dictionary of collisions", Named(5).ToImmutableDictionary(one => one.Key, one => one.Value, new Alike()));
        Say("immutable sorted dictionary", Named(20).ToImmutableSortedDictionary());
        Say("immutable list", Numbers(30).ToImmutableList().RemoveAt(4));
        Say("immutable hash set", Numbers(30).ToImmutableHashSet().Remove(105));
        Say("immutable hash set of collisions", Named(5).Keys.ToImmutableHashSet(new Alike()));
        Say("immutable sorted set", Numbers(30).ToImmutableSortedSet());
        Say("immutable stack", ImmutableStack.CreateRange(Numbers(5)));
        Say("immutable queue", ImmutableQueue.CreateRange(Numbers(5)).Dequeue().Enqueue(1).Enqueue(2));
        Say("immutable array", (object)Numbers(4).ToImmutableArray(), Numbers(4)); // boxed
    }

    sealed class Alike : IEqualityComparer<string>
    {
        public bool Equals(string a, string b) => a == b;
        public int GetHashCode(string text) => 5;
    }

    static void Frozen()
    {
        Say("frozen dictionary of texts", Named(40).ToFrozenDictionary());
        Say("frozen dictionary of few texts", Named(2).ToFrozenDictionary());
        Say("frozen dictionary of numbers", Numbers(40).ToDictionary(i => i * 1000, i => "value " + i).ToFrozenDictionary());
        Say("frozen dictionary of few numbers", Numbers(3).ToDictionary(i => i, At).ToFrozenDictionary());
        Say("frozen dictionary of structs", Numbers(40).ToDictionary(i => (i, i), i => i).ToFrozenDictionary());
        Say("frozen set of texts", Named(40).Keys.ToFrozenSet());
        Say("frozen set of few texts", new[] { "a", "b" }.ToFrozenSet());
        Say("frozen set of numbers", Numbers(40).Select(i => i * 1000).ToFrozenSet());
        Say("frozen set of few numbers", Numbers(3).ToFrozenSet());
        Say("frozen set of structs", Numbers(40).Select(i => (i, i)).ToFrozenSet());
    }

    static void Weak()
    {
        var table = new ConditionalWeakTable<object, object>();
        string[] keys = Named(20).Keys.Select(name => name + "!").ToArray();
        foreach (string key in keys)
            table.Add(key, "value of " + key);
        table.Remove(keys[3]);
        kept.Add(keys);
        Say("weak table", table);
    }

    // Kinds that .NET 8 does not have.
    static void Newer()
    {
        Type type = Type.GetType("System.Collections.Generic.OrderedDictionary`2, System.Collections");
        if (type == null)
            return;
        var dictionary = (IDictionary)Activator.CreateInstance(type.MakeGenericType(typeof(string), typeof(int)));
        foreach (var (name, i) in Named(30))
            dictionary.Add(name, i);
        dictionary.Remove("name 107");
        Say("ordered dictionary", (object)dictionary, (IEnumerable)dictionary);
    }

    static void Main()
    {
        Dictionaries();
        Concurrent();
        Channels();
        Lists();
        Sets();
        Queues();
        Untyped();
        Immutable();
        Frozen();
        Weak();
        Newer();
        string types = Truth.Types();
        Truth.AfterLastCollection();
        GC.Collect();
        Truth.AfterLastCollection();
        Truth.Print($"{types}, \"entries\": {{{said}}}");
        Truth.Wait();
        GC.KeepAlive(kept);
    }
}
