//! The keys of the mapping language, version 1.

use super::Field;
use super::ValueShape::{
    self, Bool, Integer, List, Named, Node, OneOf, Positive, Record, Template, Text, Tree, Word,
};

/// A whole mapping file.
pub(crate) const MAPPING: ValueShape = Record(&[
    Field::required("dynafold", Word(&["1"])).doc("The language's version; write `dynafold: 1`."),
    Field::required("table", Record(TABLE)).doc("The DynamoDB table."),
    Field::required("items", Named(&Record(ITEM))).doc("The item types, by name."),
    Field::new("access_patterns", Named(&Record(ACCESS_PATTERN)))
        .doc("The queries that the table must serve, by name."),
]);

const JOIN: ValueShape = Named(&OneOf(&[
    Text,
    List(&Text),
    Record(&[
        Field::required("table", Text).doc("The table to look up."),
        Field::required("match", Named(&Text)).doc("their_column: our_column."),
    ]),
]));

/// The directives of attribute trees. Which of them go together is for `validate` to say.
pub(crate) const DIRECTIVES: &[Field] = &[
    Field::new("$spread", OneOf(&[Text, List(&Text)]))
        .doc("A document whose members become attributes."),
    Field::new("$value", Node).doc("The attribute's value, with $when or $type."),
    Field::new("$when", Text).doc("A SQL condition; without it the attribute is absent."),
    Field::new(
        "$type",
        Word(&["S", "N", "B", "BOOL", "SS", "NS", "BS", "L", "M"]),
    )
    .doc("The DynamoDB type that the value is given."),
    Field::new("$embed", Text).doc("A child table; its rows are embedded."),
    Field::new("$match", Named(&Text))
        .doc("child_column: our_column. Default: the only foreign key between the two."),
    Field::new("$where", Text).doc("A SQL condition over the child."),
    Field::new("$order", OneOf(&[Text, List(&Text)]))
        .doc("Columns of the child, with `desc` for descending order. Default: its key."),
    Field::new("$limit", Integer).doc("Maximum number of children per parent."),
    Field::new("$join", JOIN).doc("N:1 lookups from the child, as `join`."),
    Field::new("$each", Node).doc("What each child is turned into. Default: a map of its columns."),
    Field::new("$as", Word(&["list", "map", "set"]))
        .doc("The type of the value that holds the children. Default list."),
    Field::new("$key", Template).doc("The member's name, with `$as: map`."),
];

const ITEM: &[Field] = &[
    Field::new("description", Text).doc("What it holds."),
    Field::required(
        "from",
        OneOf(&[
            Text,
            Record(&[
                Field::required("sql", Text).doc("A SELECT statement."),
                Field::new("key", List(&Text)).doc("The columns that identify its rows."),
            ]),
        ]),
    )
    .doc("A table or view, or { sql: SELECT …, key: [column] }."),
    Field::new("where", Text).doc("A SQL condition; rows that fail it are counted as filtered."),
    Field::new("join", JOIN).doc("N:1 lookups: alias: the foreign-key column that leads there."),
    Field::new("explode", Named(&Text))
        .doc("One item for each element of an array: alias: the array."),
    Field::required("key", Named(&Template)).doc("The table's key attributes, each a template."),
    Field::new("columns", OneOf(&[Word(&["*"]), List(&Text)]))
        .doc("Columns carried under their own names: \"*\" (default) or a list."),
    Field::new("omit", List(&Text))
        .doc("Columns that `columns` would carry and that are left out."),
    Field::new("attributes", Tree).doc("Further attributes: name → template, map or list."),
    Field::new("nulls", Word(&["omit", "keep"])).doc("What happens to NULL columns. Default omit."),
    Field::new(
        "oversize",
        OneOf(&[
            Word(&["reject"]),
            Record(&[Field::required("compress", ValueShape::Some(&Text))
                .doc("Attributes to compress, in this order, as many as are needed.")]),
        ]),
    )
    .doc("What happens to an item over 400 KB. Default reject."),
    Field::new("expired", Word(&["load", "skip", "archive"]))
        .doc("What happens to rows that have already expired. Default load."),
    Field::new("write_rate", Positive).doc("Writes a second at peak in production."),
    Field::new("roll_up", Record(ROLL_UP)).doc(
        "What a scheduled function, made by CloudFormation or Terraform, sums into its items.",
    ),
    Field::new("accept", List(&Text)).doc(ACCEPT),
];

const ROLL_UP: &[Field] = &[
    Field::required("of", Text)
        .doc("The item type whose items are summed, with shards in its key."),
    Field::new("count", Text).doc("The attribute that holds their number; or `sum`."),
    Field::new("sum", Text)
        .doc("The attribute of theirs that is summed, into the one of that name; or `count`."),
    Field::required("schedule", Text).doc("When, in UTC: rate(5 minutes) or cron(0 * * * ? *)."),
];

