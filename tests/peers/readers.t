#!/bin/sh
# Lines and files of scikit-learn, LightGBM, tqdm and tensorboardX as they are today:
# the curve in the database is what the library remembers. They are small, and are
# installed where no Python has them.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
need sqlite3 python3
. "$TOP_SRCDIR/tests/peers/readers.sh"

library python_found scikit-learn
training whole mlp reader_sklearn.py MODEL=mlp '"reads": "sklearn"' 1e-8 loss=loss
training slow-cut mlp-partial reader_sklearn.py MODEL=mlp-partial \
    '"reads": "sklearn"' 1e-8 loss=loss
training whole gb reader_sklearn.py MODEL=gb '"reads": "sklearn"' 1e-4 \
    Train_Loss=train_loss
training whole gb-noise reader_sklearn.py MODEL=gb2 '"reads": "sklearn"' 1e-4 \
    Train_Loss=train_loss
training whole hist reader_sklearn.py MODEL=hist2 '"reads": "sklearn"' 1e-5 \
    val_loss=val_loss train_loss=train_loss

library python_found lightgbm
training whole lightgbm reader_lightgbm.py A= '"reads": "lightgbm"' 1e-6 \
    eval/binary_logloss=eval/binary_logloss eval/auc=eval/auc
training slow-cut lightgbm reader_lightgbm.py A= '"reads": "lightgbm"' 1e-6 \
    eval/binary_logloss=eval/binary_logloss train/auc=train/auc

library python_found tqdm
for kind in epochs batches nested; do
	for way in whole slow-cut; do
		training $way tqdm-$kind reader_tqdm.py KIND=$kind \
		    '"reads": "tqdm"' 1e-3 val_loss=val_loss loss=loss
	done
done

# With patterns: a bar over the epochs shows values before it counts the epoch, and
# at most ten states a second.
for way in slow slow-cut; do
	training $way bars-epochs reader_tqdm.py KIND=epochs \
	    '"metrics": [{ "name": "loss", "regex": "[ ,]loss=([0-9.]+)" },
	      { "name": "val_loss", "regex": "val_loss=([0-9.]+)" }],
	    "step_regex": "([0-9]+)/[0-9]+ \\[[0-9]"' \
	    1e-3 val_loss=val_loss loss=loss
done
for way in whole slow slow-cut; do
	training $way bars-batches reader_tqdm.py KIND=batches \
	    '"metrics": [{ "name": "loss", "regex": "[ ,]loss=([0-9.]+)" },
	      { "name": "val_loss", "regex": "val_loss=([0-9.]+)" }],
	    "step_regex": "Epoch ([0-9]+)/"' \
	    1e-3 val_loss=val_loss loss=loss
done

library python_found tensorboardX
for way in whole slow-cut; do
	training $way tensorboard reader_tensorboard.py A= \
	    '"reads": "tensorboard"' 1e-6 val_acc=val_acc train/loss=train/loss
done
done_testing
