# Sourced by the tests of GPUs: a fake driver configured by a file, studies on
# its GPUs.

# From here on the GPUs are those that the file "gpus" describes: fake-gpus.h.
gpus_fake() {
	FAKE_GPUS_FILE=$dir/gpus
	HPOTUNE_NVML=$TOP_BUILDDIR/tests/fake/libnvidia-ml.so.1
	HPOTUNE_CUDA=$TOP_BUILDDIR/tests/fake/libcuda.so.1
	HPOTUNE_GPU_LOCKS=$dir/locks
	unset CUDA_VISIBLE_DEVICES
	export FAKE_GPUS_FILE HPOTUNE_NVML HPOTUNE_CUDA HPOTUNE_GPU_LOCKS
}

# A folder with trial.sh and a study.json that runs it; we are in it then.
gpus_study() { # name trials keys-of-trial keys-of-backend
	mkdir "$1" && cp trial.sh "$1" && cd "$1" || exit 99
	cat >study.json <<-END
	{
	  "study": "$1",
	  "objective": { "metric": "loss", "goal": "minimize" },
	  "parameters": { "x": { "type": "float", "min": 0, "max": 1 } },
	  "strategy": { "name": "random", "seed": 1 }, "stopping": "none",
	  "trial": { "command": ["./trial.sh"], $3 },
	  "backend": { "name": "local"$4 },
	  "limits": { "trials": $2 }
	}
	END
}
