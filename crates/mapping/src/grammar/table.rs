//! The keys of `table`.

use super::Field;
use super::Shape::{self, Bool, Integer, List, Named, OneOf, Record, Text, Word};

pub(super) const ACCEPT: &str = "Warnings by their codes that are known here and accepted.";

pub(super) const TABLE: &[Field] = &[
    Field::required("name", Text).doc("The table's name; may hold ${VAR} or ${VAR:-default}."),
    Field::required(
        "key",
        Record(&[
            Field::required("partition", KEY_ATTRIBUTE).doc("The partition key attribute."),
            Field::new("sort", KEY_ATTRIBUTE).doc("The sort key attribute."),
        ]),
    )
    .doc("The table's primary key."),
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
    Field::new("deletion_protection", Bool).doc("Whether the table is guarded against deletion."),
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
    .doc("What the table is warmed up for."),
    Field::new("replicas", List(&Text))
        .doc("Regions that hold a replica, besides the table's own."),
];

const NAME_AND_TYPE: Shape = Record(&[
    Field::required("name", Text).doc("The attribute's name."),
    Field::new("type", Word(&["S", "N", "B"])).doc("Its type. Default S."),
]);

const KEY_ATTRIBUTE: Shape = OneOf(&[Text, NAME_AND_TYPE]);

const KEY_ATTRIBUTES: Shape = OneOf(&[Text, NAME_AND_TYPE, Shape::Some(&KEY_ATTRIBUTE)]);

const PROJECTION: Shape = OneOf(&[Word(&["all", "keys"]), Shape::Some(&Text)]);

const THROUGHPUT: &[Field] = &[
    Field::required("read", Integer).doc("Read capacity units."),
    Field::required("write", Integer).doc("Write capacity units."),
    Field::new(
        "autoscale",
        Record(&[
            Field::required("max", Integer).doc("The most units a second."),
            Field::required("target", Integer).doc("Percent in use, 20 to 90."),
            Field::new("min", Integer).doc("The least units; what is provisioned without it."),
        ]),
    )
    .doc("How the capacity follows the load."),
];
