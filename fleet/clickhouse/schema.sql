-- Records of `dnheap summary` as tables, for ClickHouse. Each line that is put into `records` becomes a row of `dumps`:
--   clickhouse-client --query "insert into fleet.records format LineAsString" < store.ndjson
-- A dump lies in …/SERVICE/VERSION/POD/FILE, and is told by these four: of several records of one dump the last one counts, but none that is an
-- error beside one that is not. Whoever keeps dumps elsewhere changes `place` below.
create database if not exists fleet;

create table if not exists fleet.records (line String) engine = Null;

create table if not exists fleet.dumps (
  service LowCardinality(String), version LowCardinality(String), pod String, file String,
  path String, taken Nullable(DateTime('UTC')), clock LowCardinality(String), dnheap_version LowCardinality(String),
  error String, is_read UInt8,
  os LowCardinality(String), architecture LowCardinality(String), runtime LowCardinality(String), runtime_version LowCardinality(String),
  server_gc Bool, heaps UInt64,
  complete Bool, notes Array(String), objects UInt64, heap_bytes UInt64,
  verdict LowCardinality(String), verdict_text String, hang LowCardinality(String), hang_text String,
  unreachable_bytes UInt64, waste_bytes Nullable(UInt64), owners_count UInt64, types_count UInt64, threads_count UInt64,
  account Array(Tuple(class String, group String, bytes UInt64)),
  owners Array(Tuple(signature Nullable(String), kind String, owner String, retained UInt64, objects UInt64)),
  types Array(Tuple(type String, count UInt64, bytes UInt64)),
  waste Array(Tuple(kind String, what Nullable(String), field Nullable(String), count UInt64, bytes UInt64)),
  threads Array(Tuple(method Nullable(String), count UInt64)),
  dump String alias concat(service, '/', version, '/', pod, '/', file)
) engine = ReplacingMergeTree(is_read) order by (service, version, pod, file);

create materialized view if not exists fleet.read_records to fleet.dumps as
with
  JSONExtractString(line, 'target', 'path') as path,
  arrayReverse(splitByChar('/', replaceAll(path, '\\', '/'))) as place,
  JSONExtractString(line, 'error') as error
select
  place[4] as service, place[3] as version, place[2] as pod, place[1] as file, path,
  toDateTime(JSONExtract(line, 'taken', 'Nullable(Int64)'), 'UTC') as taken,
  JSONExtractString(line, 'clock') as clock, JSONExtractString(line, 'dnheap_version') as dnheap_version,
  error, error = '' as is_read,
  JSONExtractString(line, 'target', 'os') as os, JSONExtractString(line, 'target', 'architecture') as architecture,
  JSONExtractString(line, 'target', 'runtime') as runtime, JSONExtractString(line, 'target', 'version') as runtime_version,
  JSONExtractBool(line, 'target', 'gc', 'server') as server_gc, JSONExtractUInt(line, 'target', 'gc', 'heaps') as heaps,
  JSONExtractBool(line, 'completeness', 'complete') as complete, JSONExtract(line, 'completeness', 'notes', 'Array(String)') as notes,
  JSONExtractUInt(line, 'completeness', 'objects') as objects, JSONExtractUInt(line, 'completeness', 'bytes') as heap_bytes,
  JSONExtractString(line, 'verdict') as verdict, JSONExtractString(line, 'verdict_text') as verdict_text,
  JSONExtractString(line, 'hang') as hang, JSONExtractString(line, 'hang_text') as hang_text,
  JSONExtractUInt(line, 'unreachable_bytes') as unreachable_bytes, JSONExtract(line, 'waste_bytes', 'Nullable(UInt64)') as waste_bytes,
  JSONExtractUInt(line, 'owners_count') as owners_count, JSONExtractUInt(line, 'types_count') as types_count,
  JSONExtractUInt(line, 'threads_count') as threads_count,
  JSONExtract(line, 'account', 'Array(Tuple(class String, group String, bytes UInt64))') as account,
  JSONExtract(line, 'owners', 'Array(Tuple(signature Nullable(String), kind String, owner String, retained UInt64, objects UInt64))') as owners,
  JSONExtract(line, 'types', 'Array(Tuple(type String, count UInt64, bytes UInt64))') as types,
  JSONExtract(line, 'waste', 'Array(Tuple(kind String, what Nullable(String), field Nullable(String), count UInt64, bytes UInt64))') as waste,
  JSONExtract(line, 'threads', 'Array(Tuple(method Nullable(String), count UInt64))') as threads
from fleet.records
where throwIf(not isValidJSON(line) or JSONExtractString(line, 'schema') != 'dnheap-summary/1', 'not a record of dnheap summary, dnheap-summary/1') = 0;

-- One row for each of a dump's lists. The row (rest) stands for what a list leaves out.
create or replace view fleet.owners as
select dump, service, version, pod, taken, row.signature as signature, row.kind as kind, row.owner as owner, row.retained as retained, row.objects as objects
from fleet.dumps final array join owners as row;
create or replace view fleet.types as
select dump, service, version, pod, taken, row.type as type, row.count as count, row.bytes as bytes
from fleet.dumps final array join types as row;
create or replace view fleet.account as
select dump, service, version, pod, taken, row.class as class, row.group as group, row.bytes as bytes
from fleet.dumps final array join account as row;
create or replace view fleet.waste as
select dump, service, version, pod, taken, row.kind as kind, row.what as what, row.field as field, row.count as count, row.bytes as bytes
from fleet.dumps final array join waste as row;
create or replace view fleet.threads as
select dump, service, version, pod, taken, row.method as method, row.count as count
from fleet.dumps final array join threads as row;

-- What the questions compare: dumps that are whole and whose time is known, …
create or replace view fleet.whole_dumps as
select dump, service, version, pod, assumeNotNull(taken) as taken from fleet.dumps final where is_read and complete and taken is not null;

-- … the versions of each service in the order in which they came, …
create or replace view fleet.deploys as
select service, version, since,
  row_number() over (partition by service order by since, version) as number,
  row_number() over (partition by service order by since desc, version desc) = 1 as is_last
from (select service, version, min(taken) as since from fleet.whole_dumps group by service, version);

-- … and bytes, by names that other dumps of the program share. Not what waits for a collection, nor what is only reserved.
create or replace view fleet.measures as
select dump, 'owner' as what, assumeNotNull(signature) as key, max(owner) as name, toInt64(sum(retained)) as bytes
from fleet.owners where signature is not null and kind != 'unreachable' group by dump, signature
union all
select dump, 'type', type, type, toInt64(sum(bytes))
from fleet.types where type not in ('(rest)', 'Free') group by dump, type
union all
select dump, 'memory', class, class, toInt64(bytes)
from fleet.account where class not in ('dead_objects', 'free_objects', 'reserved');

-- What a list leaves out is no larger than the smallest that it has.
create or replace view fleet.limits as
select dump, 'owner' as what, toInt64(if(countIf(signature is null) > 0, min(retained), 0)) as most
from fleet.owners group by dump
union all
select dump, 'type', toInt64(if(countIf(type = '(rest)') > 0, minIf(bytes, type != '(rest)'), 0))
from fleet.types group by dump
union all
select dump, 'memory', toInt64(0) from fleet.dumps final;
