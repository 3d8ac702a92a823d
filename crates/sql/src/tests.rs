use dynafold_relational::catalog::Dbms::{self, Mariadb, Mysql, Postgres, Sqlite};

use super::select::FromRelation;
use super::*;

fn read(sql: &str, dbms: Dbms) -> SqlQuery {
    SqlQuery::read(sql, Some(dbms)).unwrap_or_else(|unread| panic!("{sql}: {unread}"))
}

fn parameters(sql: &str, dbms: Option<Dbms>) -> Vec<String> {
    let sql = Sql::read(sql, dbms).expect("it can be taken apart");
    let names = sql.parameters().iter();
    names.map(|parameter| parameter.name.clone()).collect()
}

/// A column as `owner.name`.
fn column(column: &ColumnRef) -> String {
    let parts = [&column.schema, &column.owner].into_iter().flatten();
    let parts: Vec<&str> = parts
        .chain([&column.name])
        .map(|name| &*name.text)
        .collect();
    parts.join(".")
}

fn operand(operand: &Operand) -> String {
    let value = match &operand.value {
        OperandValue::Column(one) => column(one),
        OperandValue::Parameter(name) => format!(":{name}"),
        OperandValue::Constant(Constant::Text(text)) => format!("'{text}'"),
        OperandValue::Constant(Constant::Number(number)) => number.clone(),
        OperandValue::Constant(Constant::Null) => "NULL".to_owned(),
        OperandValue::Constant(Constant::Boolean(_) | Constant::Other) => "constant".to_owned(),
        OperandValue::Expression(expression) => {
            let columns = expression.columns.iter().map(column);
            let parameters = expression.parameters.iter().map(|name| format!(":{name}"));
            let functions = expression.functions.iter().map(|name| format!("{name}()"));
            let all: Vec<String> = columns.chain(parameters).chain(functions).collect();
            format!("?{{{}}}", all.join(" "))
        }
    };
    operand
        .around
        .iter()
        .rev()
        .fold(value, |value, around| match around {
            Wrapping::Cast(to) => format!("{value}::{to}"),
            Wrapping::Function(name) => format!("{name}({value})"),
            Wrapping::Collate(name) => format!("{value} COLLATE {}", name.text),
        })
}

fn condition(condition: &Condition) -> String {
    let not = |negated: &bool| if *negated { "not " } else { "" };
    match &condition.test {
        ConditionTest::Compare { left, op, right } => {
            let op = match op {
                Comparator::Equal => "=",
                Comparator::NotDistinct => "same",
                Comparator::NotEqual => "<>",
                Comparator::Less => "<",
                Comparator::LessOrEqual => "<=",
                Comparator::Greater => ">",
                Comparator::GreaterOrEqual => ">=",
            };
            format!("{} {op} {}", operand(left), operand(right))
        }
        ConditionTest::Between {
            operand: what,
            negated,
            low,
            high,
        } => {
            format!(
                "{} {}in {}..{}",
                operand(what),
                not(negated),
                operand(low),
                operand(high)
            )
        }
        ConditionTest::In {
            operand: what,
            negated,
            list,
        } => {
            let list: Vec<String> = list.iter().map(operand).collect();
            format!("{} {}in [{}]", operand(what), not(negated), list.join(" "))
        }
        ConditionTest::Like {
            operand: what,
            pattern,
            ..
        } => format!("{} like {}", operand(what), operand(pattern)),
        ConditionTest::Null {
            operand: what,
            negated,
        } => format!("{} is {}null", operand(what), not(negated)),
        ConditionTest::Using(name) => format!("using {}", name.text),
        ConditionTest::Other(_) => format!("<{}>", condition.text),
    }
}

fn output(output: &SelectOutput) -> String {
    match output {
        SelectOutput::All => "*".to_owned(),
        SelectOutput::AllOf(of) => format!(
            "{}.*",
            of.iter()
                .map(|name| &*name.text)
                .collect::<Vec<_>>()
                .join(".")
        ),
        SelectOutput::One { name, value } => {
            let shown = operand(value);
            match name {
                Some(name) if !shown.ends_with(&*name.text) => format!("{shown} as {}", name.text),
                _ => shown,
            }
        }
    }
}

fn relation(relation: &FromRelation) -> String {
    let source = match &relation.source {
        RelationSource::Table { schema, name } => {
            let schema = schema
                .as_ref()
                .map_or(String::new(), |schema| format!("{}.", schema.text));
            format!("{schema}{}", name.text)
        }
        RelationSource::With(name) => format!("with {}", name.text),
        RelationSource::Query => "(query)".to_owned(),
        RelationSource::Other => "?".to_owned(),
    };
    let called = relation
        .called
        .as_ref()
        .map(|name| &*name.text)
        .filter(|called| !source.ends_with(called))
        .map_or(String::new(), |called| format!(" {called}"));
    let missing = if relation.may_be_missing { "?" } else { "" };
    let on: Vec<String> = relation.on.iter().map(condition).collect();
    let on = if on.is_empty() {
        String::new()
    } else {
        format!(" on({})", on.join(" & "))
    };
    format!("{source}{called}{missing}{on}")
}

