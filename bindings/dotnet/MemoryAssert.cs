using System.Diagnostics.CodeAnalysis;
using System.Globalization;
using System.Reflection;
using System.Text;
using System.Text.Json;

namespace DnHeap;

/// <summary>What does not hold, and what holds the memory.</summary>
public sealed class MemoryAssertException(string message) : Exception(message);

/// <summary>Assertions on the memory of the process that runs the tests. Each does a full collection, has a child take a small
/// dump, which stops all threads for some tenths of a second, and looks into that. Linux; where processes may not look into
/// each other (containers without that right) it says so.</summary>
/// <remarks>In code that is not optimised, local variables, also those that nobody needs any more, keep objects alive until their
/// method ends: make and use the objects in a method of their own, marked
/// <c>[MethodImpl(MethodImplOptions.NoInlining)]</c>.</remarks>
public static class MemoryAssert
{
    /// <summary>Where dumps are left for you to look at when an assertion fails; null: nowhere.</summary>
    public static string? DumpFolder { get; set; }

    /// <summary>The program `dnheap`; null: the one of this package.</summary>
    public static string? Program { get; set; }

    /// <summary>No object that is exactly a <typeparamref name="T"/> is alive.</summary>
    /// <exception cref="MemoryAssertException">There are some: how many, and what holds them.</exception>
    public static void NoInstances<T>()
    {
        if (typeof(T).IsInterface || typeof(T).IsAbstract)
            throw new ArgumentException($"no object is exactly a {typeof(T)}: name a type that objects are made of");
        if (typeof(T).IsValueType)
            throw new ArgumentException($"{typeof(T)} is a value type: it lies inside other objects");
        using var dump = new OwnDump();
        HeapType? type = TypesOf(dump.Snapshot).Find(one => one.MethodTable == MethodTable(typeof(T)));
        if (type == null)
            return;
        var (count, ways) = Ways(dump.Snapshot, type.Name);
        if (count > 0)
            throw new MemoryAssertException($"{Number(count)} {(count == 1 ? "instance" : "instances")} of {type.Name} alive:\n{ways}{dump.Keep()}");
    }

    /// <summary>What would be freed without an owner: <c>Retains("Shop.Cache.Shared").AtMost(10 &lt;&lt; 20)</c>.</summary>
    /// <param name="owner">A static field with the full name of its type; or any owner as <c>dnheap retained</c> names it. All fields
    /// of a type that ends in '.': "Shop.Cache.".</param>
    public static RetainedBy Retains(string owner)
    {
        ArgumentException.ThrowIfNullOrEmpty(owner);
        return new RetainedBy(owner);
    }

    /// <summary>Of one owner, or the static fields of a type.</summary>
    public sealed class RetainedBy
    {
        private readonly string _owner;

        internal RetainedBy(string owner) => _owner = owner;

        /// <summary>No more bytes than that.</summary>
        /// <exception cref="MemoryAssertException">There are more: what they are.</exception>
        /// <exception cref="ArgumentException">Nothing here is called so: an assertion on it would hold for ever.</exception>
        public void AtMost(long bytes)
        {
            using var dump = new OwnDump();
            using JsonDocument owners = dump.Snapshot.Ask("retained", "--table", "owners");
            var mine = Rows(owners, "owners").Where(row => IsMine(row.GetProperty("owner").GetString()!)).ToList();
            if (mine.Count == 0 && !IsStaticOfProgram())
                throw new ArgumentException($"no static field, type or owner here is called {_owner}");
            ulong sum = mine.Aggregate(0ul, (all, row) => all + row.GetProperty("retained").GetUInt64());
            if (sum <= (ulong)Math.Max(bytes, 0))
                return;
            var text = new StringBuilder($"{_owner} retains {Number(sum)} bytes, at most {Number((ulong)Math.Max(bytes, 0))} are allowed:\n");
            using JsonDocument report = dump.Snapshot.Ask("report", "--table", "suspects");
            foreach (JsonElement row in mine.OrderByDescending(row => row.GetProperty("retained").GetUInt64()).Take(5))
            {
                string owner = row.GetProperty("owner").GetString()!;
                text.Append(CultureInfo.InvariantCulture, $"  {Number(row.GetProperty("retained").GetUInt64())} bytes, {Number(row.GetProperty("objects").GetUInt64())} objects: {owner}\n");
                foreach (JsonElement suspect in Rows(report, "suspects").Where(one => one.GetProperty("owner").GetString()!.StartsWith(owner, StringComparison.Ordinal)))
                    text.Append(CultureInfo.InvariantCulture, $"    {Number(suspect.GetProperty("retained").GetUInt64())} bytes: {suspect.GetProperty("owner").GetString()}: {suspect.GetProperty("text").GetString()}\n");
            }
            throw new MemoryAssertException($"{text}{dump.Keep()}");
        }

        // One that holds nothing now is no owner in a dump, but a field of this process all the same.
        [UnconditionalSuppressMessage("Trimming", "IL2026", Justification = "What was trimmed away holds nothing.")]
        [UnconditionalSuppressMessage("Trimming", "IL2075", Justification = "What was trimmed away holds nothing.")]
        private bool IsStaticOfProgram()
        {
            int end = _owner.LastIndexOf('.');
            if (end <= 0)
                return false;
            const BindingFlags statics = BindingFlags.Static | BindingFlags.Public | BindingFlags.NonPublic;
            string name = _owner[(end + 1)..];
            return AppDomain.CurrentDomain.GetAssemblies().Select(one => one.GetType(_owner[..end])).OfType<Type>()
                .Any(type => name.Length == 0 || type.GetField(name, statics) != null);
        }

