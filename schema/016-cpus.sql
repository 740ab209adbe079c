-- Cores that a cluster gave to an attempt.

ALTER TABLE t_attempt ADD COLUMN cpus INTEGER;	-- NULL = unknown
CREATE INDEX t_attempt_cpus ON t_attempt (cpus, started_us, ended_us)
WHERE cpus IS NOT NULL;
