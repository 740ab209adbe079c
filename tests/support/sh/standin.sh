# A stand-in AWS for shell scenarios; source it after lib.sh.  Its services are
# at $AWS_ENDPOINT_URL, its folder is $dir/aws.

# The rest of the environment that AWS's programs read must not be seen.
standin_env() {
	unset AWS_PROFILE AWS_DEFAULT_PROFILE AWS_REGION AWS_DEFAULT_REGION \
	    AWS_SESSION_TOKEN AWS_CA_BUNDLE
	export AWS_CONFIG_FILE=/nonexistent AWS_EC2_METADATA_DISABLED=true
	export AWS_SHARED_CREDENTIALS_FILE=/nonexistent
	export AWS_ACCESS_KEY_ID=canary-key-id
	export AWS_SECRET_ACCESS_KEY=canary-secret-key
	AWS_ENDPOINT_URL=$(cat "$dir/aws/endpoint")
	export AWS_ENDPOINT_URL
}

# Start it; several may follow one another on one folder.
standin() { # option …
	find_python botocore
	mkdir -p "$dir/aws"
	rm -f "$dir/aws/endpoint"
	background standin "$python" "$TOP_SRCDIR/tests/standin/standin.py" \
	    --dir "$dir/aws" --bucket bucket --speed 50 --check-answers \
	    --access-key canary-key-id --secret-key canary-secret-key "$@"
	standin=$child
	retry test -s "$dir/aws/endpoint" ||
	    { diag "$(cat standin.err)"; exit 99; }
	standin_env
}

# Other faults from now on, in place of all before.
standin_faults() { # specification
	"$python" -c 'import sys, urllib.request as web
web.urlopen(web.Request(sys.argv[1] + "/standin/faults", method="PUT",
    data=sys.argv[2].encode()))' "$AWS_ENDPOINT_URL" "$1"
}

# What the stand-in's journal proves: these members, each as a line of JSON.
# Modules of other packages are not needed, and take longer than the rest.
proved() { # member …
	"$python" -S "$TOP_SRCDIR/tests/standin/verify.py" "$dir/aws" \
	    hpotune:attempt "$@"
}

# Nothing twice, nothing left, nothing that the models refuse.
proved_clean() { # what
	proved created_twice tag_twice open defects >proved.lines
	is "$(sed '4,$d' proved.lines)" '[]
{}
[]' "$1: nothing twice, nothing left"
	is "$(sed 1,3d proved.lines)" '[]' "$1: the stand-in keeps to the models"
}

# The backend block: members after the usual ones.
sagemaker_block() { # member …
	printf '{"name": "sagemaker", "region": "eu-west-1",
 "role": "arn:aws:iam::123456789012:role/Trials",
 "image": "123456789012.dkr.ecr.eu-west-1.amazonaws.com/train:1",
 "instance_type": ["ml.g5.xlarge", "ml.g4dn.xlarge"],
 "price_per_hour": {"ml.g5.xlarge": 1.5, "ml.g4dn.xlarge": 0.8},
 "s3": "s3://bucket/hpotune/", "code": "code", "max_run": "1h", "pace": 50'
	for block_member; do
		printf ', %s' "$block_member"
	done
	printf '}'
}

# A trainer of five steps whose curve is its parameter's.  With "slow" in its
# folder it goes on until it is told to end, once it is at step 3.
sagemaker_code() {
	mkdir -p code
	cat >code/train.sh <<-'END'
	for word; do
		case $word in --x=*) x=${word#--x=} ;; esac
	done
	for step in 1 2 3 4 5; do
		awk "BEGIN { printf \"hpotune: step=$step loss=%.6f\\n\", \
		    ($x - 0.3) ^ 2 + 1 / $step }"
		if [ -e slow ] && [ $step = 3 ]; then
			trap 'exit 0' TERM
			while :; do sleep 0.1; done
		fi
	done
	END
}

sagemaker_study() { # file name trials block [stopping]
	cat >"$1" <<-END
	{ "study": "$2",
	  "objective": { "metric": "loss", "goal": "minimize" },
	  "parameters": { "x": { "type": "float", "min": 0, "max": 1 } },
	  "strategy": { "name": "random", "seed": 7 },
	  "stopping": ${5:-\"none\"},
	  "trial": { "command": ["sh", "train.sh", "{params}"],
	    "workdir": "code", "max_steps": 5 },
	  "backend": $4,
	  "limits": { "trials": $3, "parallel": 2 } }
	END
}