/// A query as it was understood: `outputs from relations where conditions`, and what is beside these.
fn shown(query: &SqlQuery) -> String {
    let selects = query.selects.iter().map(|select| {
        let list = |all: Vec<String>, between| all.join(between);
        let distinct = if select.distinct { "distinct " } else { "" };
        let outputs = list(select.outputs.iter().map(output).collect(), ", ");
        let relations = list(select.relations.iter().map(relation).collect(), ", ");
        let conditions = list(select.conditions.iter().map(condition).collect(), " & ");
        let strange = select.strange.iter().flat_map(|what| [" !", what]);
        let strange: String = strange.collect();
        let groups = if select.groups { " groups" } else { "" };
        let having = if select.having { " having" } else { "" };
        format!("{distinct}{outputs} from {relations} where {conditions}{groups}{having}{strange}")
    });
    let mut shown = selects.collect::<Vec<_>>().join(" + ");
    if query.set == SetOperation::Other {
        shown += " !set";
    }
    for strange in &query.strange {
        shown += &format!(" !{strange}");
    }
    for (word, limit) in [("limit", &query.limit), ("offset", &query.offset)] {
        match limit {
            RowLimit::None => {}
            RowLimit::Rows(rows) => shown += &format!(" {word} {rows}"),
            RowLimit::Parameter(name) => shown += &format!(" {word} :{name}"),
            RowLimit::Unknown => shown += &format!(" {word} ?"),
        }
    }
    shown
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table of cases")]
fn queries_are_understood_as_what_they_are() {
    for (dbms, sql, expected) in [
        (
            Postgres,
            "SELECT u.ID, \"Name\" AS n, 'BOOK' AS _type, u.*, count(*) FROM public.Users u WHERE u.id = :id",
            "u.id, Name as n, 'BOOK' as _type, u.*, ?{count()} from public.users u where u.id = :id",
        ),
        (
            Postgres,
            "SELECT * FROM a JOIN b ON a.id = b.a_id LEFT JOIN c USING (id) WHERE (a.x = 1 AND (b.y > :y AND :z >= b.z))",
            "* from a, b, c? on(using id) where a.id = b.a_id & a.x = 1 & b.y > :y & b.z <= :z",
        ),
        (
            Postgres,
            "SELECT a.id FROM a JOIN b ON a.id = b.id RIGHT JOIN c ON b.id = c.id",
            "a.id from a?, b? on(a.id = b.id), c on(b.id = c.id) where  !a RIGHT or FULL JOIN of several tables",
        ),
        (
            Postgres,
            "SELECT 1 FROM a LEFT JOIN (b JOIN c ON b.i = c.i) ON a.i = b.i, d",
            "1 from a, b? on(a.i = b.i), c? on(b.i = c.i), d where  !an outer join of joined tables",
        ),
        (
            Postgres,
            "SELECT * FROM t WHERE lower(email) = lower(:e) AND day::date = :d::date AND n COLLATE \"C\" > 'a' AND x = -5",
            "* from t where lower(email) = lower(:e) & day::DATE = :d::DATE & n COLLATE C > 'a' & x = -5",
        ),
        (
            Postgres,
            "SELECT * FROM t WHERE a BETWEEN :lo AND :hi AND b IN (1, :b) AND c LIKE 'x%' AND d NOT LIKE :d || '%' AND e ILIKE 'a_b%'",
            "* from t where a in :lo..:hi & b in [1 :b] & c like 'x%' & d like ?{:d} & e like 'a_b%'",
        ),
        (
            Mysql,
            "SELECT * FROM `T` WHERE c LIKE CONCAT(:c, '%') AND a <=> :a AND d IS NOT NULL AND e = 'it\\'s'",
            "* from T where c like ?{:c concat()} & a same :a & d is not null & e = 'it's'",
        ),
        (
            Postgres,
            "SELECT * FROM t WHERE a = 1 AND (b = 2 OR c = :c) AND NOT d AND EXISTS (SELECT 1 FROM u WHERE u.id = t.id)",
            "* from t where a = 1 & <(b = 2 OR c = :c)> & <NOT d> & <EXISTS (SELECT 1 FROM u WHERE u.id = t.id)>",
        ),
        // A comparison within another.
        (
            Sqlite,
            "SELECT * FROM t WHERE a = b = :c AND (a = b) = :c",
            "* from t where <a = b = :c> & ?{a b} = :c",
        ),
        (
            Postgres,
            "SELECT CASE WHEN a BETWEEN 1 AND 2 THEN 'x' END AS k FROM t WHERE CASE WHEN a BETWEEN :a AND :b THEN 1 ELSE 0 END = 1",
            "?{a} as k from t where ?{a :a :b} = 1",
        ),
        (
            Sqlite,
            "SELECT \"order\", [group], `select` FROM \"table\" WHERE \"from\" = :x",
            "order, group, select from table where from = :x",
        ),
        (
            Postgres,
            "WITH q AS (SELECT * FROM a WHERE b = :b) SELECT q.x FROM q JOIN z ON z.id = q.id",
            "q.x from with q, z where z.id = q.id",
        ),
        (
            Postgres,
            "(SELECT a FROM t) UNION ALL SELECT b FROM u UNION ALL SELECT c FROM v ORDER BY 1 LIMIT 5 OFFSET 2",
            "a from t where  + b from u where  + c from v where  limit 5 offset 2",
        ),
        (
            Postgres,
            "SELECT a FROM t UNION SELECT b FROM u",
            "a from t where  + b from u where  !set",
        ),
        (
            Postgres,
            "(SELECT a FROM t LIMIT 3) UNION ALL SELECT b FROM u",
            "a from t where  + b from u where  !ORDER BY or LIMIT within another",
        ),
        (
            Postgres,
            "SELECT o.id, l.n FROM o, LATERAL (SELECT n FROM i WHERE i.o = o.id LIMIT 1) l",
            "o.id, l.n from o, (query) l where  !LATERAL",
        ),
        (
            Postgres,
            "SELECT DISTINCT a, rank() OVER (ORDER BY b) r FROM t GROUP BY a HAVING count(*) > 1",
            "distinct a, ?{b rank()} as r from t where  groups having",
        ),
        (
            Postgres,
            "SELECT * FROM t TABLESAMPLE system (10)",
            "* from t where  !a table of which a part is read, or another version",
        ),
        (
            Postgres,
            "SELECT * FROM a NATURAL JOIN b",
            "* from a, b where  !NATURAL JOIN",
        ),
        (
            Postgres,
            "SELECT * FROM generate_series(1, 3) g",
            "* from ? g where ",
        ),
        (Postgres, "VALUES (1)", " !VALUES"),
        (
            Postgres,
            "SELECT a /* x /* y */ :no */ FROM t -- :no\n WHERE b = $x$ :no $x$ AND c = E'\\':no' AND d = :yes",
            "a from t where b = ' :no ' & c = '':no' & d = :yes",
        ),
        (
            Mariadb,
            "SELECT a FROM t WHERE b = \"x\" LIMIT 5, 10",
            "a from t where b = ?{} limit 10 offset 5",
        ),
        (
            Postgres,
            "SELECT a FROM t WHERE d = DATE '2026-01-01' FETCH FIRST 5 ROWS ONLY",
            "a from t where d = constant limit 5",
        ),
        (
            Postgres,
            "SELECT a FROM t LIMIT :n",
            "a from t where  limit :n",
        ),
        (
            Postgres,
            "((SELECT a FROM t LIMIT 2));",
            "a from t where  limit 2",
        ),
        (
            Postgres,
            "SELECT a FROM (SELECT a FROM t LIMIT 3) q",
            "a from (query) q where ",
        ),
        (
            Postgres,
            "SELECT a FROM t FETCH FIRST 5 ROWS WITH TIES",
            "a from t where  limit ?",
        ),
    ] {
        assert_eq!(shown(&read(sql, dbms)), expected, "{sql}");
    }
}

#[test]
fn what_is_no_single_query_that_reads_is_refused() {
    for (dbms, sql, expected) in [
        (Postgres, "DELETE FROM t", "is not a query"),
        (Postgres, "", "is not a query"),
        (
            Postgres,
            "SELECT 1; DROP TABLE t",
            "is more than one statement",
        ),
        (
            Postgres,
            "WITH a AS (DELETE FROM t RETURNING *) SELECT * FROM a",
            "would write: it has DELETE",
        ),
        (
            Postgres,
            "SELECT * INTO u FROM t",
            "would write: it has INTO",
        ),
        (
            Postgres,
            "SELECT * FROM t FOR UPDATE",
            "would lock rows: it has FOR UPDATE",
        ),
        (
            Postgres,
            "SELECT * FROM t FOR NO KEY UPDATE OF t",
            "would lock rows: it has FOR NO KEY UPDATE",
        ),
        (
            Postgres,
            "SELECT * FROM t FOR SHARE",
            "would lock rows: it has FOR SHARE",
        ),
        (
            Postgres,
            "SELECT * FROM t FOR KEY SHARE NOWAIT",
            "would lock rows: it has FOR KEY SHARE",
        ),
        (
            Mysql,
            "SELECT * FROM t LOCK IN SHARE MODE",
            "would lock rows: it has LOCK IN SHARE MODE",
        ),
        (Postgres, "SELECT a FROM t WHERE id = $1", "written `$1`"),
        (Mariadb, "SELECT a FROM t WHERE id = ?", "written `?`"),
        (Mysql, "SELECT a FROM t WHERE id = @id", "written `@id`"),
        (Sqlite, "SELECT a FROM t WHERE id = ?1", "written `?1`"),
        (Sqlite, "SELECT a FROM t WHERE id = @id", "written `@id`"),
        (Sqlite, "SELECT a FROM t WHERE id = $id", "written `$id`"),
        (Sqlite, "SELECT a FROM t WHERE id = :1", "written `:1`"),
        (
            Mysql,
            "SELECT a FROM t WHERE a = 1 || b = 2 AND c = :c",
            "has `||`",
        ),
        (Mysql, "SELECT a FROM t WHERE a = 1 && b = 2", "has `&&`"),
        (
            Mysql,
            "SELECT a FROM t WHERE a = 1 AND b XOR c",
            "has `XOR`",
        ),
        (
            Mysql,
            "SELECT a FROM t WHERE a = 1 /*!50000 OR b = 2 */",
            "has `/*!`",
        ),
        (
            Mysql,
            "SELECT /*+ set_var(sql_select_limit=3) */ a FROM t WHERE a = 1",
            "has `SET_VAR`",
        ),
        (
            Mariadb,
            "SELECT a FROM t WHERE a = 1 /*M! OR b = 2 */",
            "has `/*!`",
        ),
        // The parser takes all that follows BINARY for its operand.
        (
            Mysql,
            "SELECT a FROM t WHERE BINARY b = 'x' AND c <> 9",
            "its operator BINARY",
        ),
        (
            Mysql,
            "SELECT a FROM t WHERE b = BINARY :b AND c = 1",
            "its operator BINARY",
        ),
        (
            Postgres,
            "SELECT a FROM t WHERE",
            "cannot be read: Expected",
        ),
        (Postgres, "SELECT 'a FROM t", "cannot be read: Unterminated"),
    ] {
        let refused = SqlQuery::read(sql, Some(dbms)).map(|query| shown(&query));
        let refused = refused.expect_err(sql).to_string();
        assert!(refused.contains(expected), "{sql}: {refused}");
    }
    for (dbms, sql) in [
        (Postgres, "(SELECT 1) UNION SELECT 2;"),
        (Postgres, "-- a word\nWITH a AS (SELECT 1) SELECT * FROM a"),
        (Postgres, "SELECT $x$1$x$, a ? 'b', @ a, y[1:2] FROM t"),
        (Postgres, "SELECT substring(share FROM 1 FOR 3) FROM t"),
        (Mysql, "SELECT @@version FROM t"),
        (
            Mysql,
            "SELECT CAST(a AS BINARY(2)), CONVERT(b, BINARY) FROM t WHERE BINARY (b) = :c AND b = BINARY :b ORDER BY BINARY a, BINARY lower(b) DESC",
        ),
        (Sqlite, "SELECT '?', \"@a\" FROM t WHERE id = :id"),
    ] {
        read(sql, dbms);
    }
}

#[test]
fn what_is_nested_too_deep_or_too_long_is_refused_and_breaks_nothing() {
    let of = |sql: &str| SqlQuery::read(sql, Some(Postgres)).map(|query| query.selects.len());
    let nested = |n: usize| format!("SELECT {}1{} FROM t", "(".repeat(n), ")".repeat(n));
    assert_eq!(of(&nested(20)), Ok(1));
    let refused = of(&nested(10_000)).expect_err("it is nested deep");
    assert_eq!(
        refused.to_string(),
        "cannot be read: it is nested too deeply"
    );
    for part in [" OR a=1", "+1", "||a::text", " IS NULL"] {
        let long = |n: usize| format!("SELECT a FROM t WHERE a = 1{}", part.repeat(n));
        assert_eq!(of(&long(3_000)), Ok(1));
        // As many as words are taken, and more.
        let most = of(&long(24_000)).map_err(|refused| refused.to_string());
        let too_long = Err("cannot be read: it is too long".to_owned());
        assert!(most == Ok(1) || most == too_long, "{most:?}");
        assert_eq!(
            of(&long(50_000)).map_err(|refused| refused.to_string()),
            too_long
        );
    }
}

#[test]
fn places_are_bytes_of_the_text() {
    let sql = "SELECT 'é' AS x,\n  ü.b FROM \"é\" ü WHERE ü.b = :b";
    let query = read(sql, Postgres);
    let shown = |span: &std::ops::Range<usize>| sql.get(span.clone()).unwrap_or_default();
    assert_eq!(
        query
            .sql
            .parameters()
            .iter()
            .map(|one| shown(&one.span))
            .collect::<Vec<_>>(),
        [":b"]
    );
}

#[test]
fn parameters_of_a_query_are_found_outside_of_quotes_and_comments() {
    let sql =
        "SELECT ':a', \":b\", x::text, y[1:2] -- :c\n FROM t /* :d */ WHERE z = :e AND w=:f_1";
    assert_eq!(parameters(sql, None), ["e", "f_1"]);
    let mysql = "SELECT 'it\\'s :a' # :b\n FROM t WHERE c = :c";
    assert_eq!(parameters(mysql, Some(Mariadb)), ["c"]);
    let mysql = "SELECT \"it\\\"s :a\", 5--:b FROM t WHERE c = :c -- :d";
    assert_eq!(parameters(mysql, Some(Mysql)), ["b", "c"]);
    let sqlite = "SELECT [a:b] FROM t WHERE c = :c";
    assert_eq!(parameters(sqlite, Some(Sqlite)), ["c"]);
}

#[test]
fn parameters_are_replaced_where_they_stand_and_nowhere_else() {
    let fill = |sql: &str, value: &'static str| {
        let with = |name: &str| (name == "id").then(|| value.to_owned());
        Sql::read(sql, Some(Postgres))
            .expect("it can be taken apart")
            .fill(&with)
    };
    let sql = "SELECT ':id', id::text FROM t WHERE id = :id OR x = :idx -- :id";
    let expected = "SELECT ':id', id::text FROM t WHERE id = 7 OR x = :idx -- :id";
    assert_eq!(fill(sql, "7"), expected);
    // A negative number begins no comment.
    assert_eq!(fill("SELECT 5-:id", "-3"), "SELECT 5-(-3)");
}