const ACCESS_PATTERN: &[Field] = &[
    Field::new("description", Text).doc("What it is for."),
    Field::new("items", List(&Text)).doc("The item types that it returns."),
    Field::new("index", Text).doc("The index that it uses; the table itself without it."),
    Field::required(
        "key",
        Named(&OneOf(&[
            Template,
            Record(&[
                Field::new("begins_with", Template).doc("The sort key begins with this."),
                Field::new("between", List(&Template)).doc("The sort key is between these two."),
                Field::new("lt", Template).doc("The sort key is less."),
                Field::new("le", Template).doc("The sort key is less or equal."),
                Field::new("gt", Template).doc("The sort key is greater."),
                Field::new("ge", Template).doc("The sort key is greater or equal."),
            ]),
        ])),
    )
    .doc("The key condition: the partition key by equality, the sort key as DynamoDB allows."),
    Field::new("order", Word(&["asc", "desc"])).doc("The order of the sort key. Default asc."),
    Field::new("limit", Integer).doc("The most items to return."),
    Field::new("filter", Text).doc("A filter expression."),
    Field::new("consistent", Bool).doc("Whether reads are strongly consistent."),
    Field::new("fetch", Bool)
        .doc("Whether the items that the index finds are then read whole, by their keys."),
    Field::new("sql", Text).doc("The relational query that this pattern replaces."),
    Field::new("params", Named(&Text))
        .doc("parameter: table.column that its values come from, or a template of now."),
    Field::new("answer", Named(&Text)).doc("attribute: SQL column, where the names differ."),
    Field::new("rate", Positive).doc("Requests a second at peak."),
    Field::new("accept", List(&Text)).doc(ACCEPT),
];

const ACCEPT: &str = "Codes of warnings that are known and accepted here.";

const TABLE: &[Field] = &[
    Field::required("name", Text).doc("The table's name; may hold ${VAR} or ${VAR:-default}."),
    Field::required(
        "key",
        Record(&[
            Field::required("partition", KEY_ATTRIBUTE).doc("The partition key attribute."),
            Field::new("sort", KEY_ATTRIBUTE).doc("The sort key attribute."),
        ]),
    )
    .doc("The table's primary key."),
    Field::new("description", Text).doc("What it holds."),
    Field::new(
        "indexes",
        Named(&Record(&[
            Field::required("partition", KEY_ATTRIBUTES)
                .doc("One to four partition key attributes."),
            Field::new("sort", KEY_ATTRIBUTES).doc("Up to four sort key attributes."),
            Field::new("project", PROJECTION).doc("What the index holds besides keys."),
            Field::new("accept", List(&Text)).doc(ACCEPT),
            Field::new("billing", Record(THROUGHPUT)).doc("Provisioned capacity of its own."),
        ])),
    )
    .doc("Global secondary indexes, by name."),
    Field::new(
        "local_indexes",
        Named(&Record(&[
            Field::required("sort", KEY_ATTRIBUTE).doc("The sort key attribute."),
            Field::new("project", PROJECTION).doc("What the index holds besides keys."),
            Field::new("accept", List(&Text)).doc(ACCEPT),
        ])),
    )
    .doc("Local secondary indexes, by name."),
    Field::new("ttl", Text).doc("The attribute that holds the expiry time in epoch seconds."),
    Field::new(
        "billing",
        OneOf(&[Word(&["on-demand"]), Record(THROUGHPUT)]),
    )
    .doc("on-demand (default), or provisioned capacity."),
    Field::new("type_attribute", Text)
        .doc("The attribute that holds the item type; false for none. Default _type."),
    Field::new("time_zone", Text)
        .doc("What times without a zone mean when UTC is asked for. Default UTC."),
    Field::new("key_escape", Word(&["percent"])).doc("Escapes delimiters in key values: percent."),
    Field::new(
        "stream",
        Word(&["keys-only", "new-image", "old-image", "new-and-old-images"]),
    )
    .doc("What the table's stream holds; no stream without it."),
    Field::new("point_in_time_recovery", Bool).doc("Whether continuous backups are on."),
    Field::new("deletion_protection", Bool).doc("Whether the table is protected against deletion."),
    Field::new("class", Word(&["standard", "infrequent-access"]))
        .doc("The table class. DynamoDB's default is standard."),
    Field::new("tags", Named(&Text)).doc("Tags: key: value."),
    Field::new(
        "warm_throughput",
        Record(&[
            Field::required("read", Integer).doc("Read units a second."),
            Field::required("write", Integer).doc("Write units a second."),
        ]),
    )
    .doc("The throughput that the table is prepared for."),
    Field::new(
        "backups",
        Record(&[
            Field::required("schedule", Text)
                .doc("When, in UTC, as AWS Backup reads it: cron(0 5 * * ? *) or rate(1 day)."),
            Field::required("keep_days", Integer).doc("Days for which each backup is kept."),
        ]),
    )
    .doc("Scheduled backups by AWS Backup, made by CloudFormation or Terraform."),
    Field::new("replicas", List(&Text))
        .doc("Regions that hold a replica, besides the table's own."),
];

const NAME_AND_TYPE: ValueShape = Record(&[
    Field::required("name", Text).doc("The attribute's name."),
    Field::new("type", Word(&["S", "N", "B"])).doc("Its type. Default S."),
]);

const KEY_ATTRIBUTE: ValueShape = OneOf(&[Text, NAME_AND_TYPE]);

const KEY_ATTRIBUTES: ValueShape = OneOf(&[Text, NAME_AND_TYPE, ValueShape::Some(&KEY_ATTRIBUTE)]);

const PROJECTION: ValueShape = OneOf(&[Word(&["all", "keys"]), ValueShape::Some(&Text)]);

const THROUGHPUT: &[Field] = &[
    Field::required("read", Integer).doc("Read capacity units."),
    Field::required("write", Integer).doc("Write capacity units."),
    Field::new(
        "autoscale",
        Record(&[
            Field::required("max", Integer).doc("The most units a second."),
            Field::required("target", Integer)
                .doc("The share of the units that is to be in use, in percent: 20 to 90."),
            Field::new("min", Integer).doc("The least units. Default: the provisioned units."),
        ]),
    )
    .doc("How the capacity follows the load."),
];
