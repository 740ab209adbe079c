-- Judgements that came too late to save anything.

-- 1: the trial ran to its end in spite of it.
ALTER TABLE t_stop ADD COLUMN late INTEGER NOT NULL DEFAULT 0
    CHECK (late IN (0, 1));
