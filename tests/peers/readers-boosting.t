#!/bin/sh
# Lines and files of XGBoost and CatBoost as they are today: the curve in the
# database is what the library remembers. Neither is installed for the test.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
need sqlite3 python3
. "$TOP_SRCDIR/tests/peers/readers.sh"

library has xgboost
training whole xgboost reader_xgboost.py A= '"reads": "xgboost"' 1e-5 \
    eval-logloss=eval-logloss train-error=train-error
training slow-cut xgboost reader_xgboost.py A= '"reads": "xgboost"' 1e-5 \
    eval-logloss=eval-logloss train-error=train-error

library has catboost
for way in whole slow-cut; do
	training $way catboost reader_catboost.py A= '"reads": "catboost"' 1e-7 \
	    test=validation/Logloss learn=learn/Logloss
	training $way catboost-tsv reader_catboost.py A= \
	    '"metrics": [{ "from": "csv", "path": "catboost_info/test_error.tsv" }]' \
	    1e-7 Logloss=validation/Logloss
	training $way catboost-events reader_catboost.py A= \
	    '"reads": "tensorboard"' 1e-6 \
	    test/Logloss=validation/Logloss Logloss=learn/Logloss
done

done_testing
