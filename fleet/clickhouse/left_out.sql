-- Which dumps do the other questions leave out, and why?
select service, version, pod, file,
  multiIf(not is_read, error,
          not complete, concat('the heap is not complete: ', arrayStringConcat(notes, '; ')),
          'nobody says when it was taken') as why
from fleet.dumps final
where not is_read or not complete or taken is null
order by service, version, pod, file;
