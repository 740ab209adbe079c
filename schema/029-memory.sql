-- What the model of memory said of a suggestion.

ALTER TABLE t_suggestion ADD COLUMN memory REAL;	-- bytes: the peak expected
ALTER TABLE t_suggestion ADD COLUMN fits REAL;	-- probability; NULL = not asked