#[test]
fn a_comment_that_ends_a_query_of_one_line_is_seen() {
    for (sql, ends) in [
        ("SELECT a FROM t -- by key WHERE a = 1 ", true),
        ("SELECT a FROM t\nWHERE a = 1 -- by key", false),
        ("SELECT '-- a' FROM t", false),
    ] {
        let sql = Sql::read(sql, Some(Postgres)).expect("it can be taken apart");
        assert_eq!(sql.ends_in_comment(), ends);
    }
}

#[test]
fn what_parameters_are_compared_with_is_seen_wherever_they_stand() {
    for (sql, expected) in [
        ("t.a = :a AND b <> :b", "a t.a Equal, b b Other"),
        (":a <= x.\"Odd name\"", "a x.Odd name Low(true)"),
        (
            "a BETWEEN :a AND :b AND c >= :c",
            "a a Low(true), b a High(true), c c Low(true)",
        ),
        ("date(t.a) = date(:a)", "a t.a Equal"),
        ("a::date < :a", "a a High(false)"),
        (
            "a IN (:a, :b) AND n LIKE :n",
            "a a Equal, b a Equal, n n Other",
        ),
        ("x OR id IN (SELECT i FROM u WHERE u.a = :a)", "a u.a Equal"),
        ("a = :a || b", "a a Equal"),
    ] {
        let query = read(&format!("SELECT 1 FROM t WHERE {sql}"), Postgres);
        let comparisons = query.comparisons.iter();
        let all =
            comparisons.map(|c| format!("{} {} {:?}", c.parameter, column(&c.column), c.bound));
        assert_eq!(all.collect::<Vec<_>>().join(", "), expected, "{sql}");
    }
}

