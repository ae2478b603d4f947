-- Which signature grew across the fleet since the last deploy? Of each service's last version, in each pod from its first dump to its last:
-- by 1 MiB and a fifth or more, in half of the pods or more. What a first dump did not list had at most what `limits` says.
with ends as (
  select service, version, pod, first(dump order by taken, dump) as first_dump, last(dump order by taken, dump) as last_dump,
    (epoch(max(taken)) - epoch(min(taken)))::bigint as seconds
  from whole_dumps join deploys using (service, version)
  where is_last
  group by service, version, pod
  having max(taken) > min(taken)
), growth as (
  select service, version, pod, seconds, after.what, after.key, after.name, coalesce(before.bytes, most) as bytes_before, after.bytes as bytes_after
  from ends
  join measures as after on after.dump = last_dump
  join limits on limits.dump = first_dump and limits.what = after.what
  left join measures as before on before.dump = first_dump and before.what = after.what and before.key = after.key
)
select service, version, what, key, max(name) as name, count(*) as pods, any_value(of_pods) as of_pods,
  sum(bytes_after - bytes_before)::bigint as bytes, (sum(bytes_after - bytes_before) * 3600 // sum(seconds))::bigint as bytes_per_hour
from growth join (select service, count(*) as of_pods from ends group by service) using (service)
where bytes_after - bytes_before >= 1048576 and 5 * (bytes_after - bytes_before) >= bytes_before
group by service, version, what, key
having 2 * count(*) >= any_value(of_pods)
order by bytes desc, service, what, key;
