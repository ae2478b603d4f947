// Jobs that are done, each with a connection that nobody disposed of.
using System.Collections.Generic;
using System.Data;
using System.Data.Common;

namespace Shop;

sealed class ShopConnection : DbConnection
{
    readonly byte[] packet = new byte[20_000];
    ConnectionState state;
    public override void Open() => state = ConnectionState.Open;
    public override void Close() => state = ConnectionState.Closed;
    public override ConnectionState State => state;
    public override string ConnectionString { get; set; }
    public override string Database => "";
    public override string DataSource => "";
    public override string ServerVersion => packet.Length.ToString();
    public override void ChangeDatabase(string name) { }
    protected override DbTransaction BeginDbTransaction(IsolationLevel level) => null;
    protected override DbCommand CreateDbCommand() => null;
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
