// Each static field holds a collection of another kind, of some MB. Its truth is one object, "said": by the name of the
// field what the first screen must say of it.
using System;
using System.Collections;
using System.Collections.Concurrent;
using System.Collections.Frozen;
using System.Collections.Generic;
using System.Collections.Immutable;
using System.Collections.ObjectModel;
using System.Linq;
using System.Runtime.CompilerServices;
using System.Text;
using System.Threading;
using System.Threading.Channels;
using System.Threading.Tasks;

namespace Shop;

sealed class Item
{
    public readonly byte[] Text = new byte[1000];
    public Item Next;

    // Of a program's own, whose names are those of parts of collections.
    public sealed class Entry
    {
        public readonly byte[] Text = new byte[1000];
    }
    public sealed class Node
    {
        public readonly byte[] Text = new byte[1000];
    }
}

static class Kept
{
    public static List<Item> List;
    public static List<Item.Node> ListOfNodes;
    public static Dictionary<string, Item.Entry> DictionaryOfEntries;
    public static ConcurrentDictionary<int, Item.Node> ConcurrentOfNodes;
    public static List<byte[]> ListOfArrays;
    public static Dictionary<int, int[]> DictionaryOfArrays;
    public static Dictionary<int, List<Item>> DictionaryOfLists;
    public static Dictionary<int, (string, Item)> DictionaryOfTuples;
    public static Dictionary<int, Dictionary<int, Item>> DictionaryOfDictionaries;
    public static Dictionary<long, long> DictionaryOfValues;
    public static ConcurrentDictionary<long, long> ConcurrentOfValues;
    public static HashSet<string> HashSet;
    public static Queue<Item> Queue;
    public static Queue<long> QueueOfValues;
    public static Stack<Item> Stack;
    public static LinkedList<Item> LinkedList;
    public static LinkedList<long> LinkedListOfValues;
    public static SortedDictionary<int, Item> SortedDictionary;
    public static SortedList<int, Item> SortedList;
    public static SortedSet<string> SortedSet;
    public static PriorityQueue<Item, int> PriorityQueue;
    public static ArrayList ArrayList;
    public static Hashtable Hashtable;
    public static ObservableCollection<Item> Observable;

    public static ConcurrentQueue<Item> ConcurrentQueue;
    public static ConcurrentQueue<long> ConcurrentQueueOfValues;
    public static ConcurrentStack<Item> ConcurrentStack;
    public static ConcurrentBag<Item> ConcurrentBag;
    public static BlockingCollection<Item> Blocking;
    public static Channel<Item> Channel;
    public static Channel<Item> BoundedChannel;
    public static ImmutableList<Item> ImmutableList;
    public static ImmutableDictionary<string, Item> ImmutableDictionary;
    public static ImmutableSortedDictionary<int, Item> ImmutableSorted;
    public static ImmutableArray<Item> ImmutableArray;
    public static ImmutableHashSet<string> ImmutableHashSet;
    public static FrozenDictionary<string, Item> Frozen;
    public static Item[] Array;
    public static Item[,] Table;
    public static byte[][] Jagged;
    public static Lazy<List<Item>> Lazy;
    public static List<WeakReference<Item>> WeakReferences;
    public static List<Task<Item>> Tasks;
    public static List<Action> Actions;
    public static StringBuilder Builder;
    public static ConditionalWeakTable<object, Item> WeakTable;
    public static readonly ThreadLocal<List<Item>> ThreadLocal = new(() => new List<Item>());
    public static LinkedList<(string, Item)> LeastRecentlyUsed;
    public static Dictionary<string, LinkedListNode<(string, Item)>> ByKey;
}

static class Program
{
    const int Count = 4000, Values = 200_000;
    static readonly List<object> keys = new();
    static readonly List<string> said = new();

    static IEnumerable<Item> Items => Enumerable.Range(0, Count).Select(_ => new Item());
    static IEnumerable<KeyValuePair<string, Item>> Named => Enumerable.Range(0, Count).Select(i => KeyValuePair.Create("key " + i, new Item()));
    static IEnumerable<string> Texts => Enumerable.Range(0, Count).Select(i => new string('a', 500) + i);

    static void Say(string field, string text) => said.Add($"\"{field}\": \"{text.Replace("×", "\\u00d7")}\"");

