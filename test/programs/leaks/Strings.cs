using System.Collections.Generic;

namespace Shop;

sealed class Quote
{
    public readonly long Number;
    public string Currency; // of which there are few
    public Quote(long number) => Number = number;
}

static class Quotes
{
    public static readonly List<Quote> All = new();
}
