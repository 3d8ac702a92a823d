-- The shop of docs/mapping.md and the pages that it lists.

CREATE TABLE customers (
    id          integer      NOT NULL PRIMARY KEY,
    email       varchar(255) NOT NULL UNIQUE,
    name        varchar(100) NOT NULL,
    country     varchar(2)   NOT NULL,
    referred_by integer REFERENCES customers (id),
    created_at  timestamp    NOT NULL
);

CREATE TABLE orders (
    id          integer       NOT NULL PRIMARY KEY,
    customer_id integer       NOT NULL REFERENCES customers (id),
    status      varchar(20)   NOT NULL,
    total       decimal(12,2) NOT NULL,
    placed_at   timestamp     NOT NULL,
    shipped_at  timestamp,
    note        text,
    doc         json
);

CREATE TABLE "Order Details" (
    "Order ID"   integer       NOT NULL REFERENCES orders (id),
    "Line No"    integer       NOT NULL,
    sku          varchar(30)   NOT NULL,
    quantity     integer       NOT NULL,
    "Unit Price" decimal(12,2) NOT NULL,
    PRIMARY KEY ("Order ID", "Line No")
);

CREATE TABLE films (
    id    integer NOT NULL PRIMARY KEY,
    genre text    NOT NULL,
    title text    NOT NULL COLLATE NOCASE
);

CREATE VIEW turnover AS SELECT customer_id, sum(total) AS total FROM orders GROUP BY customer_id;

CREATE TABLE countries (
    code text NOT NULL COLLATE NOCASE PRIMARY KEY,
    name text NOT NULL
);

CREATE TABLE cities (
    id           integer NOT NULL PRIMARY KEY,
    country_code text    NOT NULL COLLATE NOCASE REFERENCES countries (code),
    name         text    NOT NULL
);
