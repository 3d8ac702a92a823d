-- Who answers, what a bare name means, and as whom this session was let in.
SELECT VERSION(), DATABASE(), CURRENT_USER();
