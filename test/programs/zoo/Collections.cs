// The framework's collections, over own and framework types.
using System;
using System.Collections;
using System.Collections.Concurrent;
using System.Collections.Generic;
using System.Collections.Immutable;
using System.Linq;

namespace Zoo
{
    static class Collections
    {
        public static void Make()
        {
            int[] numbers = Enumerable.Range(0, 50).ToArray();
            string[] words = numbers.Select(n => "word " + n).ToArray();

            Truth.Keep(new Dictionary<string, int>(words.Select((w, n) => KeyValuePair.Create(w, n))));
            Truth.Keep(new Dictionary<int, Mixed>(numbers.Select(n => KeyValuePair.Create(n, new Mixed()))));
            Truth.Keep(new Dictionary<(int, string), Color?> { [(1, "one")] = Color.Red });
            Truth.Keep(new ConcurrentDictionary<string, Node>(words.Select(w => KeyValuePair.Create(w, new Node()))));
            Truth.Keep(new Queue<Node>(words.Select(_ => new Node())));
            Truth.Keep(new Stack<Guid>(new Guid[9]));
            Truth.Keep(new HashSet<string>(words));
            Truth.Keep(new SortedDictionary<int, string> { [3] = "c", [1] = "a", [2] = "b" });
            Truth.Keep(new SortedList<string, Node> { ["a"] = new Node() });
            Truth.Keep(new SortedSet<int>(numbers));
            Truth.Keep(new LinkedList<string>(words));
            Truth.Keep(new PriorityQueue<Node, int>(numbers.Select(n => (new Node(), n))));
            Truth.Keep(new ConcurrentQueue<Mixed>(new Mixed[100]));
            Truth.Keep(new ConcurrentBag<int>(numbers));
            Truth.Keep(new BlockingCollection<Node> { new Node() });
            Truth.Keep(words.ToImmutableList());
            Truth.Keep(words.ToImmutableArray());
            Truth.Keep(words.ToImmutableDictionary(w => w, w => w.Length));
            Truth.Keep(numbers.ToImmutableSortedSet());
            Truth.Keep(new ArrayList { 1, "two", new Node() });
            Truth.Keep(new Hashtable { ["key"] = new Node() });
            Truth.Keep(new BitArray(77));
            Truth.Keep(words.ToLookup(w => w.Length));
            Truth.Keep(words.Where(w => w.Length > 6));
        }
    }
}
