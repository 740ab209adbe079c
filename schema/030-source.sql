-- Trials that run the files of a commit.

ALTER TABLE t_trial ADD COLUMN git_commit TEXT;	-- its hash; NULL = of none
ALTER TABLE t_contest ADD COLUMN git_commit TEXT;	-- of the challenger
ALTER TABLE t_contest ADD COLUMN git_base TEXT;	-- of the baseline, when opened
ALTER TABLE t_contest ADD COLUMN diff TEXT;	-- from git_base to git_commit
