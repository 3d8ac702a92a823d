//! The keys of the mapping language, version 1.

use super::Field;
use super::Shape::{
    self, Bool, Integer, List, Named, Node, OneOf, Positive, Record, Template, Text, Tree, Word,
};
use super::table::TABLE;

/// A whole mapping file.
pub(in crate::mapping) const MAPPING: Shape = Record(&[
    Field::new("dynafold", Word(&["1"]), "The language's version.").required(),
    Field::new("table", Record(TABLE), "The DynamoDB table.").required(),
    Field::new("items", Named(&Record(ITEM)), "The item types, by name.").required(),
    Field::new(
        "access_patterns",
        Named(&Record(ACCESS_PATTERN)),
        "The queries that the table must serve, by name.",
    ),
]);

pub(super) const ACCEPT: &str = "Warnings by their codes that are known here and accepted.";

const JOIN: Shape = Named(&OneOf(&[
    Text,
    List(&Text),
    Record(&[
        Field::new("table", Text, "The table to look up.").required(),
        Field::new("match", Named(&Text), "their_column: our_column.").required(),
    ]),
]));

/// The directives of attribute trees. Which of them go together is for `validate` to say.
pub(in crate::mapping) const DIRECTIVES: &[Field] = &[
    Field::new(
        "$spread",
        OneOf(&[Text, List(&Text)]),
        "A document whose members become attributes.",
    ),
    Field::new(
        "$value",
        Node,
        "What the attribute is, beside $when or $type.",
    ),
    Field::new(
        "$when",
        Text,
        "A SQL condition; without it the attribute is absent.",
    ),
    Field::new(
        "$type",
        Word(&["S", "N", "B", "BOOL", "SS", "NS", "BS", "L", "M"]),
        "The DynamoDB type that the value is given.",
    ),
    Field::new("$embed", Text, "A child table whose rows stand inside."),
    Field::new(
        "$match",
        Named(&Text),
        "child_column: our_column. Default: the only foreign key between the two.",
    ),
    Field::new("$where", Text, "A SQL condition over the child."),
    Field::new(
        "$order",
        OneOf(&[Text, List(&Text)]),
        "Columns of the child, each with `desc` if it descends. Default: its key.",
    ),
    Field::new("$limit", Integer, "Most children of one parent."),
    Field::new("$join", JOIN, "N:1 lookups from the child, as `join`."),
    Field::new(
        "$each",
        Node,
        "What becomes of each child. Default: a map of its columns.",
    ),
    Field::new(
        "$as",
        Word(&["list", "map", "set"]),
        "What the children stand in. Default list.",
    ),
    Field::new("$key", Template, "The member's name, with `$as: map`."),
];

const ITEM: &[Field] = &[
    Field::new(
        "from",
        OneOf(&[
            Text,
            Record(&[
                Field::new("sql", Text, "A SELECT statement.").required(),
                Field::new("key", List(&Text), "The columns that tell its rows apart."),
            ]),
        ]),
        "A table or view, or { sql: SELECT …, key: [column] }.",
    )
    .required(),
    Field::new(
        "where",
        Text,
        "A SQL condition; rows that fail it are counted as filtered.",
    ),
    Field::new(
        "join",
        JOIN,
        "N:1 lookups: alias: the foreign-key column that leads there.",
    ),
    Field::new(
        "explode",
        Named(&Text),
        "One item for each element of an array: alias: the array.",
    ),
    Field::new(
        "key",
        Named(&Template),
        "The table's key attributes, each a template.",
    )
    .required(),
    Field::new(
        "columns",
        OneOf(&[Word(&["*"]), List(&Text)]),
        "Columns carried under their own names: \"*\" (default) or a list.",
    ),
    Field::new(
        "omit",
        List(&Text),
        "Columns that `columns` would carry and that are left out.",
    ),
    Field::new(
        "attributes",
        Tree,
        "Further attributes: name → template, map or list.",
    ),
    Field::new(
        "nulls",
        Word(&["omit", "keep"]),
        "What NULL columns do. Default omit.",
    ),
    Field::new(
        "oversize",
        OneOf(&[
            Word(&["reject"]),
            Record(&[Field::new(
                "compress",
                Shape::Some(&Text),
                "Attributes to compress, in this order, as many as are needed.",
            )
            .required()]),
        ]),
        "What an item over 400 KB does. Default reject.",
    ),
    Field::new(
        "expired",
        Word(&["load", "skip", "archive"]),
        "What rows that have expired already do. Default load.",
    ),
    Field::new(
        "write_rate",
        Positive,
        "Writes a second at peak in production.",
    ),
    Field::new("accept", List(&Text), ACCEPT),
];

const ACCESS_PATTERN: &[Field] = &[
    Field::new("description", Text, "What it is for."),
    Field::new("items", List(&Text), "The item types that come back."),
    Field::new(
        "index",
        Text,
        "The index that it uses; the table itself without it.",
    ),
    Field::new(
        "key",
        Named(&OneOf(&[
            Template,
            Record(&[
                Field::new("begins_with", Template, "The sort key begins with this."),
                Field::new(
                    "between",
                    List(&Template),
                    "The sort key is between these two.",
                ),
                Field::new("lt", Template, "The sort key is less."),
                Field::new("le", Template, "The sort key is less or equal."),
                Field::new("gt", Template, "The sort key is greater."),
                Field::new("ge", Template, "The sort key is greater or equal."),
            ]),
        ])),
        "The key condition: the partition key by equality, the sort key as DynamoDB allows.",
    )
    .required(),
    Field::new(
        "order",
        Word(&["asc", "desc"]),
        "The order of the sort key. Default asc.",
    ),
    Field::new("limit", Integer, "Most items to answer."),
    Field::new("filter", Text, "A filter expression."),
    Field::new("consistent", Bool, "Whether reads are strongly consistent."),
    Field::new(
        "sql",
        Text,
        "The relational query that this pattern replaces.",
    ),
    Field::new(
        "params",
        Named(&Text),
        "parameter: table.column that its values come from, or a template of now.",
    ),
    Field::new(
        "answer",
        Named(&Text),
        "attribute: SQL column, where the names differ.",
    ),
    Field::new("rate", Positive, "Requests a second at peak."),
    Field::new("accept", List(&Text), ACCEPT),
];
