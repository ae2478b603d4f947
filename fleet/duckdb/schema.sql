-- Records of `dnheap summary` as tables, for DuckDB. They are taken from below records/, or from where the variable `records` says:
--   set variable records = 'store/2026-*.ndjson';
-- A dump lies in …/SERVICE/VERSION/POD/FILE, and is told by these four: of several records of one dump one counts, and none that is an error
-- beside one that is not. Whoever keeps dumps elsewhere changes `place` below.
create or replace temp macro place(path) as string_split(replace(path, '\', '/'), '/');

create or replace table dumps as
with records as (
  select *, place(target.path) as place
  from read_json(coalesce(getvariable('records'), 'records/**/*.ndjson'), format = 'newline_delimited', columns = {
    schema: 'varchar', dnheap_version: 'varchar', error: 'varchar', taken: 'bigint', clock: 'varchar',
    target: 'struct(path varchar, os varchar, architecture varchar, runtime varchar, version varchar, gc struct(server boolean, heaps ubigint))',
    completeness: 'struct(objects ubigint, bytes ubigint, complete boolean, notes varchar[])',
    verdict: 'varchar', verdict_text: 'varchar', hang: 'varchar', hang_text: 'varchar',
    unreachable_bytes: 'ubigint', waste_bytes: 'ubigint', owners_count: 'ubigint', types_count: 'ubigint', threads_count: 'ubigint',
    account: 'struct(class varchar, "group" varchar, bytes ubigint)[]',
    owners: 'struct(signature varchar, kind varchar, owner varchar, retained ubigint, objects ubigint)[]',
    types: 'struct(type varchar, count ubigint, bytes ubigint)[]',
    waste: 'struct(kind varchar, what varchar, field varchar, count ubigint, bytes ubigint)[]',
    threads: 'struct(method varchar, count ubigint)[]'})
)
select
  array_to_string(place[-4:], '/') as dump,
  coalesce(place[-4], '') as service, coalesce(place[-3], '') as version, coalesce(place[-2], '') as pod, place[-1] as file,
  target.path, make_timestamp(taken * 1000000) as taken, clock, dnheap_version,
  if(schema = 'dnheap-summary/1', error, 'the record is ' || coalesce(schema, 'none') || ', not dnheap-summary/1') as error,
  target.os, target.architecture, target.runtime, target.version as runtime_version, target.gc.server as server_gc, target.gc.heaps,
  completeness.complete, completeness.notes, completeness.objects, completeness.bytes as heap_bytes,
  verdict, verdict_text, hang, hang_text, unreachable_bytes, waste_bytes, owners_count, types_count, threads_count,
  account, owners, types, waste, threads
from records
qualify row_number() over (partition by place[-4:] order by error is null desc, records.taken desc nulls last, target.path) = 1;

-- One row for each of a dump's lists. The row (rest) stands for what a list leaves out.
create or replace view owners as select dump, service, version, pod, taken, unnest(owners, recursive := true) from dumps;
create or replace view types as select dump, service, version, pod, taken, unnest(types, recursive := true) from dumps;
create or replace view account as select dump, service, version, pod, taken, unnest(account, recursive := true) from dumps;
create or replace view waste as select dump, service, version, pod, taken, unnest(waste, recursive := true) from dumps;
create or replace view threads as select dump, service, version, pod, taken, unnest(threads, recursive := true) from dumps;

-- What the questions compare: dumps that are whole and whose time is known, …
create or replace view whole_dumps as
select dump, service, version, pod, taken from dumps where error is null and complete and taken is not null;

-- … the versions of each service in the order in which they came, …
create or replace view deploys as
select service, version, min(taken) as since,
  row_number() over (partition by service order by min(taken), version) as number,
  row_number() over (partition by service order by min(taken) desc, version desc) = 1 as is_last
from whole_dumps group by service, version;

-- … and bytes, by names that other dumps of the program share. Not what waits for a collection, nor what is only reserved.
create or replace view measures as
select dump, 'owner' as what, signature as key, max(owner) as name, sum(retained)::bigint as bytes
from owners where signature is not null and kind <> 'unreachable' group by dump, signature
union all
select dump, 'type', type, type, sum(bytes)::bigint
from types where type not in ('(rest)', 'Free') group by dump, type
union all
select dump, 'memory', class, class, bytes::bigint
from account where class not in ('dead_objects', 'free_objects', 'reserved');

-- What a list leaves out is no larger than the smallest that it has.
create or replace view limits as
select dump, 'owner' as what, if(bool_or(signature is null), min(retained), 0)::bigint as most
from owners group by dump
union all
select dump, 'type', if(bool_or(type = '(rest)'), min(bytes) filter (type <> '(rest)'), 0)::bigint
from types group by dump
union all
select dump, 'memory', 0 from dumps;
