//! The keys of `table`.

use super::Field;
use super::Shape::{self, Bool, Integer, List, Named, OneOf, Record, Text, Word};
use super::language::ACCEPT;

pub(super) const TABLE: &[Field] = &[
    Field::new(
        "name",
        Text,
        "The table's name; may hold ${VAR} or ${VAR:-default}.",
    )
    .required(),
    Field::new(
        "key",
        Record(&[
            Field::new("partition", KEY_ATTRIBUTE, "The partition key attribute.").required(),
            Field::new("sort", KEY_ATTRIBUTE, "The sort key attribute."),
        ]),
        "The table's primary key.",
    )
    .required(),
    Field::new(
        "indexes",
        Named(&Record(&[
            Field::new(
                "partition",
                KEY_ATTRIBUTES,
                "One to four partition key attributes.",
            )
            .required(),
            Field::new("sort", KEY_ATTRIBUTES, "Up to four sort key attributes."),
            Field::new("project", PROJECTION, "What the index holds besides keys."),
            Field::new("accept", List(&Text), ACCEPT),
            Field::new(
                "billing",
                Record(THROUGHPUT),
                "Provisioned capacity of its own.",
            ),
        ])),
        "Global secondary indexes, by name.",
    ),
    Field::new(
        "local_indexes",
        Named(&Record(&[
            Field::new("sort", KEY_ATTRIBUTE, "The sort key attribute.").required(),
            Field::new("project", PROJECTION, "What the index holds besides keys."),
            Field::new("accept", List(&Text), ACCEPT),
        ])),
        "Local secondary indexes, by name.",
    ),
    Field::new(
        "ttl",
        Text,
        "The attribute that holds the expiry time in epoch seconds.",
    ),
    Field::new(
        "billing",
        OneOf(&[Word(&["on-demand"]), Record(THROUGHPUT)]),
        "on-demand (default), or provisioned capacity.",
    ),
    Field::new(
        "type_attribute",
        Text,
        "The attribute that holds the item type; false for none. Default _type.",
    ),
    Field::new(
        "time_zone",
        Text,
        "What times without a zone mean when UTC is asked for. Default UTC.",
    ),
    Field::new(
        "key_escape",
        Word(&["percent"]),
        "Escapes delimiters in key values: percent.",
    ),
    Field::new(
        "stream",
        Word(&["keys-only", "new-image", "old-image", "new-and-old-images"]),
        "What the table's stream holds; no stream without it.",
    ),
    Field::new(
        "point_in_time_recovery",
        Bool,
        "Whether continuous backups are on.",
    ),
    Field::new(
        "deletion_protection",
        Bool,
        "Whether the table is guarded against deletion.",
    ),
    Field::new(
        "class",
        Word(&["standard", "infrequent-access"]),
        "The table class. DynamoDB's default is standard.",
    ),
    Field::new("tags", Named(&Text), "Tags: key: value."),
    Field::new(
        "warm_throughput",
        Record(&[
            Field::new("read", Integer, "Read units a second.").required(),
            Field::new("write", Integer, "Write units a second.").required(),
        ]),
        "What the table is warmed up for.",
    ),
    Field::new(
        "replicas",
        List(&Text),
        "Regions that hold a replica, besides the table's own.",
    ),
];

const KEY_ATTRIBUTE: Shape = OneOf(&[
    Text,
    Record(&[
        Field::new("name", Text, "The attribute's name.").required(),
        Field::new("type", Word(&["S", "N", "B"]), "Its type. Default S."),
    ]),
]);

const KEY_ATTRIBUTES: Shape = OneOf(&[
    Text,
    Record(&[
        Field::new("name", Text, "The attribute's name.").required(),
        Field::new("type", Word(&["S", "N", "B"]), "Its type. Default S."),
    ]),
    Shape::Some(&KEY_ATTRIBUTE),
]);

const PROJECTION: Shape = OneOf(&[Word(&["all", "keys"]), Shape::Some(&Text)]);

const THROUGHPUT: &[Field] = &[
    Field::new("read", Integer, "Read capacity units.").required(),
    Field::new("write", Integer, "Write capacity units.").required(),
    Field::new(
        "autoscale",
        Record(&[
            Field::new("max", Integer, "The most units a second.").required(),
            Field::new("target", Integer, "Percent in use, 20 to 90.").required(),
            Field::new(
                "min",
                Integer,
                "The least units; what is provisioned without it.",
            ),
        ]),
        "How the capacity follows the load.",
    ),
];
