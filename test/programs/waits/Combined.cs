// "pending": by method, how many of its calls are pending, each once, whatever combines them.
using System;
using System.Collections.Generic;
using System.Linq;
using System.Threading.Tasks;

static class Combined
{
    static readonly List<object> kept = new();
    static readonly TaskCompletionSource gate = new();
    static int leaves, alls, anys, shared, afters;

    static async Task Leaf()
    {
        leaves++;
        await gate.Task;
    }
    static async Task All(Task[] of)
    {
        alls++;
        await Task.WhenAll(of);
    }
    static async Task Any(Task[] of)
    {
        anys++;
        await Task.WhenAny(of).ConfigureAwait(false);
    }
    // Several await the same one.
    static async Task Shared(Task one)
    {
        shared++;
        await one;
    }
    static async Task After(Task one)
    {
        afters++;
        await one.ContinueWith(_ => Task.CompletedTask).Unwrap();
    }
    static Task[] Leaves(int count) => Enumerable.Range(0, count).Select(_ => Leaf()).ToArray();

    public static string Run()
    {
        for (int i = 0; i < 10; i++)
        {
            kept.Add(All(Leaves(3)));
            Task[] several = Leaves(4);
            kept.Add(Any(several));
            kept.Add(All(several)); // the same ones
            Task one = Leaf();
            for (int k = 0; k < 5; k++)
                kept.Add(Shared(one));
            kept.Add(After(Leaf()));
            kept.Add(Task.WhenAll(Leaves(2)).ContinueWith(_ => { }));
        }
        var count = new Dictionary<string, int>
            { ["Leaf"] = leaves, ["All"] = alls, ["Any"] = anys, ["Shared"] = shared, ["After"] = afters };
        return "\"pending\": {" + string.Join(", ", count.Select(one => $"\"Combined.{one.Key}\": {one.Value}")) + "}";
    }
}
