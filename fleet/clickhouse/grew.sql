-- Which signature grew across the fleet since the last deploy? Of each service's last version, in each pod from its first dump to its last:
-- by 1 MiB and a fifth or more, in half of the pods or more. What a first dump did not list had at most what `limits` says.
with ends as (
  select service, version, pod, argMin(dump, (taken, dump)) as first_dump, argMax(dump, (taken, dump)) as last_dump,
    dateDiff('second', min(taken), max(taken)) as seconds
  from fleet.whole_dumps
  where (service, version) in (select service, version from fleet.deploys where is_last)
  group by service, version, pod
  having seconds > 0
), pods as (
  select service, count() as of_pods from ends group by service
), growth as (
  select ends.service as service, ends.version as version, ends.seconds as seconds, after.what as what, after.key as key, after.name as name,
    coalesce(before.bytes, limits.most) as bytes_before, after.bytes as bytes_after
  from ends
  join fleet.measures as after on after.dump = ends.last_dump
  join fleet.limits as limits on limits.dump = ends.first_dump and limits.what = after.what
  left join fleet.measures as before on before.dump = ends.first_dump and before.what = after.what and before.key = after.key
)
select growth.service as service, version, what, key, max(name) as name, count() as pods, any(pods.of_pods) as of_pods,
  sum(bytes_after - bytes_before) as bytes, intDiv(bytes * 3600, sum(seconds)) as bytes_per_hour
from growth join pods on pods.service = growth.service
where bytes_after - bytes_before >= 1048576 and 5 * (bytes_after - bytes_before) >= bytes_before
group by service, version, what, key
having 2 * pods >= of_pods
order by bytes desc, service, what, key
settings join_use_nulls = 1;
