namespace DnHeap;

/// <summary>What went wrong, by what can be done about it.</summary>
public enum HeapError
{
    /// <summary>The question is wrong, not the dump: an unknown option.</summary>
    WrongUsage = 2,
    /// <summary>It cannot be opened, understood or read.</summary>
    Cannot = 3,
    /// <summary>The question is right, but there is no such address or type.</summary>
    NotFound = 5,
    /// <summary>There is too little memory for this question.</summary>
    NoMemory = 6,
    /// <summary>An error of dnheap's: please report it.</summary>
    Internal = 7,
    /// <summary>It was cancelled.</summary>
    Interrupted = 130,
}

/// <summary>Whatever dnheap cannot do, in one sentence.</summary>
public sealed class HeapException(HeapError error, string message) : Exception(message)
{
    /// <summary>Which kind of error it is.</summary>
    public HeapError Error { get; } = error;
}