#[test]
fn whether_a_bound_is_taken_in_is_seen() {
    for (sql, upper, expected) in [
        ("a >= :p AND a < :q", false, Some(true)),
        ("a < :p", true, Some(false)),
        ("a <= :p", true, Some(true)),
        (":p > a", true, Some(false)),
        ("a < date(:p) + 1", true, Some(false)),
        ("a BETWEEN :o AND :p", true, Some(true)),
        ("a BETWEEN :p AND :q", false, Some(true)),
        ("a = :o AND b > 1 AND :p < c", false, Some(false)),
        ("a = :p", true, None),
        ("a < :p OR b = :p", true, None),
        ("a < ':p'", true, None),
    ] {
        let query = SqlQuery::read(&format!("SELECT * FROM t WHERE {sql}"), None).expect(sql);
        assert_eq!(query.takes_in("p", upper), expected, "{sql}");
    }
}

#[test]
fn tables_are_found_with_their_aliases() {
    for (sql, expected) in [
        (
            "SELECT a, b FROM public.users u JOIN orders AS o ON true LEFT JOIN \"Order Details\" USING (id) \
             JOIN (SELECT 1 FROM inner_one) q ON true, late WHERE a IN (SELECT b FROM other), x",
            "",
        ),
        (
            "SELECT a, b FROM public.users u, orders AS o LEFT JOIN \"Order Details\" USING (id) \
             JOIN (SELECT 1 FROM inner_one) q ON true, late WHERE a IN (SELECT b FROM other)",
            "u=public.users, o=orders, Order Details=Order Details, inner_one=inner_one, late=late, other=other",
        ),
        (
            "WITH q AS (SELECT 1 FROM a) (SELECT 1 FROM ONLY b, q ORDER BY x, y)",
            "a=a, b=b",
        ),
    ] {
        let Ok(query) = SqlQuery::read(sql, Some(Postgres)) else {
            assert_eq!(expected, "", "{sql}");
            continue;
        };
        let all = query.tables.iter().map(|read| {
            let schema = read
                .schema
                .as_ref()
                .map_or(String::new(), |name| format!("{}.", name.text));
            format!("{}={schema}{}", read.called.text, read.name.text)
        });
        assert_eq!(all.collect::<Vec<_>>().join(", "), expected, "{sql}");
    }
}

