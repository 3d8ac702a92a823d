//! What the document says, section by section.

use dynafold_format::{bytes, count, counted};

use super::definition::{
    Answer, Attribute, Collection, Definition, Figures, ItemType, Key, Member, Parameter, Part,
    Pattern, Place, SourceTable, SteadyPlace, Warning,
};
use super::phrases::{self, cost, marked, told, units};
use super::tree::{
    About, Article, Block, Line, Link, Piece, Row, Section, Table, code, joined, link, origins,
    plain, prose,
};

/// All sections in their order.
pub(super) fn sections(definition: &Definition) -> Vec<Section> {
    let mut sections = vec![
        Section {
            anchor: "overview",
            title: "Overview",
            intro: "What this DynamoDB table holds, which questions it answers, and what it \
                    costs. Start with the access patterns if you want to know how to ask it.",
            blocks: vec![texts(phrases::overview(definition))],
        },
        Section {
            anchor: "erd",
            title: "Relational model",
            intro: "The tables that the items are made from, with their foreign keys. Tables that \
                    the mapping does not touch are dimmed or left out.",
            blocks: vec![Block::Drawing],
        },
        Section {
            anchor: "patterns",
            title: "Access patterns",
            intro: "The questions that this table answers, each in the place of a SQL query. A \
                    key condition reads like a WHERE clause: the partition key must be equal, the \
                    sort key may be a prefix or a range. There are no joins; a question that is \
                    not listed here has no index that serves it.",
            blocks: patterns(definition),
        },
    ];
    if !definition.patterns.is_empty() {
        let each = definition.patterns.iter();
        sections.push(Section {
            anchor: "pattern-details",
            title: "Each access pattern",
            intro: "Parameters, how it is asked, the SQL that it replaces, and a real answer.",
            blocks: each
                .map(|pattern| Block::Article(one_pattern(definition, pattern)))
                .collect(),
        });
    }
    let item_types = definition.item_types.iter();
    sections.extend([
        Section {
            anchor: "table",
            title: "Table and indexes",
            intro: "One DynamoDB table holds all entities. Its partition key says where an item \
                    lies, its sort key in which order; an index holds the same items under \
                    another key.",
            blocks: places(definition),
        },
        Section {
            anchor: "items",
            title: "Item types",
            intro: "An item is what a row was. Each item type says which rows become items, how \
                    their keys are written ({…} takes a column's value), and what they carry.",
            blocks: item_types
                .map(|item| Block::Article(one_item_type(definition, item)))
                .collect(),
        },
        Section {
            anchor: "aggregate",
            title: "Item collections",
            intro: "The same items as the table and each index lay them out. Items with one \
                    partition key lie together in the order of their sort keys; one Query reads \
                    them, where SQL would join.",
            blocks: collections(definition),
        },
        Section {
            anchor: "coverage",
            title: "Where the columns go",
            intro: "Each column of the relational model with the item types and attributes that \
                    carry it, and what nothing carries.",
            blocks: coverage(definition),
        },
        Section {
            anchor: "cost",
            title: "Sizes, capacity and cost",
            intro: "DynamoDB bills what is read, written and stored, not servers. A read unit \
                    reads 4 KB (half a unit if it need not be strongly consistent), a write unit \
                    writes 1 KB, and each index that holds an item is written too.",
            blocks: sizes_and_cost(definition),
        },
        Section {
            anchor: "warnings",
            title: "Warnings",
            intro: "What `dynafold check` warns of, and what the mapping has accepted.",
            blocks: warnings(definition),
        },
    ]);
    sections
}

