#!/bin/sh
# Lines and files of libraries for one kind of task as they are today: language,
# games, images. None is installed for the test.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
need sqlite3 python3
. "$TOP_SRCDIR/tests/peers/readers.sh"

library has spacy
training whole spacy-textcat reader_spacy.py A= '"reads": "spacy"' 6e-3 \
    SCORE=SCORE "LOSS_TEXTCAT=LOSS TEXTCAT"
training slow-cut spacy-ner reader_spacy.py MODEL=ner '"reads": "spacy"' 6e-3 \
    SCORE=SCORE "LOSS_NER=LOSS NER"

library has stable_baselines3 gymnasium torch
for way in whole slow-cut; do
	training $way sb3 reader_sb3.py A= '"reads": "sb3"' 1e-6 \
	    rollout/ep_rew_mean=rollout/ep_rew_mean train/loss=train/loss
	training $way sb3-table reader_sb3.py FORMATS=stdout '"reads": "sb3"' 0.06 \
	    rollout/ep_rew_mean=rollout/ep_rew_mean train/loss=train/loss
	training $way sb3-csv reader_sb3.py A= \
	    '"metrics": [{ "from": "csv", "path": "logs/progress.csv" }]' 1e-6 \
	    rollout/ep_rew_mean=rollout/ep_rew_mean train/loss=train/loss
done

library has ultralytics torch
for way in whole slow-cut; do
	training $way ultralytics reader_ultralytics.py EPOCHS=3 \
	    '"reads": "ultralytics"' 1e-6 \
	    val/cls_loss=val/cls_loss "metrics/mAP50-95_B_=metrics/mAP50-95(B)"
done

done_testing
