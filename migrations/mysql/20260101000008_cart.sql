-- Pattern 8: a shop's carts, what is saved for later, and wish lists.

CREATE TABLE cart_items (
    user_id  integer     NOT NULL,
    state    varchar(10) NOT NULL,
    sku      varchar(30) NOT NULL,
    quantity integer     NOT NULL,
    PRIMARY KEY (user_id, state, sku)
) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE wishlist (
    user_id integer     NOT NULL,
    sku     varchar(30) NOT NULL,
    note    varchar(200),
    PRIMARY KEY (user_id, sku)
) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- The same article may be in the cart and saved for later.
INSERT INTO cart_items (user_id, state, sku, quantity) VALUES
    (1, 'active', 'TEA-31', 1),
    (1, 'active', 'CUP#9', 2),
    (1, 'saved', 'TEA-31', 5),
    (1, 'saved', 'ACTIVE#1', 1),
    (11, 'active', '녹차', 3);

INSERT INTO wishlist (user_id, sku, note) VALUES
    (1, 'TEA-31', NULL),
    (2, 'CART#ACTIVE#X', 'for Ada');
