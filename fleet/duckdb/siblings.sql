-- Which pods differ from their siblings? Of the last dump of each pod, where a version of a service has three or more: twice the median, or
-- half of it, and 1 MiB away. What a pod's list leaves out is taken for nothing, or for the most that it may be, whichever differs less.
with last_dumps as (
  select service, version, pod, last(dump order by taken, dump) as dump
  from whole_dumps group by service, version, pod
), siblings as (
  select *, count(*) over (partition by service, version) as pods from last_dumps
), keys as (
  select service, version, what, key, max(name) as name
  from siblings join measures using (dump) where pods >= 3 group by service, version, what, key
), levels as (
  select siblings.service, siblings.version, pod, pods, keys.what, keys.key, keys.name,
    coalesce(bytes, 0) as at_least, coalesce(bytes, most) as at_most
  from siblings
  join keys on keys.service = siblings.service and keys.version = siblings.version
  join limits on limits.dump = siblings.dump and limits.what = keys.what
  left join measures on measures.dump = siblings.dump and measures.what = keys.what and measures.key = keys.key
), medians as (
  select service, version, what, key, quantile_disc(at_least, 0.5) as median_at_least, quantile_disc(at_most, 0.5) as median_at_most
  from levels group by service, version, what, key
)
select service, version, pod, what, key, name, if(at_least > median_at_most, 'more', 'less') as differs,
  if(at_least > median_at_most, at_least, at_most) as bytes,
  if(at_least > median_at_most, median_at_most, median_at_least) as median, pods
from levels join medians using (service, version, what, key)
where at_least >= 2 * median_at_most and at_least - median_at_most >= 1048576
   or median_at_least >= 2 * at_most and median_at_least - at_most >= 1048576
order by abs(bytes - median) desc, service, version, pod, what, key;
