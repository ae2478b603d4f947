-- Which dumps do the other questions leave out, and why?
select service, version, pod, file,
  case when error is not null then error
       when not complete then 'the heap is not complete: ' || array_to_string(notes, '; ')
       else 'nobody says when it was taken' end as why
from dumps
where error is not null or not complete or taken is null
order by service, version, pod, file;
