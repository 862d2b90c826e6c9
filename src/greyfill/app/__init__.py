"""The local page: drop a table, see its holes, fill them, look at the fills, take them home.

```
browser ── guard ──> routes ──> session ──> worker ──> workbench
           token, Host, Origin,  a table,    a process   reads, fills, explains, writes; the same
           sizes, patience       its state   a table     calls as the command's
```

* `server`: binds 127.0.0.1, prints the address with its token, runs until somebody ends it;
* `private_folder`: where uploads and downloads are while it runs, and who removes them;
* `guard`: what is refused before any route is asked, and the headers of each answer;
* `routes`: the addresses, a few lines each;
* `session`: one table of one page: its process, what it does just now, and how far it is;
* `worker`: that process. It ends with the server, however that ends, and removes the folder;
* `workbench`: what is done in it, by the functions of `greyfill.jobs`;
* `questions`: each guess and finding as a question with answers, which are choices;
* `choices`: what the page chose, as the options of the command, and as a line to run it again.

The server never reads a table, and imports neither polars nor numba: it answers while a worker
fills, and to cancel is to kill a process. Needs the extra ``app``.
"""