/// Facts that are texts.
fn texts(facts: Vec<(&'static str, String)>) -> Block {
    let facts = facts.into_iter();
    Block::Facts(
        facts
            .map(|(name, value)| (name, vec![plain(value)]))
            .collect(),
    )
}

/// Access patterns with commas between.
fn pattern_names(names: &[String]) -> Line {
    let links = names.iter().map(|name| vec![link(About::Pattern, name)]);
    joined(links, &plain(", "))
}

/// A table of the access patterns, and how its figures are to be read.
fn patterns(definition: &Definition) -> Vec<Block> {
    let all = &definition.patterns;
    if all.is_empty() {
        let none = "The mapping has no access patterns.";
        return vec![Block::Paragraph(vec![plain(none)])];
    }
    let rows = all.iter().map(|each| Row {
        sources: sources_of(definition, |source| source.patterns.contains(&each.name)),
        search: each.sql.clone().unwrap_or_default(),
        ..Row::new(pattern_cells(definition, each))
    });
    let mut table = Table::new(
        "Access patterns: how each is asked and what it costs",
        &[
            "Access pattern",
            "Asks",
            "Finds",
            "#Read units a call",
            "#A million calls",
            "#A month",
        ],
        rows.collect(),
    );
    table.class = "patterns";
    let mut note = vec![plain(phrases::examples(definition.examples.as_ref()) + " ")];
    if let Some(reads) = phrases::reads(definition) {
        note.extend(prose(&reads));
        note.push(plain(" "));
    }
    note.push(plain(phrases::prices(&definition.figures)));
    vec![
        Block::Filter(all.len()),
        Block::Table(table),
        Block::Note(note),
    ]
}

fn pattern_cells(definition: &Definition, each: &Pattern) -> Vec<Line> {
    let mut name = vec![link(About::Pattern, &each.name)];
    if let Some(description) = &each.description {
        name.push(Piece::Sub(vec![plain(description)]));
    }
    let marked = |figure: &str| plain(marked(each.units.at_least, figure));
    vec![
        name,
        asked(definition, each),
        joined(
            each.finds
                .iter()
                .map(|name| vec![Piece::Marked("name", name.clone())]),
            &Piece::Break,
        ),
        vec![marked(&units(each.units.usual()))],
        vec![marked(&cost(each.cost.usd_per_million))],
        match each.rate {
            Some(rate) => vec![
                marked(&cost(each.cost.usd_per_month)),
                plain(format!(" at {rate}/s")),
            ],
            None => vec![Piece::Marked("none", "no rate".to_owned())],
        },
    ]
}

/// What is asked, and by which key condition.
fn asked(definition: &Definition, pattern: &Pattern) -> Line {
    let index = pattern.index.as_ref().unwrap_or(&definition.table);
    vec![
        Piece::Marked("place", index.clone()),
        plain(" "),
        code(&pattern.condition),
    ]
}

/// The tables of the source that something is made from.
fn sources_of(definition: &Definition, is: impl Fn(&SourceTable) -> bool) -> Vec<String> {
    let found = definition.sources.iter().filter(|source| is(source));
    found.map(|source| source.id.to_string()).collect()
}

fn one_pattern(definition: &Definition, pattern: &Pattern) -> Article {
    let mut blocks = Vec::new();
    if let Some(description) = &pattern.description {
        blocks.push(Block::Paragraph(vec![plain(description)]));
    }
    let operation = Piece::Marked("operation", pattern.operation.to_owned());
    let mut asks = vec![operation, plain(" ")];
    asks.extend(asked(definition, pattern));
    blocks.push(Block::Paragraph(asks));
    blocks.push(Block::Facts(pattern_facts(pattern)));
    if !pattern.parameters.is_empty() {
        blocks.push(Block::Table(Table::new(
            format!("Parameters of {}", pattern.name),
            &["Parameter", "Kind", "Written into the key as", "Values of"],
            pattern.parameters.iter().map(parameter).collect(),
        )));
    }
    blocks.push(Block::Subheading("How to ask".to_owned()));
    blocks.push(Block::Code("sh", pattern.command.clone()));
    if let Some(request) = &pattern.request {
        let operation = request.operation;
        let sent = format!("The request, a {operation}:");
        blocks.push(Block::Paragraph(vec![plain(sent)]));
        blocks.push(Block::Code("json", request.json.clone()));
        if request.more > 0 {
            let more = format!("And {} more, one for each shard.", request.more);
            blocks.push(Block::Paragraph(vec![plain(more)]));
        }
        if pattern.answer.as_ref().is_some_and(|answer| answer.is_cut) {
            blocks.push(Block::Note(vec![plain(phrases::CUT)]));
        }
    }
    if let Some(sql) = &pattern.sql {
        let title = "The query that it replaces";
        blocks.push(Block::Subheading(title.to_owned()));
        blocks.push(Block::Code("sql", sql.clone()));
    }
    match &pattern.answer {
        Some(answer) => blocks.extend(answered(pattern, answer)),
        None => blocks.push(Block::Note(vec![plain(phrases::unanswered(definition))])),
    }
    Article {
        link: Link {
            about: About::Pattern,
            name: pattern.name.clone(),
        },
        sources: sources_of(definition, |source| source.patterns.contains(&pattern.name)),
        blocks,
    }
}

fn pattern_facts(pattern: &Pattern) -> Vec<(&'static str, Line)> {
    let mut facts = vec![("Finds", vec![plain(pattern.finds.join(", "))])];
    if let Some((order, descending)) = &pattern.order {
        let way = if *descending {
            "descending"
        } else {
            "ascending"
        };
        facts.push(("Order", vec![plain(format!("{order} {way}"))]));
    }
    if let Some(limit) = pattern.limit {
        facts.push(("Limit", vec![plain(limit.to_string())]));
    }
    if let Some(filter) = &pattern.filter {
        facts.push(("Filter", vec![code(filter)]));
    }
    if pattern.consistent {
        facts.push(("Reads", vec![plain("strongly consistent")]));
    }
    if pattern.partitions > 1 {
        let merged = format!("{}, merged", pattern.partitions);
        facts.push(("Partitions", vec![plain(merged)]));
    }
    let call = phrases::call(&pattern.units);
    facts.push(("Read units a call", vec![plain(call)]));
    let told = |amount| told(pattern.units.at_least, &cost(amount));
    let mut costs = format!("{} a million calls", told(pattern.cost.usd_per_million));
    if let Some(rate) = pattern.rate {
        let month = told(pattern.cost.usd_per_month);
        costs.push_str(&format!("; {month} a month at {rate} a second"));
    }
    facts.push(("Cost", vec![plain(costs)]));
    facts
}

fn parameter(parameter: &Parameter) -> Row {
    let mut from = origins(&parameter.origins);
    if let Some(clock) = &parameter.clock {
        from.extend([plain(" unless given: "), code(clock)]);
    }
    Row::new(vec![
        vec![code(&parameter.name)],
        vec![plain(parameter.kind.to_lowercase())],
        match &parameter.written {
            Some(written) => vec![code(written)],
            None => vec![plain("as it is")],
        },
        from,
    ])
}

fn answered(pattern: &Pattern, answer: &Answer) -> [Block; 3] {
    let given = answer.parameters.iter();
    let given: Vec<String> = given
        .map(|(name, value)| format!("{name} = {value}"))
        .collect();
    let caption = match given.as_slice() {
        [] => format!("The answer of {}", pattern.name),
        given => format!("The answer of {} for {}", pattern.name, given.join(", ")),
    };
    let found = phrases::found(answer.found, answer.items.len(), answer.more);
    [
        Block::Subheading("A real answer".to_owned()),
        Block::Paragraph(vec![plain(found)]),
        Block::Table(Table::of_items(caption, &answer.items)),
    ]
}

fn places(definition: &Definition) -> Vec<Block> {
    let keys = |keys: &[Key]| {
        let keys = keys.iter();
        let keys = keys.map(|key| {
            let key_type = Piece::Type(key.key_type.to_owned());
            vec![code(&key.name), plain(" "), key_type]
        });
        joined(keys, &plain(", "))
    };
    let rows = definition.places.iter().map(|place| {
        let kind = Piece::Sub(vec![plain(phrases::kind(place))]);
        Row::new(vec![
            vec![plain(&place.name), kind],
            keys(&place.partition),
            keys(&place.sort),
            vec![plain(&place.projection)],
            vec![plain(&place.billing)],
            members(&place.members),
        ])
    });
    let table = Table::new(
        "The table and its indexes",
        &[
            "Name",
            "Partition key",
            "Sort key",
            "Projects",
            "Capacity",
            "Holds",
        ],
        rows.collect(),
    );
    vec![Block::Table(table), texts(definition.settings.clone())]
}

fn members(members: &[Member]) -> Line {
    let lines = members.iter().map(|member| {
        let mut line = Line::new();
        if member.when.is_some() {
            line.push(plain("some "));
        }
        line.push(link(About::ItemType, &member.name));
        line.extend(member.when.as_ref().map(|when| Piece::Sub(prose(when))));
        if let Some(value) = &member.single_partition {
            let all = vec![plain("all under "), Piece::Value(value.clone())];
            line.push(Piece::Sub(all));
        }
        line
    });
    joined(lines, &Piece::Break)
}

fn one_item_type(definition: &Definition, item: &ItemType) -> Article {
    let mut blocks = vec![Block::Facts(item_facts(item))];
    if let Some(sql) = &item.query {
        blocks.push(Block::Code("sql", sql.clone()));
    }
    blocks.push(Block::Table(Table::new(
        format!("Attributes of {}", item.name),
        &["Attribute", "Type", "Made from", "Columns"],
        item.attributes.iter().map(attribute).collect(),
    )));
    if !item.examples.is_empty() {
        let caption = format!("Examples of {}", item.name);
        let examples = Block::Table(Table::of_items(caption, &item.examples));
        blocks.push(Block::Folded("Example items".to_owned(), vec![examples]));
    }
    Article {
        link: Link {
            about: About::ItemType,
            name: item.name.clone(),
        },
        sources: sources_of(definition, |source| source.item_types.contains(&item.name)),
        blocks,
    }
}

fn attribute(attribute: &Attribute) -> Row {
    let mut name = vec![code(&attribute.name)];
    for role in &attribute.roles {
        name.extend([plain(" "), Piece::Marked("role", role.clone())]);
    }
    Row::new(vec![
        name,
        vec![Piece::Type(attribute.data_type.clone())],
        vec![code(&attribute.made)],
        origins(&attribute.origins),
    ])
}

fn item_facts(item: &ItemType) -> Vec<(&'static str, Line)> {
    let from = match &item.query {
        Some(_) => plain("a query"),
        None => code(&item.from),
    };
    let mut facts = vec![("From", vec![from])];
    if let Some(condition) = &item.condition {
        facts.push(("Where", vec![code(condition)]));
    }
    for (alias, parent, on) in &item.joins {
        let join = vec![
            code(parent),
            plain(" as "),
            code(alias),
            plain(": "),
            code(on),
        ];
        facts.push(("Looks up", join));
    }
    for array in &item.explodes {
        facts.push(("One item for each of", vec![code(array)]));
    }
    for member in &item.indexes {
        let mut line = vec![plain(&member.name)];
        if let Some(when) = &member.when {
            line.push(plain(", "));
            line.extend(prose(when));
        }
        if let Some(value) = &member.single_partition {
            line.push(plain(", all under the partition key "));
            line.push(Piece::Value(value.clone()));
        }
        facts.push(("In index", line));
    }
    if !item.patterns.is_empty() {
        facts.push(("Found by", pattern_names(&item.patterns)));
    }
    if let Some(most) = item.most_bytes {
        let most = format!("at most {} by the schema", bytes(most));
        facts.push(("Size", vec![plain(most)]));
    }
    facts.extend(item.notes.iter().map(|note| ("Note", vec![plain(note)])));
    facts
}

/// The item collections of the table and of each index, side by side.
fn collections(definition: &Definition) -> Vec<Block> {
    let filled = definition.places.iter();
    let filled = filled.filter(|place| !place.collections.is_empty());
    let views: Vec<Table> = filled.map(view).collect();
    let examples = phrases::examples(definition.examples.as_ref());
    let mut blocks = vec![Block::Note(vec![plain(examples)])];
    if !views.is_empty() {
        blocks.push(Block::Views("Item collections side by side", views));
    }
    blocks
}

fn view(place: &Place) -> Table {
    let title = |role: &str, keys: &[Key]| {
        let names: Vec<&str> = keys.iter().map(|key| key.name.as_str()).collect();
        format!("{} ({role})", names.join(", "))
    };
    let mut titles = vec![title("partition key", &place.partition)];
    let has_sort = !place.sort.is_empty();
    if has_sort {
        titles.push(title("sort key", &place.sort));
    }
    titles.push("Attributes".to_owned());
    let titles: Vec<&str> = titles.iter().map(String::as_str).collect();
    let collections = place.collections.iter();
    let rows = collections.flat_map(|collection| collection_rows(collection, has_sort));
    let mut view = Table::new(
        format!("{} {}", phrases::kind(place), place.name),
        &titles,
        rows.collect(),
    );
    view.class = "view";
    view
}

/// An item collection: its partition key spans the rows of its items.
fn collection_rows(collection: &Collection, has_sort: bool) -> impl Iterator<Item = Row> {
    let values = |cells: &[super::definition::Cell]| {
        let values = cells
            .iter()
            .map(|cell| vec![Piece::Value(cell.value.clone())]);
        joined(values, &Piece::Break)
    };
    let all = collection.items.len();
    collection.items.iter().enumerate().map(move |(at, entry)| {
        let mut cells = Vec::new();
        if at == 0 {
            cells.push(values(&collection.partition));
        }
        if has_sort {
            cells.push(values(&entry.sort));
        }
        cells.push(vec![
            Piece::Marked("role", entry.item_type.clone()),
            Piece::Attributes(entry.attributes.clone()),
        ]);
        Row {
            span: if at == 0 { all } else { 0 },
            ..Row::new(cells)
        }
    })
}

fn coverage(definition: &Definition) -> Vec<Block> {
    let of = |parts: &'static [Part]| {
        let sources = definition.sources.iter();
        sources.filter(move |source| parts.contains(&source.part))
    };
    let mut blocks: Vec<Block> = of(&[Part::Read]).map(columns).collect();
    let queried: Vec<Line> = of(&[Part::Queried])
        .map(|source| vec![code(&source.name)])
        .collect();
    if !queried.is_empty() {
        let title = "Queries of the mapping name these; which columns they take is not traced:";
        blocks.push(Block::Paragraph(vec![plain(title)]));
        blocks.push(Block::List(queried));
    }
    let unread = of(&[Part::Beside, Part::Unread]).map(|source| {
        let mut line = vec![code(&source.name)];
        line.extend(source.kind.map(|kind| plain(format!(" ({kind})"))));
        let rows = source.rows.map(count);
        line.extend(rows.map(|rows| plain(format!(", about {rows} rows"))));
        line
    });
    let unread: Vec<Line> = unread.collect();
    if unread.is_empty() {
        blocks.push(Block::Paragraph(vec![plain("Every other table is read.")]));
    } else {
        blocks.push(Block::Paragraph(vec![plain("From these nothing is read:")]));
        blocks.push(Block::List(unread));
    }
    blocks
}

