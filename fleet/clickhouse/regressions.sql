-- What became larger with a version? The medians of all dumps of a version and of the one before: by 1 MiB and by half or more. What a dump's
-- list leaves out is taken for nothing after, and for the most that it may be before.
with keys as (
  select whole_dumps.service as service, measures.what as what, measures.key as key, max(measures.name) as name
  from fleet.whole_dumps as whole_dumps join fleet.measures as measures on measures.dump = whole_dumps.dump
  group by service, what, key
), levels as (
  select whole_dumps.service as service, whole_dumps.version as version, keys.what as what, keys.key as key, any(keys.name) as name,
    quantileExactLow(0.5)(coalesce(measures.bytes, 0)) as at_least, quantileExactLow(0.5)(coalesce(measures.bytes, limits.most)) as at_most,
    count() as dumps
  from fleet.whole_dumps as whole_dumps
  join keys on keys.service = whole_dumps.service
  join fleet.limits as limits on limits.dump = whole_dumps.dump and limits.what = keys.what
  left join fleet.measures as measures on measures.dump = whole_dumps.dump and measures.what = keys.what and measures.key = keys.key
  group by service, version, what, key
)
select deploys.service as service, deploys.version as version, earlier.version as earlier, after.what as what, after.key as key,
  after.name as name, before.at_most as bytes_before, after.at_least as bytes_after, after.dumps as dumps
from fleet.deploys as deploys
join fleet.deploys as earlier on earlier.service = deploys.service and deploys.number = earlier.number + 1
join levels as after on after.service = deploys.service and after.version = deploys.version
join levels as before on before.service = earlier.service and before.version = earlier.version
  and before.what = after.what and before.key = after.key
where bytes_after - bytes_before >= 1048576 and 2 * (bytes_after - bytes_before) >= bytes_before
order by bytes_after - bytes_before desc, service, version, what, key
settings join_use_nulls = 1;