/// What a query sorts by in its tables, as `column/collation`, or in its result, as a name, a number or `?`.
fn sorted(sql: &str, in_tables: bool) -> Option<String> {
    let keys = read(sql, Postgres).order?;
    let all = keys.iter().filter_map(|key| {
        if in_tables {
            let collation = key.collation.as_ref();
            let collation = collation.map_or(String::new(), |name| format!("/{}", name.text));
            return key.column.as_ref().map(|one| column(one) + &collation);
        }
        Some(match &key.result {
            InResult::Named(name) => name.clone(),
            InResult::Number(number) => number.to_string(),
            InResult::Expression => "?".to_owned(),
        })
    });
    Some(all.collect::<Vec<_>>().join(" "))
}

#[test]
fn columns_of_the_outermost_order_by_are_found() {
    for (sql, expected) in [
        (
            "SELECT a FROM t ORDER BY a DESC NULLS LAST, t.\"B c\" LIMIT 3",
            "a t.B c",
        ),
        (
            "SELECT a FROM t ORDER BY a COLLATE \"C\" DESC, b COLLATE pg_catalog.\"de\"",
            "a/C b/de",
        ),
        (
            "SELECT x, f.title AS t, count(*) FROM f ORDER BY 2, T, 3",
            "f.title f.title",
        ),
        (
            "SELECT DISTINCT ON (a, b) a, lower(b) b FROM t ORDER BY a, b",
            "a",
        ),
        ("SELECT *, a FROM t ORDER BY 2", ""),
        ("SELECT a COLLATE \"C\" x FROM t ORDER BY x", "a/C"),
        (
            "SELECT a FROM t ORDER BY lower(a), a || b, a::text, CASE a WHEN 1 THEN 2 END",
            "",
        ),
        ("SELECT a FROM t UNION SELECT b FROM u ORDER BY a", ""),
        ("WITH t AS (SELECT 1) SELECT a FROM t ORDER BY a", ""),
    ] {
        assert_eq!(sorted(sql, true).as_deref(), Some(expected), "{sql}");
    }
    let keys = read("SELECT a FROM t ORDER BY a DESC NULLS LAST, b", Postgres).order;
    let keys: Vec<_> = keys.iter().flatten().map(|key| key.descending).collect();
    assert_eq!(keys, [true, false]);
}

#[test]
fn the_order_of_a_query_is_its_outermost() {
    for (sql, expected) in [
        ("SELECT row_number() OVER (ORDER BY a) FROM t", None),
        ("SELECT a FROM (SELECT a FROM t ORDER BY a) q", None),
        (
            "SELECT a, b FROM t ORDER BY t.a DESC NULLS LAST, B COLLATE \"C\", 2, lower(a), \"B\" LIMIT 3",
            Some("? ? 2 ? B"),
        ),
        ("(SELECT a FROM t ORDER BY a DESC);", Some("a")),
        (
            "((SELECT a FROM t) UNION (SELECT b FROM u) ORDER BY 1)",
            Some("1"),
        ),
        ("(SELECT a FROM t) UNION (SELECT b FROM u ORDER BY b)", None),
        (
            "WITH q AS (SELECT 1) (SELECT a FROM q ORDER BY a DESC)",
            Some("a"),
        ),
        (
            "WITH q AS (SELECT 1 ORDER BY 1) SELECT a FROM q WHERE a IN (SELECT b FROM q ORDER BY b)",
            None,
        ),
        (
            "SELECT o.id, c.name, o.name FROM o, c ORDER BY o.name",
            Some("?"),
        ),
        (
            "SELECT id, date(placed) AS placed FROM o ORDER BY o.placed",
            Some("?"),
        ),
        (
            "SELECT id, date(placed) AS placed FROM o ORDER BY placed",
            Some("placed"),
        ),
        (
            "SELECT id, date(placed) AS placed FROM o ORDER BY placed COLLATE \"C\"",
            Some("?"),
        ),
        ("SELECT * FROM o ORDER BY o.placed", Some("?")),
    ] {
        assert_eq!(sorted(sql, false).as_deref(), expected, "{sql}");
    }
}

#[test]
fn names_are_compared_as_the_database_compares_them() {
    let name = |sql: &str, dbms| match read(sql, dbms)
        .select()
        .and_then(|one| one.outputs.first().cloned())
    {
        Some(SelectOutput::One {
            name: Some(name), ..
        }) => name,
        _ => panic!("it has a name"),
    };
    assert!(name("SELECT Id FROM t", Postgres).is("id"));
    assert!(!name("SELECT Id FROM t", Postgres).is("Id"));
    assert!(name("SELECT \"Id\" FROM t", Postgres).is("Id"));
    assert!(!name("SELECT \"Id\" FROM t", Postgres).is("id"));
    assert!(name("SELECT `Id` FROM t", Mysql).is("ID"));
    assert!(name("SELECT [Id] FROM t", Sqlite).is("iD"));
}