/// The columns of a table, and what carries each.
fn columns(source: &SourceTable) -> Block {
    let rows = source.columns.iter().map(|column| {
        let carriers = column.carriers.iter().map(|(item_type, attributes)| {
            vec![plain(format!("{item_type}: ")), code(attributes.join(", "))]
        });
        let carried = match (column.carriers.as_slice(), column.leads) {
            ([], true) => vec![Piece::Marked(
                "none",
                "nothing; it leads to other rows".into(),
            )],
            ([], false) => vec![Piece::Marked("none", "nothing".into())],
            _ => joined(carriers, &Piece::Break),
        };
        let declared = Piece::Marked("type", column.declared.clone());
        Row::new(vec![vec![code(&column.name)], vec![declared], carried])
    });
    let table = Table::new(
        format!("Columns of {}", source.name),
        &["Column", "Type", "Carried by"],
        rows.collect(),
    );
    let carried = source.columns.iter();
    let carried = carried.filter(|column| !column.carriers.is_empty());
    let all = counted(source.columns.len(), "column");
    let summary = format!("{}: {} of {all} carried", source.name, carried.count());
    Block::Folded(summary, vec![Block::Table(table)])
}

fn sizes_and_cost(definition: &Definition) -> Vec<Block> {
    let figures = &definition.figures;
    let mut blocks = vec![Block::Note(prose(phrases::basis(figures)))];
    if let Some(rejected) = phrases::rejected(figures) {
        blocks.push(Block::Note(prose(&rejected)));
    }
    blocks.extend(sizes(figures));
    blocks.push(Block::Heading("At the declared rates".to_owned()));
    match &figures.steady_total {
        None => blocks.push(Block::Paragraph(prose(phrases::NO_RATES))),
        Some(total) => {
            blocks.push(Block::Table(steady(figures, total)));
            let reads = phrases::rated(definition);
            blocks.extend(reads.map(|reads| Block::Note(prose(&reads))));
        }
    }
    blocks.push(Block::Heading("How a rate becomes a bill".to_owned()));
    let lines = phrases::arithmetic(figures);
    blocks.push(Block::List(lines.map(|line| vec![plain(line)]).collect()));
    blocks.push(Block::Note(vec![plain(phrases::prices(figures))]));
    if !figures.hot.is_empty() {
        blocks.push(Block::Heading("Hot partitions".to_owned()));
        let what = "Partition keys that take much of what is written. One takes about 1,000 write units a second.";
        blocks.push(Block::Paragraph(vec![plain(what)]));
        let lines = figures.hot.iter().flat_map(|place| {
            let lines = place.lines.iter();
            lines.map(|line| vec![code(&place.name), plain(": "), Piece::Value(line.clone())])
        });
        blocks.push(Block::List(lines.collect()));
    }
    blocks
}

