-- Pattern 12: orders, each as one JSON document, and the same orders in tables.

CREATE TABLE orders (
    id          integer NOT NULL PRIMARY KEY,
    customer_id integer,
    doc         json    NOT NULL
) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE customers (
    id     integer      NOT NULL PRIMARY KEY,
    name   varchar(100) NOT NULL,
    email  varchar(200),
    street varchar(200),
    city   varchar(100)
) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE order_heads (
    id          integer     NOT NULL PRIMARY KEY,
    customer_id integer,
    status      varchar(20) NOT NULL,
    placed_at   datetime    NOT NULL,
    FOREIGN KEY (customer_id) REFERENCES customers (id)
) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE order_lines (
    order_id integer        NOT NULL,
    no       integer        NOT NULL,
    sku      varchar(30)    NOT NULL,
    quantity integer        NOT NULL,
    price    decimal(10, 2) NOT NULL,
    note     varchar(200),
    PRIMARY KEY (order_id, no),
    FOREIGN KEY (order_id) REFERENCES order_heads (id)
) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE order_payments (
    order_id integer        NOT NULL,
    no       integer        NOT NULL,
    method   varchar(20)    NOT NULL,
    amount   decimal(10, 2) NOT NULL,
    PRIMARY KEY (order_id, no),
    FOREIGN KEY (order_id) REFERENCES order_heads (id)
) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE order_shipments (
    order_id integer     NOT NULL,
    no       integer     NOT NULL,
    carrier  varchar(20) NOT NULL,
    PRIMARY KEY (order_id, no),
    FOREIGN KEY (order_id) REFERENCES order_heads (id)
) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE order_parcels (
    order_id    integer       NOT NULL,
    shipment_no integer       NOT NULL,
    no          integer       NOT NULL,
    kg          decimal(6, 2) NOT NULL,
    code        varchar(20)   NOT NULL,
    PRIMARY KEY (order_id, shipment_no, no),
    FOREIGN KEY (order_id, shipment_no) REFERENCES order_shipments (order_id, no)
) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- The first order's numbers have gaps, and one shipment has no parcels; the second order has neither payments nor shipments,
-- and the third was placed by a guest: nobody stands in `customers`.
INSERT INTO orders (id, customer_id, doc) VALUES
    (1, 7, '{
        "status": "shipped", "placed_at": "2026-01-31T14:05:00",
        "customer": {"name": "김지우", "email": "jiwoo@example.com", "address": {"street": "Sejong-daero 110", "city": "Seoul"}},
        "lines": [
            {"no": 2, "sku": "TEA-31", "quantity": 2, "price": 9.90, "note": null},
            {"no": 9, "sku": "CUP#9", "quantity": 1, "price": 12.00, "note": "gift {wrapped}"},
            {"no": 10, "sku": "BOX", "quantity": 31, "price": 0.05, "note": ""}
        ],
        "payments": [{"no": 1, "method": "card", "amount": 20.00}, {"no": 2, "method": "points", "amount": 13.35}],
        "shipments": [
            {"no": 1, "carrier": "CJ", "parcels": [{"no": 1, "kg": 0.50, "code": "A-1"}, {"no": 2, "kg": 12.25, "code": "A-2"}]},
            {"no": 2, "carrier": "EMS", "parcels": []}
        ]
    }'),
    (10, 8, '{
        "status": "open", "placed_at": "2026-02-01T00:00:00",
        "customer": {"name": "Sam O''Hara", "email": null, "address": {"street": null, "city": "Dublin"}},
        "lines": [{"no": 1, "sku": "BOX", "quantity": 1, "price": 0.05, "note": null}],
        "payments": [],
        "shipments": []
    }'),
    (31, NULL, '{
        "status": "open", "placed_at": "2026-02-01T00:00:01",
        "customer": {"name": null, "email": null, "address": {"street": null, "city": null}},
        "lines": [{"no": 1, "sku": "TEA-31", "quantity": 1, "price": 9.90, "note": null}],
        "payments": [],
        "shipments": []
    }');

INSERT INTO customers (id, name, email, street, city) VALUES
    (7, '김지우', 'jiwoo@example.com', 'Sejong-daero 110', 'Seoul'),
    (8, 'Sam O''Hara', NULL, NULL, 'Dublin');

INSERT INTO order_heads (id, customer_id, status, placed_at) VALUES
    (1, 7, 'shipped', '2026-01-31T14:05:00'),
    (10, 8, 'open', '2026-02-01T00:00:00'),
    (31, NULL, 'open', '2026-02-01T00:00:01');

INSERT INTO order_lines (order_id, no, sku, quantity, price, note) VALUES
    (1, 2, 'TEA-31', 2, 9.90, NULL),
    (1, 9, 'CUP#9', 1, 12.00, 'gift {wrapped}'),
    (1, 10, 'BOX', 31, 0.05, ''),
    (10, 1, 'BOX', 1, 0.05, NULL),
    (31, 1, 'TEA-31', 1, 9.90, NULL);

INSERT INTO order_payments (order_id, no, method, amount) VALUES
    (1, 1, 'card', 20.00),
    (1, 2, 'points', 13.35);

INSERT INTO order_shipments (order_id, no, carrier) VALUES
    (1, 1, 'CJ'),
    (1, 2, 'EMS');

INSERT INTO order_parcels (order_id, shipment_no, no, kg, code) VALUES
    (1, 1, 1, 0.50, 'A-1'),
    (1, 1, 2, 12.25, 'A-2');
