-- After the reports are in t_block.

DROP TABLE t_curve;
DROP TABLE t_metric;
