-- Options of the last start that replace the limits in study.json.

ALTER TABLE t_study ADD COLUMN run_trials INTEGER;	-- NULL = as there
ALTER TABLE t_study ADD COLUMN run_parallel INTEGER;
