-- Which pods differ from their siblings? Of the last dump of each pod, where a version of a service has three or more: twice the median, or
-- half of it, and 1 MiB away. What a pod's list leaves out is taken for nothing, or for the most that it may be, whichever differs less.
with last_dumps as (
  select service, version, pod, argMax(dump, (taken, dump)) as dump
  from fleet.whole_dumps group by service, version, pod
), siblings as (
  select *, count() over (partition by service, version) as pods from last_dumps
), keys as (
  select siblings.service as service, siblings.version as version, measures.what as what, measures.key as key, max(measures.name) as name
  from siblings join fleet.measures as measures on measures.dump = siblings.dump
  where siblings.pods >= 3
  group by service, version, what, key
), levels as (
  select siblings.service as service, siblings.version as version, siblings.pod as pod, siblings.pods as pods,
    keys.what as what, keys.key as key, keys.name as name,
    coalesce(measures.bytes, 0) as at_least, coalesce(measures.bytes, limits.most) as at_most
  from siblings
  join keys on keys.service = siblings.service and keys.version = siblings.version
  join fleet.limits as limits on limits.dump = siblings.dump and limits.what = keys.what
  left join fleet.measures as measures on measures.dump = siblings.dump and measures.what = keys.what and measures.key = keys.key
), compared as (
  select *,
    quantileExactLow(0.5)(at_least) over (partition by service, version, what, key) as median_at_least,
    quantileExactLow(0.5)(at_most) over (partition by service, version, what, key) as median_at_most
  from levels
)
select service, version, pod, what, key, name, if(at_least > median_at_most, 'more', 'less') as differs,
  if(at_least > median_at_most, at_least, at_most) as bytes,
  if(at_least > median_at_most, median_at_most, median_at_least) as median, pods
from compared
where at_least >= 2 * median_at_most and at_least - median_at_most >= 1048576
   or median_at_least >= 2 * at_most and median_at_least - at_most >= 1048576
order by abs(bytes - median) desc, service, version, pod, what, key
settings join_use_nulls = 1;