#[test]
fn columns_literals_and_operators_are_steady() {
    for sql in [
        "status = 'open' AND total > 10",
        "NOT (total + 1) * 2 > -3.5 OR id IN (1, 2) OR \"users\" BETWEEN 5 AND 6",
        "created_at > TIMESTAMP '2026-01-01 00:00:00' AND active IS TRUE",
        "email LIKE '%@example.com' OR email IS NOT NULL",
    ] {
        assert!(!reads_more(sql, Dbms::Postgres), "{sql}");
    }
    // In PostgreSQL it may call a function of that name.
    let with_table = "users.id BETWEEN 5 AND 6";
    assert!(reads_more(with_table, Dbms::Postgres));
    assert!(!reads_more(with_table, Dbms::Mysql));
    assert!(reads_more("id <= @@global.long_query_time", Dbms::Mysql));
}

#[test]
fn what_depends_on_the_clock_on_chance_or_on_who_asks_is_fickle() {
    for sql in [
        "created_at > now() - interval '1 hour'",
        "created_at > localtimestamp - interval '1 hour'",
        "created_at > LOCALTIME",
        "created_at > transaction_timestamp()",
        "created_at > statement_timestamp ( )",
        "timeofday() <> ''",
        "age(created_at) < interval '1 day'",
        "day = 'today'::date",
        "day > date 'yesterday'",
        "day = CURRENT_DATE",
        "at > sysdate(6)",
        "unix_timestamp() > at",
        "at > datetime('now', '-1 day')",
        "strftime('%Y') = year",
        "date() > day",
        "random() < 0.5",
        "id > abs(random())",
        "key = gen_random_uuid()",
        "owner = current_user",
        "owner = user",
        "tenant = current_setting('app.tenant')",
        "lower(email) LIKE 'a%'",
        "abs(id) > 5",
        "id::text = '5'",
        "id OPERATOR(public.=) 5",
        "coalesce(note, '') <> ''",
        "id = ANY (ARRAY(TABLE ids))",
        "id = ANY ((",
        "total > (SELECT avg(total) FROM orders)",
        "EXISTS (SELECT 1 FROM public.orders o WHERE o.user_id = users.id)",
        "is_recent(created_at)",
        "public.lower(name) = 'x'",
        "\"Is recent\"(created_at)",
        "is_recent/* */(created_at)",
        "id IN (SELECT id FROM recent)",
    ] {
        assert!(reads_more(sql, Dbms::Postgres), "{sql}");
    }
    assert!(reads_more("at > utc_timestamp", Dbms::Mysql));
}

#[test]
fn what_makes_a_query_answer_otherwise_is_named() {
    let unsteady = |condition: &str| {
        let sql = format!("SELECT 1 FROM t WHERE {condition}");
        read(&sql, Sqlite).unsteady
    };
    for condition in [
        "status <> 'unknown'",
        "iif(n > 1, 1, 0) = 1",
        "typeof(d) = 'text'",
    ] {
        assert_eq!(unsteady(condition), Vec::<String>::new(), "{condition}");
    }
    // A column may hold the text `now`.
    for (condition, word) in [
        ("date(d) = '2026-01-01'", "date()"),
        ("datetime('now', '-1 day') > d", "datetime()"),
        ("date() > d", "date()"),
        ("strftime('%s', 'now') > d", "strftime()"),
        ("d > 'now'", "'now'"),
        ("d > '04:05tomorrow'", "'04:05tomorrow'"),
    ] {
        assert!(
            unsteady(condition).contains(&word.to_owned()),
            "{condition}"
        );
    }
}

#[test]
fn the_time_is_told_by_what_a_literal_stands_for() {
    for literal in [
        r"E'\x6eow'",
        r"E'\156ow'",
        r"E'\tnow'",
        r"E'\ntoday'",
        r"U&'\006eow'",
        "$a$now$a$",
    ] {
        let sql = format!("SELECT 1 FROM t WHERE d > {literal}::timestamp");
        assert_eq!(read(&sql, Postgres).unsteady.len(), 1, "{literal}");
    }
    let sql = r"SELECT 1 FROM t WHERE d > E'\x6eone' AND n > :today";
    assert!(read(sql, Postgres).unsteady.is_empty());
}

#[test]
fn a_cast_to_an_array_is_as_steady_as_one_to_its_elements() {
    for (cast, is_steady) in [
        ("ARRAY['a']::text[]", true),
        ("'{a}'::text[][]", true),
        ("ARRAY['2026-01-01']::date[]", false),
        ("ARRAY['a']::regclass[]", false),
        ("ARRAY['a']::flag[]", false),
    ] {
        let query = read(&format!("SELECT 1 FROM t WHERE d @> {cast}"), Postgres);
        assert_eq!(query.unsteady.is_empty(), is_steady, "{cast}");
    }
}

#[test]
fn a_function_that_the_database_does_not_have_is_somebodys() {
    for (function, own) in [
        ("iif(n > 1, 1, 0)", [false, false, true]),
        ("typeof(n)", [false, false, true]),
        ("starts_with(d, 'a')", [true, false, true]),
        ("instr(d, 'a')", [false, true, true]),
        ("lower(d)", [true, true, true]),
        ("find_in_set('a', d)", [false, true, false]),
        ("json_contains(d, '1')", [false, true, false]),
        ("uuid_to_bin(d)", [false, true, false]),
        ("md5(d)", [true, false, false]),
        ("split_part(d, '-', 1)", [true, false, false]),
        ("json_array_length(d)", [true, false, true]),
        ("year(d)", [false, false, false]),
        ("date_part('year', d)", [false, false, false]),
        ("to_char(d, 'Day')", [false, false, false]),
        ("EXTRACT(YEAR FROM d)", [false, false, false]),
    ] {
        for (dbms, is_own) in [Postgres, Mysql, Sqlite].into_iter().zip(own) {
            let query = read(&format!("SELECT {function} FROM t"), dbms);
            assert_eq!(query.unsteady.is_empty(), is_own, "{dbms:?}: {function}");
        }
    }
}