/// What the item types, the table and its indexes come to.
fn sizes(figures: &Figures) -> Vec<Block> {
    let known = |figure: Option<String>| {
        vec![figure.map_or(Piece::Marked("none", "not known".to_owned()), Piece::Text)]
    };
    let rows = figures.item_types.iter().map(|each| {
        Row::new(vec![
            vec![plain(&each.name)],
            known(phrases::items_of(each)),
            known(each.mean_bytes.map(bytes)),
            known(each.bytes.map(bytes)),
            known(each.write_units.map(count)),
        ])
    });
    let mut blocks = vec![Block::Table(Table::new(
        "Item types",
        &[
            "Item type",
            "#Items",
            "#Mean size",
            "#Size",
            "#Write units to load",
        ],
        rows.collect(),
    ))];
    if !figures.places.is_empty() {
        let rows = figures.places.iter().map(|place| {
            Row::new(vec![
                vec![plain(&place.name)],
                vec![plain(count(place.items))],
                vec![plain(bytes(place.bytes))],
                vec![plain(count(place.write_units))],
            ])
        });
        blocks.push(Block::Table(Table::new(
            "Table and indexes",
            &["Holds", "#Items", "#Size", "#Write units to load"],
            rows.collect(),
        )));
    }
    if let Some(total) = &figures.total {
        let load = format!(
            "{} on demand, for {} write units",
            cost(total.load_usd),
            count(total.write_units)
        );
        let storage = format!(
            "{} a month for {}, indexes included",
            cost(total.storage_usd_per_month),
            bytes(total.stored_bytes)
        );
        blocks.push(texts(vec![("Loading, once", load), ("Storage", storage)]));
    }
    blocks
}

