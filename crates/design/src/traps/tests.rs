//! For each kind of trap what is named, and what is nearly the same and is not.

use dynafold_dynamodb::price::{Prices, SHIPPED};
use dynafold_relational::catalog::sample::shop;
use dynafold_relational::catalog::{
    Catalog, Column, DataType, Dbms, ForeignKey, Index, ReferentialAction, Table, TableKind,
    TableName, UniqueKey,
};

use super::units_a_second;
use crate::{ColumnSample, Design, Limits, check_expiries, design, workload};

struct Case {
    kind: &'static str,
    /// A schema as [`schema`] reads it, and behind it a workload.
    named: &'static str,
    /// What a line of this kind says.
    says: &'static str,
    /// What makes a near miss, of which no line of the kind says anything, when it is put in the place of the first.
    silent: [&'static str; 2],
}

const CASES: &[Case] = &[
    Case {
        kind: "counter under contention",
        named: "counters 10: id, n\n-- bump (2500/s)\nUPDATE counters SET n = n + 1 WHERE id = :id;",
        says: "bump (counters.n, 2500/s)",
        silent: ["n = n + 1", "n = :n"],
    },
    Case {
        kind: "counter under contention",
        named: "votes 50000: id, poll distinct=10 most=5000
            -- tally (900/s)\nSELECT count(*) AS n FROM votes WHERE poll = :p;
            -- vote (5000/s)\nINSERT INTO votes (id, poll) VALUES (:i, :p);",
        says: "votes_by_poll (5000/s)",
        silent: ["5000/s", "500/s"],
    },
    Case {
        kind: "counter",
        named: "counters 1000: id, n\n-- bump (5/s)\nUPDATE counters SET n = n + 1 WHERE id = :id;",
        says: "bump (counters.n, 5/s)",
        silent: ["n = n + 1", "n = :n"],
    },
    Case {
        kind: "counter",
        named: "counters 1000: id, n
            -- bump (5/s)\nINSERT INTO counters (id, n) VALUES (:id, 1) ON CONFLICT (id) DO UPDATE SET n = counters.n + 1;",
        says: "bump (counters.n, 5/s)",
        silent: ["counters.n + 1", "excluded.n + 1"],
    },
    Case {
        kind: "counter under contention",
        named: "counters 9000: id, n\n-- bump (500/s)\nUPDATE counters SET n = n + :by WHERE id = 7;",
        says: "bump (counters.n, 500/s)",
        silent: ["id = 7", "id = :id"],
    },
    Case {
        kind: "hot key",
        named: "counters 9000: id, n
            -- bump (2500/s)\nINSERT INTO counters (id, n) VALUES (7, :n) ON CONFLICT (id) DO UPDATE SET n = counters.n + 1;",
        says: "bump (id in the table: about 2500 write units",
        silent: ["VALUES (7", "VALUES (:i"],
    },
    Case {
        kind: "upsert",
        named: "likes 3000: id, post distinct=300 most=90, at
            -- likesOf (15/s)\nSELECT id, at FROM likes WHERE post = :p ORDER BY at DESC, id DESC LIMIT 20;
            -- like (50/s)\nINSERT INTO likes (id, post, at) VALUES (:i, :p, :a) ON CONFLICT (id) DO UPDATE SET at = excluded.at;",
        says: "like (at and post)",
        silent: ["DO UPDATE SET at = excluded.at", "DO NOTHING"],
    },
    Case {
        kind: "hot key",
        named: "readings 2500: id, meter distinct=60 most=50
            -- ofMeter (1000000/s)\nSELECT id FROM readings WHERE meter = :m;",
        says: "ofMeter (meter in",
        silent: ["1000000/s", "100000/s"],
    },
    Case {
        kind: "hot key",
        named: "events 50000: id, kind distinct=9 most=9000, at
            -- latest (9000/s)\nSELECT id, kind FROM events ORDER BY at DESC, id DESC LIMIT 10;
            -- add (3000/s)\nINSERT INTO events (id, kind, at) VALUES (:i, :k, :a);",
        says: "add and latest (all of the table: about 750 write units and about 4500 read units",
        silent: ["9000/s", "900/s"],
    },
    Case {
        kind: "hot key",
        named: "events 36500: id, day date distinct=365 most=100, kind distinct=4 most=9200, n
            -- ofDay (1/s)\nSELECT id, n FROM events WHERE day = :d AND kind = :k;
            -- add (5000/s)\nINSERT INTO events (id, day, kind, n) VALUES (:i, CURRENT_DATE, :k, :n);",
        says: "add and ofDay (day and kind in the table: about 1260 write units",
        silent: ["CURRENT_DATE", ":day"],
    },
    Case {
        kind: "hot key",
        named: "events 36500: id, day date distinct=365 most=100, n
            -- ofDay (1/s)\nSELECT id, n FROM events WHERE day = :d;
            -- add (5000/s)\nINSERT INTO events (id, day, n) VALUES (:i, now()::date, :n);",
        says: "add and ofDay (day in the table: about 5000 write units",
        silent: ["day date", "day time"],
    },
    Case {
        kind: "all in one partition",
        named: "categories 50: id, name text\n-- all (1/s)\nSELECT id, name FROM categories ORDER BY name;",
        says: "all (in ",
        silent: [" ORDER BY", " WHERE id = :id ORDER BY"],
    },
    Case {
        kind: "all in one partition",
        named: "devices 50: id, seen, name text
            -- all (1/s)\nSELECT id, name FROM devices ORDER BY name;
            -- rename (0.01/s)\nUPDATE devices SET name = :n WHERE id = :id;",
        says: "all and rename (in ",
        silent: [" ORDER BY", " WHERE id = :id ORDER BY"],
    },
    Case {
        kind: "few distinct values",
        named: "members 1000: id, kind distinct=3 most=400\n-- ofKind (1/s)\nSELECT id FROM members WHERE kind = :k;",
        says: "ofKind (kind)",
        silent: ["distinct=3 most=400", "distinct=30 most=40"],
    },
    Case {
        kind: "skewed values",
        named: "members 1000: id, kind distinct=20 most=700\n-- ofKind (1/s)\nSELECT id FROM members WHERE kind = :k;",
        says: "ofKind (kind: 70 %)",
        silent: ["most=700", "most=70"],
    },
    Case {
        kind: "skewed values",
        named: "members 1000: id, kind distinct=20 most=700
            -- ofKind (1/s)\nSELECT id FROM members WHERE kind = 7 ORDER BY id LIMIT 9;",
        says: "such as `LIMIT :n`",
        silent: ["LIMIT 9", "LIMIT :n"],
    },
    Case {
        kind: "skewed values",
        named: "members 4000: id, team distinct=900 most=9, kind distinct=20 most=3900
            -- ofKind (1/s)\nSELECT id FROM members WHERE kind = :k;",
        says: "ofKind (kind: 98 %)",
        silent: ["WHERE kind = :k", "WHERE team = :t AND kind = :k"],
    },
    Case {
        kind: "large columns",
        named: "docs 1000: id, title text, body text longest=3000
            -- doc (1/s)\nSELECT * FROM docs WHERE id = :id;
            -- rename (50/s)\nUPDATE docs SET title = :t WHERE id = :id;",
        says: "`design` puts them into a second item for each row",
        silent: ["SET title", "SET body"],
    },
    Case {
        kind: "large columns",
        named: "docs 1000: id, title text, owner, body text longest=3000
            -- doc (1/s)\nSELECT * FROM docs WHERE id = :id AND owner = :o AND title <> 'x';
            -- rename (50/s)\nUPDATE docs SET title = :t WHERE id = :id;",
        says: "`design` puts them into a second item for each row",
        silent: ["SET title", "SET body"],
    },
    Case {
        kind: "large columns",
        named: "docs 1000: id, title text, body text longest=3000
            -- doc (1/s)\nSELECT * FROM docs WHERE id = :id;
            -- rename (0.5/s)\nUPDATE docs SET title = :t WHERE id = :id;",
        says: "body of docs: they take about 3004 of the item's",
        silent: ["longest=3000", "longest=500"],
    },
    Case {
        kind: "index on a column that changes often",
        named: "users 1000: id, phone text unique, seen time
            -- user (900/s, strong)\nSELECT * FROM users WHERE id = :id;
            -- byPhone (900/s)\nSELECT id, seen FROM users WHERE phone = :p;
            -- see (50/s)\nUPDATE users SET seen = :s WHERE id = :id;",
        says: "see changes entries of GSI1",
        silent: ["SELECT id, seen", "SELECT id"],
    },
    Case {
        kind: "expensive index",
        named: "users 1000: id, phone text unique
            -- user (900/s, strong)\nSELECT * FROM users WHERE id = :id;
            -- byPhone (0.001/s)\nSELECT id FROM users WHERE phone = :p;
            -- join (500/s)\nINSERT INTO users (id, phone) VALUES (:i, :p);",
        says: "GSI1, used by byPhone (costs 810.00 USD a month for 0.001 reads/s; as Scans of the whole table they would cost 0.00",
        silent: ["0.001/s", "100/s"],
    },
    Case {
        kind: "copies to keep up to date",
        named: "users 400: id, name text, size
            notes 800: id, author @users distinct=400 most=278
            -- note (50/s)\nSELECT n.id, u.name FROM notes n JOIN users u ON u.id = n.author WHERE n.id = :id;
            -- change (0.1/s)\nUPDATE users SET name = :n WHERE id = :id;",
        says: "change changes users.name: copies in about 2 items of notes (up to 278, no key finds them) cost 0.32 USD a month to update and serve note (8.10 USD a month)",
        silent: ["SET name", "SET size"],
    },
    Case {
        kind: "copies to keep up to date",
        named: "users 400: id, name text
            profiles 300: user_id unique, bio text
            -- user (50/s)\nSELECT u.id, p.bio FROM users u LEFT JOIN profiles p ON p.user_id = u.id WHERE u.id = :id;
            -- join (1/s)\nINSERT INTO profiles (user_id, bio) VALUES (:u, :b);",
        says: "join adds a row with profiles.bio: copies in an item of users",
        silent: ["p.bio", "u.name"],
    },
    Case {
        kind: "copies to keep up to date",
        named: "posts 4000: id, author distinct=400 most=20, title text
            pins 300: post_id, at time
            -- pinned (50/s)\nSELECT p.id, p.title FROM posts p JOIN pins q ON q.post_id = p.id WHERE p.author = :a;
            -- pin (1/s)\nINSERT INTO pins (post_id, at) VALUES (:p, :a);",
        says: "pin adds a row with pins.post_id: copies in an item of posts",
        silent: ["JOIN pins", "LEFT JOIN pins"],
    },
    Case {
        kind: "copies to keep up to date",
        named: "users 400: id, name text
            notes 800: id, author @users
            photos 1200: id, taker @users
            -- note (50/s)\nSELECT n.id, u.name FROM notes n JOIN users u ON u.id = n.author WHERE n.id = :id;
            -- photo (50/s)\nSELECT p.id, u.name FROM photos p JOIN users u ON u.id = p.taker WHERE p.id = :id;
            -- change (0.08/s)\nUPDATE users SET name = :n WHERE id = :id;",
        says: "change changes users.name: copies in about 2 items of notes (no key finds them) and about 3 items of photos (no key finds them) cost 0.65 USD a month to update and serve note and photo (16.20 USD a month)",
        silent: ["UPDATE users SET name = :n", "DELETE FROM users"],
    },
    Case {
        kind: "copies to keep up to date",
        named: "staff 400: id, boss distinct=20, size
            leaves 8000: id, staff @staff distinct=400 most=800, ended time null present=6000, at
            -- pending (50/s)\nSELECT l.id, l.at FROM leaves l JOIN staff s ON s.id = l.staff WHERE s.boss = :b AND l.ended IS NULL;
            -- move (1/s)\nUPDATE staff SET boss = :b WHERE id = :id;",
        says: "move changes staff.boss: copies in about 5 items of leaves (up to about 200",
        silent: ["SET boss", "SET size"],
    },
    Case {
        kind: "unbounded list",
        named: "events 5000: id, kind distinct=20 most=400\n-- ofKind (5/s)\nSELECT id FROM events WHERE kind = :k ORDER BY id;",
        says: "ofKind (up to 400 items): it has no LIMIT",
        silent: ["ORDER BY id", "ORDER BY id LIMIT 10"],
    },
    Case {
        kind: "unbounded list",
        named: "events 5000: id, team distinct=100 most=60, state text distinct=4 most=4000
            -- open (9/s)\nSELECT id FROM events WHERE team = :t AND state = 'open';
            -- add (1/s)\nINSERT INTO events (id, team, state) VALUES (:i, :t, 'open');",
        says: "open (about 15 items now, 1037 more a day)",
        silent: ["VALUES (:i, :t, 'open')", "VALUES (:i, :t, 'shut')"],
    },
    Case {
        kind: "unbounded list",
        named: "events 5000: id, team distinct=100 most=60, state text distinct=4 most=4000
            -- open (9/s)\nSELECT id FROM events WHERE team = :t AND state = 'open';
            -- add (2/s)\nINSERT INTO events (id, team, state) VALUES (:i, :t, 'open');
            -- close (1/s)\nUPDATE events SET state = 'shut' WHERE id = :i AND state = 'open';",
        says: "open (about 15 items now, 1037 more a day)",
        silent: ["close (1/s)", "close (2/s)"],
    },
    Case {
        kind: "unbounded list",
        named: "events 300: id, state text distinct=10 most=40
            -- inState (9/s)\nSELECT id FROM events WHERE state = :s;
            -- add (1/s)\nINSERT INTO events (id, state) VALUES (:i, 'open');
            -- close (1/s)\nUPDATE events SET state = 'shut' WHERE id = :i AND state = 'open';",
        says: "inState (up to 40 items now, 86400 more a day)",
        silent: ["UPDATE events SET state = 'shut' WHERE", "DELETE FROM events WHERE"],
    },
    Case {
        kind: "unbounded list",
        named: "events 5000: id, team distinct=100 most=60
            -- ofTeam (9/s)\nSELECT id FROM events WHERE team = :t;
            -- add (1/s)\nINSERT INTO events (id, team) VALUES (:i, :t);
            -- purge (0.1/s)\nDELETE FROM events WHERE id = :x;",
        says: "ofTeam (up to 60 items now, 933 more a day)",
        silent: ["WHERE id = :x", "WHERE team = :x"],
    },
    Case {
        kind: "unbounded list",
        named: "events 5000: id, team distinct=100 most=60, state text distinct=4 most=4000
            -- open (9/s)\nSELECT id FROM events WHERE team = :t AND state = 'open';
            -- add (1/s)\nINSERT INTO events (id, team, state) VALUES (:i, :t, 'open');
            -- close (0.02/s)\nUPDATE events SET state = 'shut' WHERE team = :x;",
        says: "open (about 15 items now, 778 more a day)",
        silent: ["close (0.02/s)", "close (0.1/s)"],
    },
    Case {
        kind: "unbounded list",
        named: "events 5000: id, team distinct=100 most=60, at time
            -- since (9/s)\nSELECT id FROM events WHERE team = :t AND at >= :a ORDER BY at, id;
            -- add (1/s)\nINSERT INTO events (id, team, at) VALUES (:i, :t, :at);",
        says: "since (about 6 items now, 104 more a day)",
        silent: ["at >= :a", "at BETWEEN :a AND :b"],
    },
    Case {
        kind: "unbounded list",
        named: "events 5000: id, team distinct=100 most=60, kind distinct=20 most=400, at time
            -- since (9/s)\nSELECT id FROM events WHERE team = :t AND kind = :k AND at >= :a ORDER BY at, id;
            -- add (10/s)\nINSERT INTO events (id, team, kind, at) VALUES (:i, :t, :k, :at);",
        says: "since (up to about 6 items now, 1037 more a day)",
        silent: ["at >= :a", "at BETWEEN :a AND :b"],
    },
    Case {
        kind: "unbounded list",
        named: "votes 50000: id, poll distinct=600 most=2000, day distinct=150 most=400
            -- byDay (20/s)\nSELECT day, count(*) AS n FROM votes WHERE poll = :p GROUP BY day;
            -- vote (1/s)\nINSERT INTO votes (id, poll, day) VALUES (:i, :p, :d);",
        says: "byDay (up to 150 items)",
        silent: ["day distinct=150 most=400", "day distinct=50 most=2000"],
    },
    Case {
        kind: "filter",
        named: "orders 6000: id, tenant distinct=60 most=2083, status text distinct=5 most=5000, at
            -- recent (20/s)\nSELECT id, status FROM orders WHERE tenant = :t ORDER BY at, id LIMIT 20;
            -- toShip (3/s)\nSELECT id FROM orders WHERE tenant = :t AND status = 'paid' ORDER BY at, id LIMIT 50;
            -- pay (60/s)\nUPDATE orders SET status = :s WHERE id = :id;",
        says: "toShip (up to 2083 items)",
        silent: ["most=2083", "most=99"],
    },
    Case {
        kind: "filter",
        named: "orders 6000: id, tenant distinct=60 most=2083, status text distinct=5 most=5000, at
            -- recent (20/s)\nSELECT id, status FROM orders WHERE tenant = :t ORDER BY at, id LIMIT 20;
            -- toShip (3/s)\nSELECT id FROM orders WHERE tenant = :t AND at > :a AND status = 'paid' ORDER BY at, id LIMIT 50;
            -- pay (60/s)\nUPDATE orders SET status = :s WHERE id = :id;",
        says: "toShip (about 208 items)",
        silent: ["most=2083", "most=99"],
    },
    Case {
        kind: "unbounded list",
        named: "events 300: id, state text null distinct=10 most=40
            -- inState (9/s)\nSELECT id FROM events WHERE state = :s;
            -- add (5/s)\nINSERT INTO events (id, state) VALUES (:i, 'open');",
        says: "inState (up to 40 items now, 432000 more a day)",
        silent: ["'open'", "NULL"],
    },
    Case {
        kind: "unbounded list",
        named: "events 300: id, state text distinct=10 most=40
            -- inState (9/s)\nSELECT id FROM events WHERE state = :s ORDER BY id;
            -- add (1/s)\nINSERT INTO events (id, state) VALUES (:i, 'new');
            -- move (1/s)\nINSERT INTO events (id, state) VALUES (:i, :s);
            -- open (2/s)\nINSERT INTO events (id, state) VALUES (:i, 'open');",
        says: "inState (up to 40 items now, 184320 more a day)",
        silent: ["ORDER BY id", "ORDER BY id LIMIT 10"],
    },
    Case {
        kind: "unbounded list",
        named: "orders 5000: id\nevents 20000: id, order_id @orders null distinct=5000 most=4
            -- order (5/s)\nSELECT id FROM events WHERE order_id = :o;
            -- add (20/s)\nINSERT INTO events (id, order_id) VALUES (:i, :o);",
        says: "order (about 4 items now, 346 more a day)",
        silent: [":i, :o", ":i, NULL"],
    },
    Case {
        kind: "large columns",
        named: "docs 1000: id, slug text unique, views, body text longest=3000
            -- get (50/s)\nSELECT id, slug FROM docs WHERE id = :id;
            -- bySlug (1/s)\nSELECT * FROM docs WHERE slug = :slug;
            -- view (50/s)\nUPDATE docs SET views = :v WHERE id = :id;",
        says: "`design` puts them into a second item for each row",
        silent: ["SET views = :v", "SET body = :b"],
    },
    Case {
        kind: "large columns",
        named: "docs 1000: id, slug text distinct=1000 most=1, views, body text longest=3000
            -- bySlug (90000/s)\nSELECT * FROM docs WHERE slug = :slug;
            -- view (50/s)\nUPDATE docs SET views = :v WHERE id = :id;",
        says: ", minus the extra cost of the reads that select them (bySlug). The search tried a second item: the resulting design saves less than 5 USD",
        silent: ["SET views = :v", "SET body = :b"],
    },
    Case {
        kind: "unbounded list",
        named: "events 5000: id, kind distinct=20 most=400, size
            -- total (0.001/s)\nSELECT sum(size) AS size FROM events WHERE kind = :k;
            -- add (0.01/s)\nINSERT INTO events (id, kind, size) VALUES (:i, :k, :s);",
        says: "total (up to 400 items now, 69 more a day): the application sorts or computes",
        silent: ["distinct=20 most=400", "distinct=200 most=30"],
    },
    Case {
        kind: "unbounded list",
        named: "things 60000: id, owner distinct=20 most=50000, flag distinct=2 most=50000
            -- flagged (5/s)\nSELECT id FROM things WHERE owner = :o AND flag = :f;",
        says: "flagged (up to 50000 items)",
        silent: ["distinct=20 most=50000", "distinct=40000 most=3"],
    },
    Case {
        kind: "unbounded list",
        named: "events 5000: id, kind distinct=20 most=400, at
            -- recent (5/s, strong)\nSELECT id FROM events WHERE kind = :k ORDER BY at DESC LIMIT 10;
            -- one (0.01/s, strong)\nSELECT at FROM events WHERE kind = :k AND id = :i;",
        says: "one (up to 400 items): the answer is one row",
        silent: ["distinct=20 most=400", "distinct=200 most=30"],
    },
    Case {
        kind: "unbounded list",
        named: "orders 5000: id\nothers 5: id\nevents 20000: id, order_id @orders distinct=5000 most=4
            -- eventsOf (5/s)\nSELECT id FROM events WHERE order_id = :o;
            -- add (20/s)\nINSERT INTO events (id) VALUES (:i);
            -- place (5/s)\nINSERT INTO others (id) VALUES (:i);",
        says: "eventsOf (about 4 items now, 346 more a day)",
        silent: ["INTO others", "INTO orders"],
    },
    Case {
        kind: "not strongly consistent",
        named: "users 1000: id, phone text unique
            -- user (900/s, strong)\nSELECT * FROM users WHERE id = :id;
            -- byPhone (5/s, strong)\nSELECT id FROM users WHERE phone = :p;",
        says: "byPhone",
        silent: ["(5/s, strong)", "(5/s)"],
    },
    Case {
        kind: "no key finds the rows",
        named: "users 1000: id, code, name text
            -- user (9/s)\nSELECT * FROM users WHERE id = :id;
            -- change (1/s)\nUPDATE users SET name = :n WHERE code = :c;",
        says: "change",
        silent: ["WHERE code", "WHERE id"],
    },
    Case {
        kind: "no key finds the rows",
        named: "docs 1000: id, code, title text, views, body text longest=3000
            -- doc (1/s)\nSELECT * FROM docs WHERE id = :id;
            -- byCode (1/s)\nSELECT id, title FROM docs WHERE code = :c;
            -- view (50/s)\nUPDATE docs SET views = :v WHERE id = :id;
            -- change (1/s)\nUPDATE docs SET title = :t WHERE views = :v;",
        says: "change",
        silent: ["WHERE views = :v", "WHERE code = :c"],
    },
    Case {
        kind: "many items at once",
        named: "users 1000: id, code, name text
            -- ofCode (9/s)\nSELECT * FROM users WHERE code = :c;
            -- change (1/s)\nUPDATE users SET name = :n WHERE code = :c;",
        says: "change",
        silent: ["name = :n WHERE code = :c", "name = :n WHERE code = :c AND id = :id"],
    },
    Case {
        kind: "many items at once",
        named: "members 1000: id, project, ended time null current
            -- leave (1/s)\nUPDATE members SET ended = :now WHERE project = :p;",
        says: "leave",
        silent: ["WHERE project = :p", "WHERE project = :p AND ended IS NULL"],
    },
    Case {
        kind: "many items at once",
        named: "members 1000: id, project, state text open
            -- leave (1/s)\nUPDATE members SET state = :s WHERE project = :p;",
        says: "leave",
        silent: ["WHERE project = :p", "WHERE project = :p AND state = 'open'"],
    },
    Case {
        kind: "many items at once",
        named: "members 1000: id, project, state text ci open
            -- leave (1/s)\nUPDATE members SET state = :s WHERE project = :p AND state = 'open';",
        says: "leave",
        silent: [" ci open", " open"],
    },
    Case {
        kind: "expires",
        named: "sessions 1000: id, owner, ends time
            -- expires: sessions by ends
            -- ofOwner (9/s)\nSELECT id FROM sessions WHERE owner = :o ORDER BY ends;",
        says: "sessions by ends (without a condition on it: ofOwner)",
        silent: ["-- expires: sessions by ends", ""],
    },
    Case {
        kind: "TTL",
        named: "jobs 1000: id, done time
            -- purge (1/s)\nDELETE FROM jobs WHERE done < :t;",
        says: "jobs.done (purge)",
        silent: ["done < :t", "done = :t"],
    },
    Case {
        kind: "cascades",
        named: "users 100: id\nposts 900: id, author @users cascade
            -- forget (1/s)\nDELETE FROM users WHERE id = :id;",
        says: "forget (about 9 from posts)",
        silent: [" cascade", ""],
    },
    Case {
        kind: "cascades",
        named: "users 100: id\nposts 900: id, author @users cascade\nvotes 9000: id, post @posts cascade
            -- forget (1/s)\nDELETE FROM users WHERE id = :id;",
        says: "forget (about 9 from posts, about 90 from votes)",
        silent: [" @users cascade", " @users"],
    },
    Case {
        kind: "cascades",
        named: "users 100: id\nposts 900: id, author @users cascade\nvotes 9000: id, post @posts
            -- forget (1/s)\nDELETE FROM users WHERE id = :id;",
        says: "forget (about 9 from posts; the database refuses that while rows of votes refer to them)",
        silent: [" @users cascade", " @users"],
    },
    Case {
        kind: "TTL",
        named: "pings 1000: id, at time
            -- purge (1/s)\nDELETE FROM pings WHERE at < :t;",
        says: "add your period: `{column | plus(30d) | epoch}`",
        silent: ["-- purge", "-- expires: pings by at + 30d\n-- purge"],
    },
    Case {
        kind: "expires",
        named: "pings 1000: id, at time
            -- expires: pings by at
            -- ping (1/s)\nSELECT * FROM pings WHERE id = :i;",
        says: "Without a period (`+ 30d`), items whose time is past expire at once",
        silent: ["-- expires: pings by at", ""],
    },
    Case {
        kind: "expires",
        named: "pings 1000: id, at time
            -- expires: pings by at + 30d
            -- ping (1/s)\nSELECT * FROM pings WHERE id = :i;",
        says: "pings by at + 30d",
        silent: ["-- expires: pings by at + 30d", ""],
    },
    Case {
        kind: "expires",
        named: "pings 1000: id, at time mixed=3
            -- expires: pings by at
            -- ping (1/s)\nSELECT * FROM pings WHERE id = :i;",
        says: "rows whose value is not of its type are rejected or never expire",
        silent: ["-- expires: pings by at", ""],
    },
    Case {
        kind: "expires",
        named: "pings 1000: id, at longest=13
            -- expires: pings by at
            -- ping (1/s)\nSELECT * FROM pings WHERE id = :i;",
        says: "some of its numbers are too large for seconds",
        silent: ["-- expires: pings by at", ""],
    },
    Case {
        kind: "TTL",
        named: "tokens 1000: id, expires_at time\n-- token (1/s)\nSELECT * FROM tokens WHERE id = :id;",
        says: "tokens.expires_at",
        silent: ["expires_at time", "expires_at text"],
    },
    Case {
        kind: "soft delete",
        named: "posts 900: id, title text, deleted_at time null
            tags 3000: id, tag distinct=60 most=70, post_id @posts
            -- tagged (9/s)\nSELECT t.id, p.title FROM tags t JOIN posts p ON p.id = t.post_id WHERE t.tag = :t;",
        says: "posts.deleted_at (without a condition on it: tagged)",
        silent: ["deleted_at", "left_at"],
    },
    Case {
        kind: "soft delete",
        named: "votes 50000: id, poll distinct=10 most=5000, deleted_at time null
            -- tally (900/s)\nSELECT count(*) AS n FROM votes WHERE poll = :p;
            -- vote (50/s)\nINSERT INTO votes (id, poll) VALUES (:i, :p);",
        says: "votes.deleted_at (without a condition on it: tally)",
        silent: ["deleted_at", "left_at"],
    },
    Case {
        kind: "soft delete",
        named: "posts 1000: id, owner, deleted_at time null
            -- live (9/s)\nSELECT id FROM posts WHERE owner = :o AND deleted_at IS NULL;
            -- raw (9/s)\nSELECT id FROM posts WHERE owner = :o;",
        says: "posts.deleted_at (without a condition on it: raw)",
        silent: ["deleted_at", "left_at"],
    },
    Case {
        kind: "OFFSET",
        named: "zones 1000: id, kind\n-- page (9/s)\nSELECT id FROM zones WHERE kind = :k ORDER BY id LIMIT 10 OFFSET 20;",
        says: "page: DynamoDB has no OFFSET",
        silent: [" OFFSET 20", ""],
    },
    Case {
        kind: "OFFSET",
        named: "zones 1000: id, kind, name text, land text\n-- page (9/s)\nSELECT id, name FROM zones WHERE kind = :k ORDER BY name, land DESC LIMIT 10 OFFSET 20;",
        says: "page: no key sorts",
        silent: [" OFFSET 20", ""],
    },
    Case {
        kind: "case",
        named: "users 1000: id, login text\n-- byLogin (9/s)\nSELECT id FROM users WHERE lower(login) = lower(:l);",
        says: "byLogin (login)",
        silent: ["lower(login) = lower(:l)", "login = :l"],
    },
    Case {
        kind: "unique",
        named: "users 1000: id, login text unique\n-- join (1/s)\nINSERT INTO users (id, login) VALUES (:i, :l);",
        says: "users(login)",
        silent: ["text unique", "text"],
    },
    Case {
        kind: "unique",
        named: "users 1000: id, code, name text
            -- byCode (9/s, strong)\nSELECT id, name FROM users WHERE code = :c;
            -- join (1/s)\nINSERT INTO users (id) VALUES (:i);",
        says: "users(id)",
        silent: ["WHERE code", "WHERE id"],
    },
    Case {
        kind: "unique",
        named: "users 1000: id, login text unique, name text
            -- byLogin (9/s, strong)\nSELECT id, name FROM users WHERE login = :l;
            -- join (1/s)\nINSERT INTO users (id, login) VALUES (:i, :l);",
        // The table's key keeps the login.
        says: "unique: users(id): DynamoDB",
        silent: ["INSERT INTO users (id, login) VALUES (:i, :l)", "SELECT name FROM users WHERE login = :l"],
    },
    Case {
        kind: "numbers as text",
        named: "bills 1000: id, owner, no text digits\n-- ofOwner (9/s)\nSELECT id, no FROM bills WHERE owner = :o ORDER BY no;",
        says: "ofOwner (no)",
        silent: ["ORDER BY no", "ORDER BY id"],
    },
    Case {
        kind: "large values",
        named: "docs 10: id, body text longest=200000\n-- doc (9/s)\nSELECT * FROM docs WHERE id = :id;",
        says: "docs.body (200000 bytes)",
        silent: ["longest=200000", "longest=90000"],
    },
    Case {
        kind: "delimiter in values",
        named: "parts 100: no text hash, name text\n-- part (9/s)\nSELECT * FROM parts WHERE no = :n;",
        says: "parts.no",
        silent: [" hash", ""],
    },
    Case {
        kind: "NULL in keys",
        named: "members 1000: id, referrer null\n-- referred (9/s)\nSELECT id FROM members WHERE referrer = :r;",
        says: "referred (referrer)",
        silent: [" null", ""],
    },
    Case {
        kind: "no declared reference",
        named: "members 1000: id\nposts 9000: id, member_id\n-- ofMember (9/s)\nSELECT id FROM posts WHERE member_id = :m;",
        says: "posts.member_id",
        silent: ["member_id\n", "member_id @members\n"],
    },
    Case {
        kind: "no declared reference",
        named: "tenants 20: id, code unique\nposts 900: id, tenant_code\n-- ofTenant (9/s)\nSELECT id FROM posts WHERE tenant_code = :c;",
        says: "posts.tenant_code",
        silent: ["code unique", "code"],
    },
    Case {
        kind: "reference by a join alone",
        named: "shelves 10: id, colour\nparts 100: id, shelf
            -- part (9/s)\nSELECT p.id, s.colour FROM parts p JOIN shelves s ON s.id = p.shelf WHERE p.id = :id;",
        says: "parts.shelf to shelves",
        silent: ["shelf\n", "shelf @shelves\n"],
    },
    Case {
        kind: "audit columns",
        named: "users 10: id\nposts 100: id, created_by @users\n-- post (9/s)\nSELECT * FROM posts WHERE id = :id;",
        says: "posts.created_by",
        silent: ["created_by", "reviewer"],
    },
    Case {
        kind: "personal data in keys",
        named: "users 1000: id, email text\n-- byName (9/s)\nSELECT id FROM users WHERE email = :n;",
        says: "byName (email)",
        silent: ["email", "nickname"],
    },
    Case {
        kind: "personal data in copies",
        named: "users 1000: id, first_name text\nposts 9000: id, author @users
            -- post (9/s)\nSELECT p.id, u.first_name FROM posts p JOIN users u ON u.id = p.author WHERE p.id = :id;",
        says: "post (first_name)",
        silent: ["first_name", "display"],
    },
    Case {
        kind: "filter",
        named: "events 5000: id, kind distinct=20 most=300, size
            -- other (0.01/s)\nSELECT id, size FROM events WHERE kind = :k AND size <> :s;
            -- add (10/s)\nINSERT INTO events (id, kind, size) VALUES (:i, :k, :s);",
        says: "other (250 items)",
        silent: ["distinct=20 most=300", "distinct=200 most=30"],
    },
    Case {
        kind: "guessed rates",
        named: "users 10: id\n-- user\nSELECT * FROM users WHERE id = :id;",
        says: "1 of 1 reads",
        silent: ["-- user", "-- user (1/s)"],
    },
    Case {
        kind: "guessed write rates",
        named: "users 10: id\n-- join\nINSERT INTO users (id) VALUES (:i);",
        says: "join",
        silent: ["-- join", "-- join (1/s)"],
    },
    Case {
        kind: "no writes",
        named: "users 10: id\n-- user (1/s)\nSELECT * FROM users WHERE id = :id;",
        says: "no statement writes",
        silent: ["SELECT * FROM", "DELETE FROM"],
    },
    Case {
        kind: "OFFSET",
        named: "zones 1000: id, kind, utc_offset\n-- page (9/s)\nSELECT id, utc_offset FROM zones WHERE kind = :k ORDER BY id LIMIT 10 OFFSET 20;",
        says: "page: DynamoDB has no OFFSET",
        silent: [" OFFSET 20", ""],
    },
    Case {
        kind: "OFFSET",
        named: "mysql\nzones 1000: id, kind\n-- page (9/s)\nSELECT id FROM zones WHERE kind = :k ORDER BY id LIMIT 20, 10;",
        says: "page: DynamoDB has no OFFSET",
        silent: ["LIMIT 20, 10", "LIMIT 10"],
    },
    Case {
        kind: "expires",
        named: "sessions 1000: id, owner, note text, ends time
            -- expires: sessions by ends
            -- ofOwner (9/s)\nSELECT id FROM sessions WHERE owner = :o AND note = 'ends' ORDER  BY ends;",
        says: "sessions by ends (without a condition on it: ofOwner)",
        silent: ["-- expires: sessions by ends", ""],
    },
    Case {
        kind: "expires",
        named: "sessions 1000: id, owner, ends time
            -- expires: sessions by ends
            -- ofOwner (9/s)\nSELECT id FROM sessions WHERE owner = :o ORDER  BY ends;",
        says: "sessions by ends (without a condition on it: ofOwner)",
        silent: ["-- expires: sessions by ends", ""],
    },
    Case {
        kind: "soft delete",
        named: "posts 1000: id, owner, deleted_at time null\n-- raw (9/s)\nSELECT id, deleted_at FROM posts WHERE owner = :o;",
        says: "posts.deleted_at (without a condition on it: raw)",
        silent: ["deleted_at", "left_at"],
    },
    Case {
        kind: "TTL",
        named: "jobs 1000: id, done time, done_at time\n-- purge (1/s)\nDELETE FROM jobs WHERE done_at < :t;",
        says: "TTL: jobs.done_at (purge): ",
        silent: ["done_at < :t", "done_at > :t"],
    },
    Case {
        kind: "numbers as text",
        named: "firms 90: id, no\nbills 1000: id, owner @firms, no text digits
            -- ofOwner (9/s)\nSELECT b.id, f.no FROM bills b JOIN firms f ON f.id = b.owner WHERE b.owner = :o ORDER  BY b.no;",
        says: "ofOwner (no)",
        silent: ["ORDER  BY b.no", "ORDER BY f.no"],
    },
    Case {
        kind: "numbers as text",
        named: "bills 1000: id, owner, no text digits\n-- last (9/s)\nSELECT max(no) FROM bills WHERE owner = :o;",
        says: "last (no)",
        silent: ["max(no)", "max(id)"],
    },
    Case {
        kind: "TTL",
        named: "tokens 1000: id, expires_at time\n-- token (1/s)\nSELECT * FROM tokens WHERE id = :id;",
        says: "tokens.expires_at",
        silent: ["expires_at", "settled_at"],
    },
    Case {
        kind: "TTL",
        named: "tokens 1000: id, expires\n-- purge (1/s)\nDELETE FROM tokens WHERE expires < :t;",
        says: "tokens.expires (purge)",
        silent: ["expires", "stock"],
    },
    Case {
        kind: "soft delete",
        named: "posts 1000: id, owner, isDeleted bool\n-- raw (9/s)\nSELECT id FROM posts WHERE owner = :o;",
        says: "posts.isDeleted (without a condition on it: raw)",
        silent: ["isDeleted", "undeleted"],
    },
    Case {
        kind: "soft delete",
        named: "posts 1000: id, owner, deleted\n-- live (9/s)\nSELECT id FROM posts WHERE owner = :o AND deleted = 0;",
        says: "posts.deleted:",
        silent: [" AND deleted = 0", ""],
    },
    Case {
        kind: "personal data in keys",
        named: "users 1000: id, email text\n-- byName (9/s)\nSELECT id FROM users WHERE email = :n;",
        says: "byName (email)",
        silent: ["email", "businessname"],
    },
    Case {
        kind: "personal data in keys",
        named: "users 1000: id, home_phone2 text\n-- byName (9/s)\nSELECT id FROM users WHERE home_phone2 = :n;",
        says: "byName (home_phone2)",
        silent: ["home_phone2 text", "home_phone2 bool"],
    },
    Case {
        kind: "personal data in copies",
        named: "users 1000: id, last_name text\nposts 9000: id, author @users
            -- post (9/s)\nSELECT p.id, u.last_name FROM posts p JOIN users u ON u.id = p.author WHERE p.id = :id;",
        says: "post (last_name)",
        silent: ["last_name", "last_name_type"],
    },
    Case {
        kind: "personal data in copies",
        named: "users 1000: id, street text\nposts 9000: id, author @users
            -- post (9/s)\nSELECT p.id, u.street FROM posts p JOIN users u ON u.id = p.author WHERE p.id = :id;",
        says: "post (street)",
        silent: ["street", "stream"],
    },
    Case {
        kind: "no declared reference",
        named: "members 1000: id\nposts 9000: id, memberID\n-- ofMember (9/s)\nSELECT id FROM posts WHERE \"memberID\" = :m;",
        says: "posts.memberID",
        silent: ["memberID", "memberPaid"],
    },
    Case {
        kind: "no declared reference",
        named: "votes 50000: id, poll_id distinct=10 most=9000
            -- tally (900/s)\nSELECT count(*) AS n FROM votes WHERE poll_id = :p;
            -- vote (50/s)\nINSERT INTO votes (id, poll_id) VALUES (:i, :p);",
        says: "votes.poll_id",
        silent: ["poll_id", "poll_size"],
    },
    Case {
        kind: "no declared reference",
        named: "staff 300: emp_no, size\ndevices 900: id, emp_no
            -- ofStaff (9/s)\nSELECT id FROM devices WHERE emp_no = :e;",
        says: "devices.emp_no",
        silent: ["staff 300: emp_no", "staff 300: id"],
    },
    Case {
        kind: "long keys",
        named: "files 1000: id, path text600\n-- byPath (9/s)\nSELECT id FROM files WHERE path = :p;",
        says: "byPath (GSI1PK: up to 2,405 bytes, 2,048 allowed)",
        silent: ["text600", "text400"],
    },
    Case {
        kind: "long keys",
        named: "files 1000: id, owner, area text150, name text150\n-- list (9/s)\nSELECT id FROM files WHERE owner = :o ORDER BY area, name;",
        says: "list (SK: up to 1,228 bytes, 1,024 allowed)",
        silent: ["name text150", "name text50"],
    },
    Case {
        kind: "expensive aggregates",
        named: "visits 5000: id, doctor distinct=10 most=700, status distinct=5 most=2000
            -- visit (900/s, strong)\nSELECT * FROM visits WHERE id = :id;
            -- byDoctor (0.1/s)\nSELECT doctor, count(*) AS n FROM visits WHERE status = 3 GROUP BY doctor;
            -- change (30/s)\nUPDATE visits SET status = :s WHERE id = :id;",
        says: "visits_by_status_doctor, used by byDoctor (costs 97.20 USD a month for 0.1 reads/s; as Scans of the whole table they would cost ",
        silent: ["(0.1/s)", "(1/s)"],
    },
    Case {
        kind: "next number",
        named: "bills 1000: id, no
            -- add (1/s)\nINSERT INTO bills (id, no) VALUES (:i, (SELECT coalesce(max(no), 0) + 1 FROM bills));",
        says: "add: it takes the greatest number plus 1",
        silent: ["(SELECT coalesce(max(no), 0) + 1 FROM bills)", ":no + 1"],
    },
    Case {
        kind: "TTL",
        named: "tokens 1000: id, valid_until longest=10\n-- token (1/s)\nSELECT * FROM tokens WHERE id = :id;",
        says: "tokens.valid_until",
        silent: ["longest=10", "longest=8"],
    },
    Case {
        kind: "unique",
        named: "visits 1000: id, doctor, starts partial
            -- visit (9/s)\nSELECT * FROM visits WHERE id = :id;
            -- book (1/s)\nINSERT INTO visits (id, doctor, starts) VALUES (:i, :d, :s);",
        says: "visits(doctor + starts) WHERE id > 0",
        silent: [" partial", ""],
    },
    Case {
        kind: "dates as text",
        named: "bills 1000: id, owner, due text day_first
            -- dueBills (9/s)\nSELECT id FROM bills WHERE owner = :o ORDER BY due;",
        says: "dueBills (due)",
        silent: [" day_first", ""],
    },
    Case {
        kind: "times with offsets",
        named: "pings 1000: id, owner, at text offsets=2
            -- since (9/s)\nSELECT id FROM pings WHERE owner = :o AND at > :t;",
        says: "since (at)",
        silent: ["offsets=2", "offsets=1"],
    },
    Case {
        kind: "long keys",
        named: "files 1000: id, path text\n-- byPath (9/s)\nSELECT id FROM files WHERE path = :p;",
        says: "byPath (GSI1PK: no limit for `path`, 2,048 allowed)",
        silent: ["path text", "path text longest=90"],
    },
    Case {
        kind: "long keys",
        named: "files 1000: id, owner\ncountries 9: code text, name text
            -- country (9/s)\nSELECT name FROM countries WHERE code = :c;",
        says: "country (PK: no limit for `code`, 2,048 allowed)",
        silent: ["SELECT name FROM countries WHERE code = :c", "SELECT id FROM files WHERE owner = :o"],
    },
    Case {
        kind: "long keys",
        named: "files 1000: id, owner, area text longest=600, name text longest=600\n-- list (9/s)\nSELECT id FROM files WHERE owner = :o ORDER BY area, name;",
        says: "list (SK: up to 1,228 bytes, 1,024 allowed)",
        silent: ["name text longest=600", "name text longest=90"],
    },
];

#[test]
fn each_trap_is_named_and_what_is_nearly_one_is_not() {
    let mut wrong = Vec::new();
    for case in CASES {
        let [before, after] = case.silent;
        let near = case.named.replace(before, after);
        assert_ne!(near, case.named, "{}: {before}", case.kind);
        let begins = format!("{}: ", case.kind);
        let of_kind = |text: &str| -> (Vec<String>, Vec<String>) {
            let lines = warnings(text).into_iter();
            lines.partition(|line| line.starts_with(&begins))
        };
        let (lines, others) = of_kind(case.named);
        if !lines.iter().any(|line| line.contains(case.says)) {
            wrong.push(format!(
                "{begins}{:?} is not in {lines:#?} {others:#?}",
                case.says
            ));
        }
        let (lines, _) = of_kind(&near);
        if !lines.is_empty() {
            wrong.push(format!("of {after:?} instead of {before:?}: {lines:#?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_load_of_nothing_is_not_named_and_a_small_one_is_less_than_one() {
    for (writes, reads, said) in [
        (0.0, 0.0, ""),
        (0.02, 0.0, ": less than 1 write unit a second"),
        (0.0, 4_500.0, ": about 4500 read units a second"),
        (
            2.5,
            0.5,
            ": about 2.5 write units and less than 1 read unit a second",
        ),
    ] {
        assert_eq!(units_a_second(writes, reads), said);
    }
}

#[test]
fn aggregates_are_computed_from_items_behind_an_index_of_keys_where_that_costs_less() {
    let (catalog, limits) = schema("days 6000: id, region distinct=100 most=80, n");
    let fetches = |rate: &str| {
        let sql = format!(
            "-- total (0.1/s)\nSELECT sum(n) AS total FROM days WHERE region = :region;
            -- bump ({rate}/s)\nUPDATE days SET n = n + 1 WHERE id = :id;"
        );
        let design = all_served(&catalog, &limits, &sql);
        design.mapping.contains("fetch: true")
    };
    assert!(fetches("350"));
    assert!(!fetches("0.01"));
}

#[test]
fn copies_that_no_key_finds_cost_a_scan_for_each_change() {
    for ([tickets, tags], changes, inserts, by_two_requests, are_found) in [
        ([12_000, 20_000], "1", "0.1", false, true),
        // A key for them would cost more than the Scans.
        ([12_000, 20_000], "1", "200", true, true),
        // A Scan now and then costs nothing worth a key.
        ([12_000, 20_000], "0.005", "0.1", false, false),
        // It reads the items of all tables.
        ([400_000, 2_000], "0.01", "0.1", false, true),
    ] {
        let (catalog, limits) = schema(&format!(
            "tickets {tickets}: id, state text distinct=4
            tags {tags}: id, ticket @tickets distinct={}, tag text distinct={}",
            tickets.min(tags),
            tags / 4
        ));
        let sql = format!(
            "-- ofTag (1/s)\nSELECT t.id, t.state FROM tags g JOIN tickets t ON t.id = g.ticket WHERE g.tag = :tag;
            -- close ({changes}/s)\nUPDATE tickets SET state = :state WHERE id = :id;
            -- tag ({inserts}/s)\nINSERT INTO tags (id, ticket, tag) VALUES (:i, :t, :g);"
        );
        let Design {
            mapping, report, ..
        } = all_served(&catalog, &limits, &sql);
        let is_second = mapping.contains("ofTag_tickets:");
        assert_eq!(is_second, by_two_requests, "{changes} {inserts} {mapping}");
        let warnings = report.warnings.iter().map(ToString::to_string);
        let are_lost = warnings.collect::<String>().contains("no key finds them");
        assert_eq!(!are_lost, are_found, "{changes} {inserts} {mapping}");
    }
}

/// What is to be decided of a schema with a workload.
fn warnings(text: &str) -> Vec<String> {
    let (tables, statements) = text.split_at(text.find("--").unwrap());
    let (catalog, mut limits) = schema(tables);
    let expiries = workload::expiries(statements).unwrap();
    limits.expiries = check_expiries(&catalog, &expiries).unwrap();
    let report = designed(&catalog, &limits, statements).report;
    report.warnings.iter().map(ToString::to_string).collect()
}

/// A design for a workload, at the prices that are shipped.
pub(crate) fn designed(catalog: &Catalog, limits: &Limits, sql: &str) -> Design {
    let statements = workload::read(sql, catalog.dbms).unwrap();
    let prices = Prices::read(SHIPPED, None).unwrap();
    design(catalog, &statements, &prices, limits)
}

/// A design that serves every read of its workload.
pub(crate) fn all_served(catalog: &Catalog, limits: &Limits, sql: &str) -> Design {
    let found = designed(catalog, limits, sql);
    assert!(found.report.serves_all(), "{:#?}", found.report);
    found
}

/// Tables as `NAME ROWS: COLUMN WORDS, …`. The first column is the primary key, and columns are whole numbers that are never
/// NULL where their words do not say something else: a type, `null`, `unique`, `@parent` for a reference to the parent's
/// key, `hash` for values with `#`, and what was counted of all values. A line of one word says the database.
pub(crate) fn schema(text: &str) -> (Catalog, Limits) {
    let mut catalog = shop();
    catalog.tables.clear();
    let mut limits = Limits::default();
    let name = |name: &str| TableName {
        schema: "public".to_owned(),
        name: name.to_owned(),
    };
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let Some((head, columns)) = line.split_once(": ") else {
            assert_eq!(line, "mysql");
            catalog.dbms = Dbms::Mysql;
            continue;
        };
        let (of, rows) = head.split_once(' ').unwrap();
        let rows: u64 = rows.parse().unwrap();
        let mut table = Table::new(name(of), TableKind::Table);
        table.estimated_rows = Some(rows);
        for said in columns.split(", ") {
            let mut words = said.split(' ');
            let own = words.next().unwrap().to_owned();
            let mut column = Column::new(own.clone(), String::new(), kind("int"));
            column.nullable = false;
            let place = (table.name.clone(), own.clone());
            let mut sample = ColumnSample {
                rows,
                present: rows,
                distinct: rows,
                bytes: rows * 4,
                longest: 4,
                most: 1,
                is_all: true,
                ..ColumnSample::default()
            };
            let uncounted = sample;
            for word in words {
                let (word, number) = word.split_once('=').unwrap_or((word, "0"));
                let number: u64 = number.parse().unwrap();
                match word {
                    "distinct" => sample.distinct = number,
                    "most" => sample.most = number,
                    "present" => sample.present = number,
                    "longest" => (sample.longest, sample.bytes) = (number, rows * number),
                    "digits" => sample.digits = rows,
                    "day_first" => sample.day_first = rows,
                    "offsets" => sample.offsets = number,
                    "mixed" => sample.mixed = number,
                    "partial" | "current" | "open" => {
                        let before = table.columns.last().unwrap();
                        table.indexes.push(partial(word, &before.name, &own));
                    }
                    "null" => column.nullable = true,
                    "ci" => column.insensitive = true,
                    "char" => "char(8)".clone_into(&mut column.declared),
                    "cascade" => {
                        let key = table.foreign_keys.last_mut().unwrap();
                        key.on_delete = ReferentialAction::Cascade;
                    }
                    "set_null" => {
                        let key = table.foreign_keys.last_mut().unwrap();
                        key.on_delete = ReferentialAction::SetNull;
                    }
                    "unique" => table.unique_keys.push(UniqueKey {
                        columns: vec![own.clone()],
                        ..UniqueKey::default()
                    }),
                    "hash" => {
                        limits.delimited.insert(place.clone());
                    }
                    _ if word.starts_with('@') => table.foreign_keys.push(ForeignKey {
                        columns: vec![own.clone()],
                        references: name(&word[1..]),
                        referenced_columns: vec!["id".to_owned()],
                        ..ForeignKey::default()
                    }),
                    _ => column.data_type = kind(word),
                }
            }
            let is_text = matches!(column.data_type, DataType::Text { .. });
            if is_text && column.declared.is_empty() {
                "text".clone_into(&mut column.declared);
            }
            if sample != uncounted {
                limits.observed.columns.insert(place, sample);
            }
            table.columns.push(column);
        }
        table.primary_key = vec![table.columns[0].name.clone()];
        catalog.tables.push(table);
    }
    (catalog, limits)
}

/// A unique index over some rows.
fn partial(word: &str, before: &str, own: &str) -> Index {
    let (columns, condition) = match word {
        "partial" => (vec![before, own], "id > 0".to_owned()),
        "open" => (vec![before], format!("{own}::text = 'open'::text")),
        _ => (vec![before], format!("({own} IS NULL)")),
    };
    Index {
        columns: columns.into_iter().map(str::to_owned).collect(),
        unique: true,
        condition: Some(condition),
        ..Index::default()
    }
}

fn kind(word: &str) -> DataType {
    match word {
        "int" => DataType::Integer {
            bits: 64,
            unsigned: false,
        },
        "bool" => DataType::Boolean,
        "decimal" => DataType::Decimal {
            precision: Some(12),
            scale: Some(2),
        },
        "date" => DataType::Date,
        "time" => DataType::Timestamp {
            digits: 6,
            zone: true,
        },
        "text" => DataType::Text { max_chars: None },
        other => DataType::Text {
            max_chars: Some(other.strip_prefix("text").unwrap().parse().unwrap()),
        },
    }
}