    static void One()
    {
        Kept.List = Items.ToList();
        Say("List", "List<Shop.Item>: 4,000 × Shop.Item");
        Kept.ListOfNodes = Items.Select(_ => new Item.Node()).ToList();
        Say("ListOfNodes", "List<Shop.Item+Node>: 4,000 × Shop.Item+Node");
        Kept.DictionaryOfEntries = Named.ToDictionary(one => one.Key, _ => new Item.Entry());
        Say("DictionaryOfEntries", "Dictionary<String, Shop.Item+Entry>: 4,000 × Shop.Item+Entry");
        Kept.ConcurrentOfNodes = new(Enumerable.Range(0, Count).Select(i => KeyValuePair.Create(i, new Item.Node())));
        Say("ConcurrentOfNodes", "ConcurrentDictionary<Int32, Shop.Item+Node>: 4,000 × Shop.Item+Node");
        Kept.ListOfArrays = Items.Select(_ => new byte[1000]).ToList();
        Say("ListOfArrays", "List<Byte[]>: 4,000 × Byte[]");
        Kept.DictionaryOfArrays = Enumerable.Range(0, Count).ToDictionary(i => i, _ => new int[250]);
        Say("DictionaryOfArrays", "Dictionary<Int32, Int32[]>: 4,000 × Int32[]");
        Kept.DictionaryOfLists = Enumerable.Range(0, Count).ToDictionary(i => i, _ => new List<Item> { new() });
        Say("DictionaryOfLists", "Dictionary<Int32, List<Shop.Item>>: 4,000 × List<Shop.Item>");
        Kept.DictionaryOfTuples = Enumerable.Range(0, Count).ToDictionary(i => i, i => ("name " + i, new Item()));
        Say("DictionaryOfTuples", "4,000 × Shop.Item");
        Kept.DictionaryOfDictionaries = Enumerable.Range(0, Count).ToDictionary(i => i, i => new Dictionary<int, Item> { [i] = new() });
        Say("DictionaryOfDictionaries", "4,000 × Dictionary<Int32, Shop.Item>");
        Kept.DictionaryOfValues = Enumerable.Range(0, Values).ToDictionary(i => (long)i, i => (long)i);
        Say("DictionaryOfValues", "Dictionary<Int64, Int64>: 200,000 entries");
        Kept.ConcurrentOfValues = new(Enumerable.Range(0, Values).Select(i => KeyValuePair.Create((long)i, (long)i)));
        Say("ConcurrentOfValues", "ConcurrentDictionary<Int64, Int64>: 200,000 entries");
        Kept.HashSet = Texts.ToHashSet();
        Say("HashSet", "HashSet<String>: 4,000 × String");
        Kept.Queue = new(Items);
        Say("Queue", "Queue<Shop.Item>: 4,000 × Shop.Item");
        Kept.QueueOfValues = new(Enumerable.Range(0, 3 * Values).Select(i => (long)i));
        Say("QueueOfValues", "Queue<Int64>: 600,000 entries");
        Kept.Stack = new(Items);
        Say("Stack", "Stack<Shop.Item>: 4,000 × Shop.Item");
        Kept.LinkedList = new(Items);
        Say("LinkedList", "LinkedList<Shop.Item>: 4,000 × Shop.Item");
        Kept.LinkedListOfValues = new(Enumerable.Range(0, Values).Select(i => (long)i));
        Say("LinkedListOfValues", "LinkedList<Int64>: 200,000 entries");
        Kept.SortedDictionary = new(Enumerable.Range(0, Count).ToDictionary(i => i, _ => new Item()));
        Say("SortedDictionary", "SortedDictionary<Int32, Shop.Item>: 4,000 × Shop.Item");
        Kept.SortedList = new(Enumerable.Range(0, Count).ToDictionary(i => i, _ => new Item()));
        Say("SortedList", "SortedList<Int32, Shop.Item>: 4,000 × Shop.Item");
        Kept.SortedSet = new(Texts);
        Say("SortedSet", "SortedSet<String>: 4,000 × String");
        Kept.PriorityQueue = new(Enumerable.Range(0, Count).Select(i => (new Item(), i)));
        Say("PriorityQueue", "PriorityQueue<Shop.Item, Int32>: 4,000 × Shop.Item");
        Kept.ArrayList = new(Items.ToArray());
        Say("ArrayList", "ArrayList: 4,000 × Shop.Item");
        Kept.Hashtable = new(Named.ToDictionary(one => one.Key, one => one.Value));
        Say("Hashtable", "Hashtable: 4,000 × Shop.Item");
        Kept.Observable = new(Items);
        Say("Observable", "4,000 × Shop.Item");
    }

