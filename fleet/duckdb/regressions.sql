-- What became larger with a version? The medians of all dumps of a version and of the one before: by 1 MiB and by half or more. What a dump's
-- list leaves out is taken for nothing after, and for the most that it may be before.
with keys as (
  select service, what, key, max(name) as name
  from whole_dumps join measures using (dump) group by service, what, key
), levels as (
  select whole_dumps.service, whole_dumps.version, keys.what, keys.key, any_value(keys.name) as name,
    quantile_disc(coalesce(bytes, 0), 0.5) as at_least, quantile_disc(coalesce(bytes, most), 0.5) as at_most, count(*) as dumps
  from whole_dumps
  join keys on keys.service = whole_dumps.service
  join limits on limits.dump = whole_dumps.dump and limits.what = keys.what
  left join measures on measures.dump = whole_dumps.dump and measures.what = keys.what and measures.key = keys.key
  group by whole_dumps.service, whole_dumps.version, keys.what, keys.key
)
select deploys.service, deploys.version, earlier.version as earlier, after.what, after.key, after.name,
  before.at_most as bytes_before, after.at_least as bytes_after, after.dumps
from deploys
join deploys as earlier on earlier.service = deploys.service and deploys.number = earlier.number + 1
join levels as after on after.service = deploys.service and after.version = deploys.version
join levels as before on before.service = earlier.service and before.version = earlier.version
  and before.what = after.what and before.key = after.key
where after.at_least - before.at_most >= 1048576 and 2 * (after.at_least - before.at_most) >= before.at_most
order by bytes_after - bytes_before desc, service, version, what, key;
