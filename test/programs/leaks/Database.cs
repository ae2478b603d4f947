// Jobs that are done, each with a connection that nobody disposed of.
using System.Collections.Generic;

namespace Shop;

sealed class ShopConnection : OwnConnection
{
    readonly byte[] packet = new byte[20_000];
    public override string ServerVersion => packet.Length.ToString();
}

sealed class ReportJob
{
    public static readonly Queue<ReportJob> Done = new(2048);
    readonly ShopConnection connection = new();
    readonly int number;
    public ReportJob(int number)
    {
        this.number = number;
        connection.Open();
    }
}