#[test]
fn each_function_that_is_known_is_listed_once() {
    let mut all: Vec<&str> = Vec::new();
    for list in [query::STEADY, query::ONE_TO_A_STATEMENT] {
        let words: Vec<&str> = list.split_whitespace().collect();
        assert!(words.is_sorted(), "{list}");
        all.extend(words);
    }
    for list in query::OF_SOME {
        let words: Vec<&str> = list.split_whitespace().collect();
        assert!(words.is_sorted(), "{list}");
        assert!(words.iter().all(|word| !all.contains(word)), "{list}");
    }
    all.sort_unstable();
    let twice = all.windows(2).find(|pair| pair[0] == pair[1]);
    assert_eq!(twice, None);
}

#[test]
fn a_column_whose_name_only_begins_like_a_clock_is_none() {
    for sql in [
        "current_price > 5",
        "utc_offset = 2",
        "localtime_zone = 'x'",
    ] {
        for dbms in [Dbms::Postgres, Dbms::Mysql, Dbms::Mariadb, Dbms::Sqlite] {
            assert!(!reads_more(sql, dbms), "{sql}");
        }
    }
    // These are words of other databases.
    for (sql, dbms) in [
        ("user = 'ann'", Dbms::Sqlite),
        ("user = 'ann'", Dbms::Mysql),
        ("utc_date > 5", Dbms::Postgres),
    ] {
        assert!(!reads_more(sql, dbms), "{sql}");
    }
    assert!(reads_more("at > current_timestamp", Dbms::Sqlite));
}

#[test]
fn an_order_decides_where_it_has_a_key_of_each_table_or_what_leads_to_one() {
    let catalog = dynafold_relational::catalog::sample::shop();
    let decides = |sql: &str| read(sql, Postgres).order_decides(&catalog);
    let lines = "\"Order Details\" d";
    for sql in [
        "SELECT id FROM orders WHERE user_id = :u ORDER BY placed_at DESC, id LIMIT 5",
        "SELECT id, placed_at FROM orders ORDER BY 2, 1 LIMIT 5",
        "SELECT id FROM users ORDER BY email LIMIT 5",
        "SELECT id FROM users ORDER BY email COLLATE \"C\" LIMIT 5",
        "SELECT id FROM users ORDER BY email COLLATE ucs_basic LIMIT 5",
        "SELECT o.id, u.email FROM orders o JOIN users u ON u.id = o.user_id ORDER BY o.id LIMIT 5",
        "SELECT o.id, u.email FROM orders o LEFT JOIN users u ON u.id = o.user_id ORDER BY o.id LIMIT 5",
        "SELECT o.id, u.email FROM orders o, users u WHERE u.id = o.user_id AND o.id = 7 ORDER BY u.email LIMIT 5",
        &format!("SELECT d.no FROM {lines} WHERE d.\"Order ID\" = :o ORDER BY d.no LIMIT 5"),
        &format!(
            "SELECT d.no FROM {lines} JOIN orders o ON o.id = d.\"Order ID\" ORDER BY o.id, d.no LIMIT 5"
        ),
        "SELECT user_id, count(*) FROM orders GROUP BY user_id ORDER BY user_id LIMIT 5",
    ] {
        assert!(decides(sql), "{sql}");
    }
    for sql in [
        "SELECT id FROM orders LIMIT 5",
        "SELECT id FROM orders WHERE user_id = :u ORDER BY placed_at DESC LIMIT 5",
        "SELECT id FROM users ORDER BY email COLLATE \"de_DE\" LIMIT 5",
        // Only MySQL's names say that they are of bytes.
        "SELECT id FROM users ORDER BY email COLLATE own_bin LIMIT 5",
        "SELECT id FROM users ORDER BY lower(email) LIMIT 5",
        // A user has several orders, and where there is no user the order is not told.
        "SELECT o.id, u.email FROM orders o JOIN users u ON u.id = o.user_id ORDER BY u.id LIMIT 5",
        "SELECT o.id FROM orders o LEFT JOIN users u ON u.id = o.id ORDER BY u.id LIMIT 5",
        "SELECT o.id FROM users u RIGHT JOIN orders o ON o.user_id = u.id AND u.id < 0 ORDER BY u.id LIMIT 5",
        &format!("SELECT d.no FROM {lines} ORDER BY d.no LIMIT 5"),
        "SELECT o.id FROM orders o CROSS JOIN users u ORDER BY o.id LIMIT 5",
        "SELECT user_id, count(*) AS n FROM orders GROUP BY user_id ORDER BY n LIMIT 5",
        "SELECT id FROM recent ORDER BY id LIMIT 5",
        "SELECT DISTINCT placed_at FROM orders ORDER BY placed_at LIMIT 5",
    ] {
        assert!(!decides(sql), "{sql}");
    }
    let of_mysql = Catalog {
        dbms: Mysql,
        ..catalog
    };
    for (collation, is_decided) in [("utf8mb4_bin", false), ("utf8mb4_0900_bin", true)] {
        let sql = format!("SELECT id FROM users ORDER BY email COLLATE {collation} LIMIT 5");
        assert_eq!(
            read(&sql, Mysql).order_decides(&of_mysql),
            is_decided,
            "{sql}"
        );
    }
}