    static void Two()
    {
        Kept.ConcurrentQueue = new(Items);
        Say("ConcurrentQueue", "ConcurrentQueue<Shop.Item>: 4,000 × Shop.Item");
        Kept.ConcurrentQueueOfValues = new(Enumerable.Range(0, Values).Select(i => (long)i));
        Say("ConcurrentQueueOfValues", "ConcurrentQueue<Int64>: 200,000 entries");
        Kept.ConcurrentStack = new(Items);
        Say("ConcurrentStack", "ConcurrentStack<Shop.Item>: 4,000 × Shop.Item");
        Kept.ConcurrentBag = new(Items);
        Say("ConcurrentBag", "ConcurrentBag<Shop.Item>: 4,000 × Shop.Item");
        Kept.Blocking = new();
        foreach (Item item in Items)
            Kept.Blocking.Add(item);
        Say("Blocking", "4,000 × Shop.Item");
        Kept.Channel = System.Threading.Channels.Channel.CreateUnbounded<Item>();
        foreach (Item item in Items)
            Kept.Channel.Writer.TryWrite(item);
        Say("Channel", "4,000 × Shop.Item");
        Kept.BoundedChannel = System.Threading.Channels.Channel.CreateBounded<Item>(Count);
        foreach (Item item in Items)
            Kept.BoundedChannel.Writer.TryWrite(item);
        Say("BoundedChannel", "4,000 × Shop.Item");
        Kept.ImmutableList = Items.ToImmutableList();
        Say("ImmutableList", "4,000 × Shop.Item");
        Kept.ImmutableDictionary = Named.ToImmutableDictionary();
        Say("ImmutableDictionary", "4,000 × Shop.Item");
        Kept.ImmutableSorted = Enumerable.Range(0, Count).ToImmutableSortedDictionary(i => i, _ => new Item());
        Say("ImmutableSorted", "4,000 × Shop.Item");
        Kept.ImmutableArray = Items.ToImmutableArray();
        Say("ImmutableArray", "4,000 × Shop.Item");
        Kept.ImmutableHashSet = Texts.ToImmutableHashSet();
        Say("ImmutableHashSet", "4,000 × String");
        Kept.Frozen = Named.ToFrozenDictionary();
        Say("Frozen", "4,000 × Shop.Item");
        Kept.Array = Items.ToArray();
        Say("Array", "Shop.Item[]: 4,000 × Shop.Item");
        Kept.Table = new Item[Count / 2, 2];
        for (int i = 0; i < Count; ++i)
            Kept.Table[i / 2, i % 2] = new Item();
        Say("Table", "4,000 × Shop.Item");
        Kept.Jagged = Items.Select(_ => new byte[1000]).ToArray();
        Say("Jagged", "Byte[][]: 4,000 × Byte[]");
        Kept.Lazy = new(() => Items.ToList());
        _ = Kept.Lazy.Value;
        Say("Lazy", "List<Shop.Item>: 4,000 × Shop.Item");
        Kept.WeakReferences = Enumerable.Range(0, Values).Select(_ => new WeakReference<Item>(new Item())).ToList();
        Say("WeakReferences", "List<WeakReference<Shop.Item>>: 200,000 × WeakReference<Shop.Item>");
        Kept.Tasks = Items.Select(Task.FromResult).ToList();
        Say("Tasks", "List<Task<Shop.Item>>: 4,000 × Task<Shop.Item>");
        Kept.Actions = Items.Select(item => (Action)(() => item.Text[0]++)).ToList();
        Say("Actions", "List<Action>: 4,000 × Action");
        Kept.Builder = new();
        foreach (string text in Texts)
            Kept.Builder.Append(text);
        Say("Builder", "StringBuilder");
        Kept.WeakTable = new();
        foreach (Item item in Items)
        {
            keys.Add(new object());
            Kept.WeakTable.Add(keys[^1], item);
        }
        Say("keys", "4,000 × Object, 1.1 KiB each, each with what dependent handles keep for it: the ConditionalWeakTable of static Shop.Kept.WeakTable");
        Kept.ThreadLocal.Value.AddRange(Items);
        Say("ThreadLocal", "4,000 × Shop.Item");
        Kept.LeastRecentlyUsed = new();
        Kept.ByKey = new();
        foreach (var (key, item) in Named)
            Kept.ByKey[key] = Kept.LeastRecentlyUsed.AddLast((key, item));
        Say("ByKey", "3,999 × LinkedListNode<ValueTuple<String, Shop.Item>>"); // the last one is the list's head, too
    }

    static void Main(string[] arguments)
    {
        if (arguments[0] == "one")
            One();
        else
            Two();
        GC.Collect();
        GC.WaitForPendingFinalizers();
        GC.Collect();
        Truth.Print($"\"said\": {{{string.Join(", ", said)}}}");
        Truth.Wait();
        GC.KeepAlive(keys);
    }
}
