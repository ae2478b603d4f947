// A library's connection to a database, as ADO.NET has it. Of ../leaks, too.
using System.Data;
using System.Data.Common;

class OwnConnection : DbConnection
{
    ConnectionState state;
    public override void Open() => state = ConnectionState.Open;
    public override void Close() => state = ConnectionState.Closed;
    public override ConnectionState State => state;
    public override string ConnectionString { get; set; }
    public override string Database => "";
    public override string DataSource => "";
    public override string ServerVersion => "";
    public override void ChangeDatabase(string name) { }
    protected override DbTransaction BeginDbTransaction(IsolationLevel level) => null;
    protected override DbCommand CreateDbCommand() => null;
}
