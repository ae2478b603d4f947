// "pending": by method, how many of its calls are pending, each once, whatever combines them; "behind": of which method each of the
// innermost ones is on a stack, by what it is called in.
using System;
using System.Collections.Generic;
using System.Linq;
using System.Runtime.CompilerServices;
using System.Threading.Tasks;

static class Combined
{
    // Awaiters of a library's own: one keeps the task's awaiter as an object, one is an object itself.
    struct Boxed : ICriticalNotifyCompletion
    {
        object awaiter;
        Func<object, bool> isCompleted;
        public static Boxed Of(Task task) => new() { awaiter = task.GetAwaiter(), isCompleted = it => ((TaskAwaiter)it).IsCompleted };
        public Boxed GetAwaiter() => this;
        public bool IsCompleted => isCompleted(awaiter);
        public void GetResult() { }
        public void OnCompleted(Action next) => ((TaskAwaiter)awaiter).OnCompleted(next);
        public void UnsafeOnCompleted(Action next) => ((TaskAwaiter)awaiter).UnsafeOnCompleted(next);
    }
    class OfClass : ICriticalNotifyCompletion
    {
        TaskAwaiter awaiter;
        public OfClass(Task task) => awaiter = task.GetAwaiter();
        public OfClass GetAwaiter() => this;
        public bool IsCompleted => awaiter.IsCompleted;
        public void GetResult() { }
        public void OnCompleted(Action next) => awaiter.OnCompleted(next);
        public void UnsafeOnCompleted(Action next) => awaiter.UnsafeOnCompleted(next);
    }

    static async Task Inner() => await gate.Task;
    static async Task ByBoxed() => await Boxed.Of(Inner());
    static async Task ByClass() => await new OfClass(Inner());
    static async Task Outer(Task one) => await one;

    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder))]
    static async ValueTask Pooled() => await gate.Task;
    static async Task AsTask() => await Pooled().AsTask();
    static async Task Preserved()
    {
        ValueTask one = Pooled().Preserve();
        await one;
    }
    static async Task Limited() => await Pooled().AsTask().WaitAsync(TimeSpan.FromHours(1));
    static async Task Both() => await Task.WhenAll(Pooled().AsTask(), Pooled().AsTask());

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
        var behind = new Dictionary<string, Func<Task>>
            { ["ByBoxed"] = ByBoxed, ["ByClass"] = ByClass, ["AsTask"] = AsTask, ["Preserved"] = Preserved, ["Limited"] = Limited, ["Both"] = Both };
        foreach (Func<Task> one in behind.Values)
            kept.Add(Outer(one()));
        var count = new Dictionary<string, int>
            { ["Leaf"] = leaves, ["All"] = alls, ["Any"] = anys, ["Shared"] = shared, ["After"] = afters, ["Inner"] = 2, ["Pooled"] = 5, ["Outer"] = behind.Count };
        foreach (string name in behind.Keys)
            count.Add(name, 1);
        return "\"pending\": {" + string.Join(", ", count.Select(one => $"\"Combined.{one.Key}\": {one.Value}")) + "}, \"behind\": {" +
               string.Join(", ", behind.Keys.Select(name => $"\"Combined.{name}\": \"Combined.{(name.StartsWith("By") ? "Inner" : "Pooled")}\"")) + "}";
    }
}
