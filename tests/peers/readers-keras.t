#!/bin/sh
# Lines of Keras as it is today: the curve in the database is its own history. It
# is not installed for the test.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
need sqlite3 python3
. "$TOP_SRCDIR/tests/peers/readers.sh"

# Callbacks that print stand between two states of one bar; with slow batches the
# first of these is complete. A cut epoch has states of its own.
library has keras "${KERAS_BACKEND-torch}"
training whole keras reader_keras.py CALLBACKS=evaluate '"reads": "keras"' 1e-4 \
    val_loss=val_loss accuracy=accuracy
for callbacks in checkpoint plateau print novalidation-print; do
	pair=val_loss=val_loss
	[ $callbacks = novalidation-print ] && pair=accuracy=accuracy
	training slow keras-$callbacks reader_keras.py CALLBACKS=$callbacks \
	    '"reads": "keras"' 1e-4 $pair loss=loss
done
training slow-cut keras reader_keras.py CALLBACKS=checkpoint-print-evaluate \
    '"reads": "keras"' 1e-4 val_loss=val_loss loss=loss
training slow keras-once reader_keras.py \
    "EPOCHS=1 CALLBACKS=checkpoint-evaluate" '"reads": "keras"' 1e-4 \
    val_loss=val_loss loss=loss
training whole keras-lines reader_keras.py "VERBOSE=2 CALLBACKS=checkpoint-print" \
    '"reads": "keras"' 1e-4 val_loss=val_loss loss=loss

done_testing
