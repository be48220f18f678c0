# SPDX-License-Identifier: Apache-2.0
"""An SQLite database in memory. limit > 0: rows beyond the limit are deleted, oldest first, as new
ones come (churn at a bounded size). limit=0: rows are only added.
"""
import sqlite3

from steps import Job

job = Job(rows=50, row_kb=2.0, limit=10000)
database = sqlite3.connect(":memory:")
database.execute("create table sample (id integer primary key, step integer, body blob)")
database.execute("create index by_step on sample (step)")
for step in job:
    for _ in range(int(job.rows * job.random.uniform(0.5, 1.5))):
        size = int(job.row_kb * 1024 * job.random.uniform(0.3, 1.7))
        database.execute("insert into sample (step, body) values (?, zeroblob(?))", (step, size))
        if not job.limit:
            job.leak(size)
    if job.limit:
        count = database.execute("select count(*) from sample").fetchone()[0]
        if count > job.limit:
            database.execute("delete from sample where id in "
                             "(select id from sample order by id limit ?)", (count - job.limit,))
            job.growth_ends(step)
    database.execute("select avg(length(body)) from sample where step > ?", (step - 20,)).fetchone()
    database.commit()