fn steady(figures: &Figures, total: &SteadyPlace) -> Table {
    let row = |place: &SteadyPlace| {
        let marked = |figure: &str| vec![plain(marked(place.at_least, figure))];
        Row::new(vec![
            vec![plain(&place.name)],
            marked(&units(place.rates.reads)),
            vec![plain(units(place.rates.writes))],
            marked(&cost(place.cost.on_demand_usd)),
            marked(&cost(place.cost.provisioned_usd)),
        ])
    };
    let mut table = Table::new(
        "The declared rates, all month",
        &[
            "Place",
            "#Read units a second",
            "#Write units a second",
            "#On demand, a month",
            "#Provisioned, a month",
        ],
        figures.steady.iter().map(row).collect(),
    );
    table.sum = Some(row(total));
    table
}

fn warnings(definition: &Definition) -> Vec<Block> {
    let lists = [
        ("Open", &definition.warnings),
        ("Accepted by the mapping", &definition.accepted),
    ];
    let lists = lists.into_iter().flat_map(|(title, warnings)| {
        let list = match warnings.as_slice() {
            [] => Block::Paragraph(vec![plain("None.")]),
            all => Block::List(all.iter().map(|each| warning(definition, each)).collect()),
        };
        [Block::Heading(title.to_owned()), list]
    });
    lists.collect()
}

