-- Pattern 4: users and their bank accounts.

CREATE TABLE users (
    id   varchar(20)  NOT NULL PRIMARY KEY,
    name varchar(100) NOT NULL,
    tel  varchar(20),
    addr varchar(200)
) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE accounts (
    acc_id  varchar(20)    NOT NULL PRIMARY KEY,
    user_id varchar(20),
    bal     decimal(15, 2) NOT NULL,
    FOREIGN KEY (user_id) REFERENCES users (id)
) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

INSERT INTO users (id, name, tel, addr) VALUES
    ('USER001', 'HNK', '8210100001111', '서울 강남구'),
    ('USER002', 'Lily', NULL, 'Busan'),
    ('USER0011', 'Iguana', '0010', NULL);

-- 99-999-X belongs to nobody.
INSERT INTO accounts (acc_id, user_id, bal) VALUES
    ('03-240-X', 'USER001', 1000000.00),
    ('01-210-X', 'USER001', 500000.50),
    ('9#9-000-X', 'USER0011', -0.05),
    ('99-999-X', NULL, 1.00);
