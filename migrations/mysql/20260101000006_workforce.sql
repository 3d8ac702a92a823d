-- Pattern 6: employees, and the internal services that they run.

SET time_zone = '+00:00';

CREATE TABLE workforce (
    employee_id varchar(12) NOT NULL PRIMARY KEY,
    mob_tel_no  varchar(11),
    resid_id    varchar(13) NOT NULL UNIQUE,
    addr        varchar(255),
    work_tel_no varchar(11),
    home_tel_no varchar(11)
) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE services (
    service_id  varchar(12)  NOT NULL PRIMARY KEY,
    manager_id  varchar(12)  NOT NULL,
    repr_tel_no varchar(11),
    entry_point varchar(255) NOT NULL,
    create_dt   timestamp    NULL,
    modified_dt timestamp    NULL,
    FOREIGN KEY (manager_id) REFERENCES workforce (employee_id)
) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

INSERT INTO workforce (employee_id, mob_tel_no, resid_id, addr, work_tel_no, home_tel_no) VALUES
    ('EMP001', '01012345678', '8001011234567', '서울 중구 세종대로 110', '0212345678', NULL),
    ('EMP002', NULL, '0001014234567', 'Busan, "Haeundae" #3', NULL, '0517654321');

INSERT INTO services (service_id, manager_id, repr_tel_no, entry_point, create_dt, modified_dt) VALUES
    ('SVC001', 'EMP001', '0215880000', 'https://hr.example.com/?a=1&b=2#top', '2020-01-02T03:04:05', NULL),
    ('SVC002', 'EMP001', NULL, 'https://pay.example.com/', '2020-01-02T03:04:05', '2020-06-01T00:00:00'),
    ('SVC003', 'EMP002', '0215880003', 'https://mail.example.com/', '2021-12-31T23:59:59', NULL);
