-- Trials of different lengths.

ALTER TABLE t_trial ADD COLUMN own_steps INTEGER;	-- NULL = as t_study has, or unknown