        private bool IsMine(string owner) =>
            owner == _owner || owner == "static " + _owner || (_owner.EndsWith('.') && owner.StartsWith("static " + _owner, StringComparison.Ordinal));
    }

    /// <summary>Running an action again and again leaves no more objects alive: of no type one or more per run. It runs once before the
    /// first look, since first runs fill caches; and what grew is looked at once more after as many runs, since caches end to grow.</summary>
    /// <exception cref="MemoryAssertException">There are such types: how many of each, and what holds them.</exception>
    public static void NoGrowth(Action action, int runs = 10)
    {
        ArgumentNullException.ThrowIfNull(action);
        ArgumentOutOfRangeException.ThrowIfLessThan(runs, 2);
        action();
        using var first = new OwnDump();
        Repeat(action, runs);
        using var second = new OwnDump(); // before anything is made of the first: that would be growth
        if (Grown(first.Snapshot, second.Snapshot, runs).Count == 0)
            return;
        Repeat(action, runs);
        using var third = new OwnDump();
        var once = Grown(first.Snapshot, second.Snapshot, runs);
        var again = Grown(second.Snapshot, third.Snapshot, runs).Where(type => once.ContainsKey(type.Key)).OrderByDescending(type => type.Value).ToList();
        if (again.Count == 0)
            return;
        var text = new StringBuilder($"{runs} runs left more objects alive:\n");
        foreach (var (name, count) in again.Take(10))
            text.Append(CultureInfo.InvariantCulture, $"  {Number(count)} × {name}\n");
        foreach (var (name, _) in again.Where(type => !type.Key.StartsWith("System.", StringComparison.Ordinal)).DefaultIfEmpty(again[0]).Take(2))
            text.Append(CultureInfo.InvariantCulture, $"{name} is held by:\n{Ways(third.Snapshot, name).Text}");
        throw new MemoryAssertException($"{text}{third.Keep()}");
    }

    private static void Repeat(Action action, int runs)
    {
        for (int i = 0; i < runs; ++i)
            action();
    }

    // Types of which there are at least so many objects more, and how many more.
    private static Dictionary<string, ulong> Grown(Snapshot before, Snapshot after, int least)
    {
        var old = Live(before);
        return Live(after).Select(type => (type.Key, More: type.Value - Math.Min(type.Value, old.GetValueOrDefault(type.Key))))
            .Where(type => type.More >= (ulong)least).ToDictionary(type => type.Key, type => type.More);
    }

    // A type and the dump's MethodTable of it are the same number, as the dump is of this process. One type that is surely there tells
    // whether that is so in this kind of runtime, lest an assertion hold for having compared with nothing.
    private static ulong MethodTable(Type type) => (ulong)type.TypeHandle.Value;

    private static List<HeapType> TypesOf(Snapshot snapshot)
    {
        List<HeapType> types = snapshot.Types().ToList();
        if (!snapshot.Completeness.IsComplete)
            throw new InvalidOperationException("this process' heap could not be read completely, so nothing can be said of what is not there");
        if (!types.Exists(type => type.Name == "System.String" && type.MethodTable == MethodTable(typeof(string))))
            throw new InvalidOperationException("this runtime does not tell which of the dump's types is which of the program's");
        return types;
    }

    // By name; names that several types have are one.
    private static Dictionary<string, ulong> Live(Snapshot snapshot)
    {
        _ = TypesOf(snapshot);
        using JsonDocument stat = snapshot.Ask("stat", "--live", "--table", "types");
        return Rows(stat, "types").GroupBy(row => row.GetProperty("type").GetString()!)
            .ToDictionary(rows => rows.Key, rows => rows.Aggregate(0ul, (all, row) => all + row.GetProperty("count").GetUInt64()));
    }

    // From roots to the instances of a type: how many are held, and by what.
    private static (ulong Count, string Text) Ways(Snapshot snapshot, string type)
    {
        JsonDocument answer;
        try
        {
            answer = snapshot.Ask("path", type);
        }
        catch (HeapException error) when (error.Error == HeapError.NotFound)
        {
            return (0, "");
        }
        using (answer)
        {
            ulong count = 0;
            var text = new StringBuilder();
            int lines = 0;
            foreach (JsonElement row in Rows(answer, "paths"))
            {
                if (row.GetProperty("root").ValueKind == JsonValueKind.Null)
                    continue; // dead
                ulong instances = row.GetProperty("instances").GetUInt64();
                count += instances;
                if (++lines <= 5)
                    text.Append(CultureInfo.InvariantCulture, $"  {Number(instances)} × {row.GetProperty("path").GetString()}  (e.g. {row.GetProperty("example").GetString()})\n");
            }
            if (lines > 5)
                text.Append(CultureInfo.InvariantCulture, $"  … {lines - 5} more ways\n");
            return (count, text.ToString());
        }
    }

    private static JsonElement.ArrayEnumerator Rows(JsonDocument answer, string table) =>
        answer.RootElement.GetProperty("tables").GetProperty(table).EnumerateArray();

    private static string Number(ulong number) => number.ToString("N0", CultureInfo.InvariantCulture);
}
