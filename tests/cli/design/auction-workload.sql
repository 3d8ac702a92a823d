-- browseCategories (20/s) all categories
SELECT id, name FROM categories;
-- browseRegions (8/s) all regions
SELECT id, name FROM regions;
-- searchItemsByCategory (150/s) items of a category that are still open, ending soonest first
SELECT items.name, items.id, items.initial_price, items.max_bid, items.nb_of_bids, items.end_date FROM items WHERE items.category = :category AND items.end_date >= :now_ ORDER BY items.end_date ASC LIMIT 25;
-- searchItemsByRegion (40/s) items of a category offered from a region
SELECT items.name, items.id, items.initial_price, items.max_bid, items.nb_of_bids, items.end_date FROM items JOIN users ON items.seller = users.id WHERE items.category = :category AND users.region = :region AND items.end_date >= :now_ ORDER BY items.end_date LIMIT 25;
-- viewItem (300/s) an item with the nickname of its seller
SELECT items.*, users.nickname FROM items JOIN users ON users.id = items.seller WHERE items.id = :id;
-- viewUserInfo (60/s) a user with the comments about them
SELECT u.nickname, u.rating, u.creation_date, c.id, c.date, c.comment, c.rating AS comment_rating, c.from_user_id FROM users u LEFT JOIN comments c ON c.to_user_id = u.id WHERE u.id = :id;
-- viewBidHistory (30/s) bids of an item, highest first, with the bidder's nickname
SELECT b.id, b.bid, b.qty, b.date, u.nickname FROM bids b JOIN users u ON u.id = b.user_id WHERE b.item_id = :item ORDER BY b.bid DESC;
-- maxBid (80/s, strong) the highest bid of an item
SELECT MAX(bid) FROM bids WHERE item_id = :item;
-- authenticate (50/s) nickname and password
SELECT id, password FROM users WHERE nickname = :nickname;
-- aboutMeBids (10/s) the items that a user has bid on, in the last 30 days
SELECT b.id, b.bid, b.date, i.id AS item, i.name, i.end_date FROM bids b JOIN items i ON i.id = b.item_id WHERE b.user_id = :user AND b.date >= :since ORDER BY b.date DESC;
-- aboutMeSelling (10/s) the items that a user sells
SELECT id, name, max_bid, end_date FROM items WHERE seller = :seller ORDER BY end_date DESC;
-- aboutMeBought (10/s) what a user bought at once in the last days
SELECT n.id, n.qty, n.date, i.name FROM buy_now n JOIN items i ON i.id = n.item_id WHERE n.buyer_id = :buyer AND n.date >= :since ORDER BY n.date DESC;
-- qtyOfTopBids (5/s) the top bids of an item
SELECT id, qty, max_bid FROM bids WHERE item_id = :item ORDER BY max_bid DESC LIMIT 5;
-- placeBid (25/s)
INSERT INTO bids (id, user_id, item_id, qty, bid, max_bid, date) VALUES (:id, :u, :i, :q, :b, :m, :d);
-- countBid (25/s) the item's counter
UPDATE items SET nb_of_bids = nb_of_bids + 1, max_bid = :bid WHERE id = :id;
-- registerItem (5/s)
INSERT INTO items (id, name, description, initial_price, quantity, nb_of_bids, start_date, end_date, seller, category) VALUES (:id, :n, :d, :p, :q, 0, :s, :e, :seller, :c);
-- registerUser (2/s)
INSERT INTO users (id, firstname) VALUES (:id, :f);
-- comment (3/s)
INSERT INTO comments (id, from_user_id) VALUES (:id, :f);
-- rate (3/s)
UPDATE users SET rating = rating + :r WHERE id = :id;
-- buy (3/s)
INSERT INTO buy_now (id, buyer_id) VALUES (:id, :b);
-- sold (3/s)
UPDATE items SET quantity = quantity - :q WHERE id = :id;
