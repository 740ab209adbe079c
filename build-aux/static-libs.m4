# HPOTUNE_STATIC(NAME, FUNCTION): link the library of NAME_LIBS, which has
# FUNCTION, from its archive where there is one that links.
#
# A command of hpotune is short: resolving the symbols of ten shared libraries
# takes longer than most of what it does.  --disable-static-libs links them as
# distributions want it.  STATIC_LIBS lists the names that were linked so.
AC_DEFUN([HPOTUNE_STATIC], [
AS_IF([test "x$enable_static_libs" != xno], [
    AC_MSG_CHECKING([for an archive of $1])
    save_LIBS=$LIBS
    static_try="-Wl,-Bstatic -Wl,--start-group $$1_LIBS -Wl,--end-group -Wl,-Bdynamic"
    LIBS="$static_try $LIBS"
    AC_LINK_IFELSE([AC_LANG_CALL([], [$2])],
	[AC_MSG_RESULT([yes])
	$1_LIBS=$static_try
	STATIC_LIBS="$STATIC_LIBS $1"],
	[AC_MSG_RESULT([no])])
    LIBS=$save_LIBS
])])