#[test]
fn a_column_of_a_table_is_told_by_the_name_before_its_point() {
    let names = |sql: &str| Sql::read(sql, Some(Sqlite)).unwrap().names_column_of("p");
    let quoted = Sql::read("\"p\".x = 1", Some(Mysql)).unwrap();
    assert!(quoted.names_column_of("p"));
    for sql in [
        "P.x = 1",
        "(\"p\".x) = 1",
        "[p].x = 1",
        "'p'.x = 1",
        "p /* a */ . x",
    ] {
        assert!(names(sql), "{sql}");
    }
    for sql in ["shop.x = 1", "price > 1", "x = 'p.x'", "1 -- p.x"] {
        assert!(!names(sql), "{sql}");
    }
}

#[test]
fn equalities_of_bytes_are_plain_where_literals_are_meant() {
    let said = |condition: &str, dbms: Dbms, lists: Lists| {
        let sql = format!("SELECT a FROM t WHERE {condition}");
        parametrized(&sql, dbms, lists).unwrap().sql
    };
    for (dbms, condition, plain) in [
        (Dbms::Postgres, "a COLLATE \"C\" = :a", "a = :a"),
        (
            Dbms::Postgres,
            "b = 1 AND CAST(t.a AS text) COLLATE \"C\" = 'x COLLATE'",
            "b = 1 AND t.a = 'x COLLATE'",
        ),
        (Dbms::Mysql, "a COLLATE utf8mb4_bin = :a", "a = :a"),
        (
            Dbms::Mysql,
            "CAST(CONVERT(t.a USING utf8mb4) AS BINARY) = CAST(:a AS BINARY)",
            "t.a = :a",
        ),
    ] {
        let plain = format!("SELECT a FROM t WHERE {plain}");
        assert_eq!(said(condition, dbms, Lists::Said), plain);
        assert_ne!(said(condition, dbms, Lists::Kept), plain);
    }
    for (dbms, condition) in [
        (Dbms::Postgres, "a COLLATE \"de_DE\" = :a"),
        (Dbms::Postgres, "a COLLATE \"C\" < :a"),
        (Dbms::Mysql, "a COLLATE utf8mb4_unicode_ci = :a"),
        (Dbms::Mysql, "CAST(a AS BINARY) = CAST(:a AS BINARY)"),
    ] {
        let kept = format!("SELECT a FROM t WHERE {condition}");
        assert_eq!(said(condition, dbms, Lists::Said), kept);
    }
}

#[test]
fn operands_are_the_same_whatever_the_tables_are_called() {
    let outputs = |sql: &str| -> Vec<Operand> {
        let query = read(sql, Postgres);
        let outputs = query.select().unwrap().outputs.iter();
        let values = outputs.map(|output| match output {
            SelectOutput::One { value, .. } => value.without_owners(),
            _ => panic!("{sql}"),
        });
        values.collect()
    };
    let plain = outputs("SELECT sum(a), a * b, 'x.a' || b, a FROM x");
    let owned = outputs("SELECT sum(x.a), X.a * x.b, 'x.a' || app.x.b, x.a FROM app.x");
    assert_eq!(plain, owned);
    for other in ["sum(b), a * b, 'x.a' || b, a", "sum(a), a * b, 'a' || b, a"] {
        assert_ne!(plain, outputs(&format!("SELECT {other} FROM x")));
    }
}

#[test]
fn a_query_of_a_with_hides_a_table_only_where_it_is_known() {
    for (sql, expected) in [
        (
            "WITH t AS (SELECT a FROM u) SELECT a FROM t, public.t",
            "u t",
        ),
        ("WITH t AS (SELECT a FROM t) SELECT a FROM t", "t"),
        (
            "WITH RECURSIVE t AS (SELECT a FROM u UNION SELECT a FROM t) SELECT a FROM t",
            "u",
        ),
        (
            "WITH v AS (SELECT a FROM w), w AS (SELECT a FROM v) SELECT a FROM w",
            "w",
        ),
        (
            "SELECT a FROM t WHERE a IN (WITH t AS (SELECT 1) SELECT 1 FROM t)",
            "t",
        ),
        (
            "WITH t AS (SELECT 1) SELECT a FROM u WHERE a IN (SELECT 1 FROM t)",
            "u",
        ),
    ] {
        let tables = read(sql, Postgres).tables;
        let names: Vec<&str> = tables.iter().map(|read| &*read.name.text).collect();
        assert_eq!(names.join(" "), expected, "{sql}");
    }
}

#[test]
fn in_sqlite_each_query_of_a_with_knows_all_of_them() {
    for (sql, expected) in [
        (
            "WITH t AS (SELECT 1 AS a UNION ALL SELECT a + 1 FROM t WHERE a < 9) SELECT a FROM t",
            "",
        ),
        (
            "WITH v AS (SELECT a FROM w), w AS (SELECT 1 AS a) SELECT a FROM v",
            "",
        ),
        ("WITH w AS (SELECT a FROM main.w) SELECT a FROM w", "w"),
    ] {
        let tables = read(sql, Sqlite).tables;
        let names: Vec<&str> = tables.iter().map(|read| &*read.name.text).collect();
        assert_eq!(names.join(" "), expected, "{sql}");
    }
}

#[test]
fn a_table_whose_name_is_not_read_may_give_anything() {
    let sql = "SELECT a FROM t WHERE EXISTS (SELECT 1 FROM app.public.u)";
    assert_eq!(read(sql, Postgres).unsteady, ["app.public.u"]);
}

#[test]
fn a_negative_limit_of_sqlite_is_none() {
    let sql = "SELECT a FROM t LIMIT -1 OFFSET 20";
    let limits = |dbms| {
        let query = read(sql, dbms);
        (query.limit, query.offset)
    };
    assert_eq!(limits(Sqlite), (RowLimit::None, RowLimit::Rows(20)));
    assert_eq!(limits(Postgres).0, RowLimit::Unknown);
}
