-- Who answers, what a bare name means, as whom this session was let in, and which session it is.
SELECT VERSION(), DATABASE(), CURRENT_USER(), CONNECTION_ID(), CONCAT_WS(' ', @@hostname, @@port, @@server_id);
