#!/bin/sh
# Lines and files of libraries on PyTorch as they are today: the curve in the
# database is what the library remembers. None is installed for the test.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
need sqlite3 python3
. "$TOP_SRCDIR/tests/peers/readers.sh"

library has skorch torch
for way in whole slow-cut; do
	training $way skorch reader_skorch.py A= '"reads": "skorch"' 1e-4 \
	    valid_loss=valid_loss train_acc=train_acc
done

# Three digits; a bar over the epochs has no count of an earlier attempt.
library has pytorch-ignite torch
for way in whole slow-cut; do
	training $way ignite reader_ignite.py A= '"reads": "tqdm"' 6e-4 loss=loss
done
training slow ignite-epochs reader_ignite.py BAR=epochs '"reads": "tqdm"' 6e-4 \
    loss=loss

library has fastai torch
for way in whole slow-cut; do
	training $way fastai reader_fastai.py A= '"reads": "fastai"' 1e-5 \
	    valid_loss=valid_loss train_loss=train_loss accuracy=accuracy
done

library has lightning torch
for way in whole slow-cut; do
	training $way lightning reader_lightning.py A= '"reads": "lightning"' 1e-6 \
	    val_loss=val_loss train_loss=train_loss
done

library has transformers torch
for way in whole slow-cut; do
	training $way transformers reader_transformers.py A= '"reads": "hf"' 1e-4 \
	    eval_loss=eval_loss loss=loss
done
training whole transformers-plain reader_transformers.py TQDM=no '"reads": "hf"' \
    1e-4 eval_loss=eval_loss loss=loss

library has mmengine-lite torch
for way in whole slow-cut; do
	training $way mmengine reader_mmengine.py A= '"reads": "mmengine"' 1e-4 \
	    accuracy=accuracy
	training $way mmengine-scalars reader_mmengine.py A= \
	    '"metrics": [{ "from": "json", "path": "**/vis_data/scalars.json" }]' \
	    1e-6 accuracy=accuracy
done

done_testing
