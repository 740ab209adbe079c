-- What trials did at slots, GPUs and nodes, from which follows where none is placed
-- any more.

CREATE TABLE t_place (
	place TEXT PRIMARY KEY,		-- backend, and slot, UUID, node or nothing
	trials TEXT NOT NULL,		-- failed at once there: src/model/places.h
	worked INTEGER NOT NULL,	-- trials elsewhere since the row began
	failed INTEGER NOT NULL,
	works INTEGER NOT NULL CHECK (works IN (0, 1)),	-- a trial has, ever
	drained INTEGER NOT NULL CHECK (drained IN (0, 1))
) STRICT, WITHOUT ROWID;
