# HPOTUNE_CUDA: is there an nvcc that can build hpotune-worker-cuda?
#
# --with-cuda=no: do not look; auto: build it when nvcc works; yes or the
# prefix of a toolkit: it has to work.  Sets NVCC, CUDA_GENCODE, CUDA_LIBS,
# CUDA_LIBDIR and the conditional CUDA.

# The processors of release X that we build for, and PTX of the last for those
# that come later.
AC_DEFUN([HPOTUNE_CUDA_GENCODE], [
cuda_known=`"$NVCC" --list-gpu-code 2>/dev/null`
cuda_last=
for cuda_arch in 75 80 86 89 90 100 120; do
    AS_CASE([" "`echo $cuda_known`" "], [*" sm_$cuda_arch "*],
	[CUDA_GENCODE="$CUDA_GENCODE -gencode arch=compute_$cuda_arch,code=sm_$cuda_arch"
	cuda_last=$cuda_arch])
done
AS_IF([test -n "$cuda_last"],
    [CUDA_GENCODE="$CUDA_GENCODE -gencode arch=compute_$cuda_last,code=compute_$cuda_last"])
])

# Plain $CC links the result: no C++ library is needed without exceptions.
# m4 takes square brackets out of programs: *(x + i) instead of x of i.
AC_DEFUN([HPOTUNE_CUDA_TRY], [
cat >conftest.cu <<'END'
#include <cuda_runtime.h>
#include <cublas_v2.h>
#include <cusolverDn.h>
__global__ void twice(double *x) { *(x + threadIdx.x) *= 2; }
extern "C" int run(double *x) { twice<<<1, 32>>>(x); return cudaGetLastError(); }
END
cat >conftest.c <<'END'
int run(double *);
int main(void) { return run(0); }
END
cuda_why='it does not compile'
CUDA_HOST='-Xcompiler -fPIE,-fno-exceptions,-fno-rtti,-fno-threadsafe-statics'
AS_IF(["$NVCC" -std=c++17 $CUDA_GENCODE $NVCCFLAGS $CUDA_HOST -c -o conftest-cu.o conftest.cu >&AS_MESSAGE_LOG_FD 2>&1],
    [cuda_why='there is no cudart_static to link with'
    cuda_top=`AS_DIRNAME(["$NVCC"])`/..
    for cuda_dir in "$cuda_top/lib64" "$cuda_top/lib" "$cuda_top/targets/$host_cpu_name-linux/lib" ''; do
	AS_IF([test -z "$cuda_dir" || test -d "$cuda_dir"], [
	    cuda_try="${cuda_dir:+-L$cuda_dir }-lcudart_static -lrt -lpthread -ldl"
	    AS_IF([$CC $CFLAGS -o conftest$EXEEXT conftest.c conftest-cu.o $LDFLAGS $cuda_try >&AS_MESSAGE_LOG_FD 2>&1],
		[have_cuda=yes
		CUDA_LIBS=$cuda_try
		CUDA_LIBDIR=$cuda_dir
		break])])
    done])
rm -f conftest.cu conftest.c conftest-cu.o conftest$EXEEXT
])

# NCCL is opened at run time; building needs its header, beside that of CUDA.
AC_DEFUN([HPOTUNE_NCCL], [
AC_MSG_CHECKING([whether $NVCC finds nccl.h])
cat >conftest.cu <<'END'
#include <nccl.h>
extern "C" int run(void) { ncclConfig_t c = NCCL_CONFIG_INITIALIZER; return c.blocking; }
END
AS_IF(["$NVCC" -std=c++17 -x c++ $NVCCFLAGS -c -o conftest-cu.o conftest.cu >&AS_MESSAGE_LOG_FD 2>&1],
    [AC_MSG_RESULT([yes])
    NCCL_FLAGS=-DHAVE_NCCL],
    [AC_MSG_RESULT([no: mlp-cuda adds up over the host])
    NCCL_FLAGS=])
rm -f conftest.cu conftest-cu.o
])

AC_DEFUN([HPOTUNE_CUDA], [
AC_ARG_WITH([cuda],
    [AS_HELP_STRING([--with-cuda@<:@=DIR@:>@],
	[build hpotune-worker-cuda with the toolkit in DIR @<:@when it is found@:>@])],
    [], [with_cuda=auto])
AC_ARG_VAR([NVCC], [the compiler of CUDA])
AC_ARG_VAR([NVCCFLAGS], [more flags for it])
AC_ARG_VAR([CUDA_GENCODE], [its -gencode flags, instead of those for every processor from sm_75 on])
have_cuda=no
cuda_why='nvcc was not found'
host_cpu_name=`uname -m`
AS_IF([test "x$with_cuda" != xno],
    [AS_CASE([$with_cuda],
	[yes|auto], [AC_PATH_PROG([NVCC], [nvcc], [],
	    [$PATH$PATH_SEPARATOR/usr/local/cuda/bin])],
	[AC_PATH_PROG([NVCC], [nvcc], [], [$with_cuda/bin])])
    AS_IF([test -n "$NVCC"],
	[AC_MSG_CHECKING([whether $NVCC works])
	AS_IF([test -z "$CUDA_GENCODE"], [HPOTUNE_CUDA_GENCODE])
	HPOTUNE_CUDA_TRY
	AS_IF([test $have_cuda = yes], [AC_MSG_RESULT([yes])],
	    [AC_MSG_RESULT([no: $cuda_why])])])
    AS_IF([test $have_cuda = no && test "x$with_cuda" != xauto],
	[AC_MSG_ERROR([--with-cuda: $cuda_why])])])
AS_IF([test $have_cuda = yes], [HPOTUNE_NCCL])
AC_SUBST([NCCL_FLAGS])
AC_SUBST([CUDA_HOST])
AC_SUBST([CUDA_LIBS])
AC_SUBST([CUDA_LIBDIR])
AM_CONDITIONAL([CUDA], [test $have_cuda = yes])
])
