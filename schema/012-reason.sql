-- Why the strategy auto asked the one that answered; NULL = the study names it.
ALTER TABLE t_suggestion ADD COLUMN reason TEXT;
