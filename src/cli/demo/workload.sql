-- What a portal asks of its users' settings and subscriptions, and how often. The statements are those of its application.

-- findUserByUserId (500/s) a user's profile
SELECT id, email, name, gender FROM users WHERE id = :userId;
-- findServiceByService (100/s) a service by its short name
SELECT service, name FROM services WHERE service = :service;
-- findPersonalByUserIdAndService (400/s) all of a user's settings of one service
SELECT user_id, service, setting_type, setting FROM personal_settings WHERE user_id = :userId AND service = :service;
-- findPersonalByUserIdAndServiceAndSettingType (100/s) one setting
SELECT user_id, service, setting_type, setting FROM personal_settings
WHERE user_id = :userId AND service = :service AND setting_type = :settingType;
-- findSubscribeByUserIdAndService (200/s) a user's subscriptions to one service
SELECT su.user_id, s.service, s.content_type, s.content_origin_id FROM subscribe_users su
JOIN subscribes s ON s.id = su.subscribe_id WHERE su.user_id = :userId AND s.service = :service;
-- findSubscribeByService (20/s) what can be subscribed to at a service
SELECT service, content_type, content_origin_id, title FROM subscribes WHERE service = :service;
-- findSubscribeByServiceAndContentType (20/s) what can be subscribed to of one kind of content
SELECT service, content_type, content_origin_id, title FROM subscribes WHERE service = :service AND content_type = :contentType;
-- findUserBySubscribeService (1/s) who has subscribed to anything of a service
SELECT su.user_id, s.service, s.content_type, s.content_origin_id FROM subscribe_users su
JOIN subscribes s ON s.id = su.subscribe_id WHERE s.service = :service;
-- saveSetting (40/s) a user changes a setting
UPDATE personal_settings SET setting = :setting WHERE user_id = :userId AND service = :service AND setting_type = :settingType;
-- subscribe (10/s) a user subscribes to something
INSERT INTO subscribe_users (user_id, subscribe_id) VALUES (:userId, :subscribeId);