fn warning(definition: &Definition, warning: &Warning) -> Line {
    let place = format!("{}:{}:{}", definition.mapping, warning.line, warning.column);
    let mut line = vec![
        Piece::Marked("role", warning.code.clone()),
        plain(" at "),
        code(place),
        plain(": "),
    ];
    line.extend(prose(&warning.message));
    if !warning.label.is_empty() {
        line.push(plain(" ("));
        line.extend(prose(&warning.label));
        line.push(plain(")"));
    }
    if let Some(help) = &warning.help {
        line.extend([Piece::Break, plain("To mend it: ")]);
        line.extend(prose(help));
    }
    line
}

/// What becomes of a table of the source.
pub(super) fn fate(source: &SourceTable) -> Vec<Block> {
    let rows = source.rows;
    let rows = rows.map_or_else(String::new, |rows| {
        format!("about {}. ", counted(rows, "row"))
    });
    let fate = match source.part {
        Part::Read if source.item_types.is_empty() => {
            "Read to find other rows; nothing of it is in an item."
        }
        Part::Read => "Its values are in these item types:",
        Part::Queried => "Named by a query of the mapping, for these item types:",
        Part::Beside => "Not read; a foreign key leads from or to a table that is.",
        Part::Unread => "Not read.",
    };
    let mut blocks = vec![Block::Paragraph(vec![plain(rows + fate)])];
    let item_types = source.item_types.iter().map(|name| {
        let mut attributes: Vec<&str> = Vec::new();
        let carriers = source.columns.iter().flat_map(|column| &column.carriers);
        for attribute in carriers
            .filter(|(of, _)| of == name)
            .flat_map(|(_, all)| all)
        {
            if !attributes.contains(&attribute.as_str()) {
                attributes.push(attribute);
            }
        }
        let mut line = vec![link(About::ItemType, name)];
        if attributes.is_empty() {
            line.push(Piece::Sub(vec![plain("no column of it is traced")]));
        } else {
            line.extend([plain(": "), code(attributes.join(", "))]);
        }
        line
    });
    if !source.item_types.is_empty() {
        blocks.push(Block::List(item_types.collect()));
    }
    if !source.patterns.is_empty() {
        let mut found = vec![plain("Found by ")];
        found.extend(pattern_names(&source.patterns));
        blocks.push(Block::Paragraph(found));
    }
    blocks
}
