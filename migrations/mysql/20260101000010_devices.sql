-- Pattern 10: what devices in the field report; few reports need a technician.

CREATE TABLE device_states (
    device_id    varchar(20) NOT NULL,
    reported_at  datetime(3) NOT NULL,
    state        varchar(10) NOT NULL,
    escalated_to varchar(50),
    PRIMARY KEY (device_id, reported_at)
) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

INSERT INTO device_states (device_id, reported_at, state, escalated_to) VALUES
    ('d#12', '2026-01-31T14:00:00.000', 'OK', NULL),
    ('d#12', '2026-01-31T14:04:59.999', 'WARN', NULL),
    ('d#12', '2026-01-31T14:05:00.000', 'ERROR', 'sara'),
    ('d#12', '2026-01-31T14:05:00.120', 'ERROR', NULL),
    ('d#12', '2026-02-01T00:00:00.000', 'OK', 'sara'),
    ('d#1', '2026-01-31T14:05:00.000', 'OK', NULL),
    ('센서-9', '2026-01-31T09:00:00.500', 'ERROR', 'jun');
