#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# packaging/build.sh BUILD OUTPUT: .deb packages and a tarball of what was built in BUILD (the targets
# product and lemma_jit_static). OUTPUT is emptied, except for its hidden files.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
build=$1
mkdir -p "$2"
output=$(realpath "$2")

version=$(sed -n 's/^project(lemma VERSION \([0-9.]*\) .*/\1/p' CMakeLists.txt)
architecture=$(uname -m)
: "${DEBFULLNAME:=The Lemma authors}" "${DEBEMAIL:=$(git log -1 --format=%ae)}"
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct 2>/dev/null || date +%s)
export SOURCE_DATE_EPOCH

# configure PREFIX: Debian's packages rely on the system to find libraries.
configure() {
    local skip=OFF
    [ "$1" != /usr ] || skip=ON
    cmake -S . -B "$build" -DCMAKE_INSTALL_PREFIX="$1" -DCMAKE_SKIP_INSTALL_RPATH=$skip \
        >"$build/configure.log"
}

# install_into FOLDER PREFIX COMPONENT…: what CMake installs, without debug information.
install_into() {
    local folder=$1 prefix=$2 component
    shift 2
    configure "$prefix"
    for component in "$@"; do
        DESTDIR=$folder cmake --install "$build" --strip --component "$component" >/dev/null
    done
}

# The program, the library and the code generator with LLVM inside. The server and the Python module
# need libraries of the distribution: they come as packages, and the module also as a wheel.
make_tarball() {
    local name=lemma-$version-linux-$architecture stage=$output/stage
    install_into "$stage" "/$name" program library development
    install -D "$build/static/lemma_jit.so" "$stage/$name/lib/lemma/lemma_jit.so"
    tar -C "$stage" --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" \
        -cf - "$name" | xz -T0 >"$output/$name.tar.xz"
    rm -rf "$stage"
}

# leave_out PACKAGE FILE: if the file is not there, because its libraries were missing.
leave_out() {
    [ ! -e "$2" ] || return 0
    echo "there is no $1: it was not built"
    awk -v RS= -v ORS='\n\n' -v package="Package: $1\n" 'index($0, package) != 1' \
        "$debian/control" >"$debian/control.new"
    mv "$debian/control.new" "$debian/control"
    rm "$debian/$1.install"
}

make_debs() {
    local work=$output/work debian=$output/work/debian
    mkdir -p "$work"
    cp -r packaging/debian "$debian"
    sed -i "s/@MAINTAINER@/$DEBFULLNAME <$DEBEMAIL>/" "$debian/control"
    cat >"$debian/changelog" <<TEXT
lemma ($version-1) unstable; urgency=medium

  * Lemma $version. CHANGELOG.md has the changes.

 -- $DEBFULLNAME <$DEBEMAIL>  $(date -R -u -d "@$SOURCE_DATE_EPOCH")
TEXT
    install_into "$work/stage" /usr program library development llvm serve python
    # Debian's name of the folder for zsh.
    if [ -d "$work/stage/usr/share/zsh/site-functions" ]; then
        mv "$work/stage/usr/share/zsh/site-functions" "$work/stage/usr/share/zsh/vendor-completions"
    fi
    leave_out lemma-serve "$work"/stage/usr/lib/*/lemma/lemma_serve.so
    leave_out python3-lemma "$work"/stage/usr/lib/python3
    (cd "$work" && OUTPUT=$output fakeroot dpkg-architecture -c debian/rules binary) >"$output/.debs.log" 2>&1 ||
        { tail -n 40 "$output/.debs.log"; echo "building the packages failed"; exit 1; }
    rm -rf "$work"
}

rm -rf "${output:?}"/*
make_tarball
make_debs
configure /usr/local
(cd "$output" && lintian --fail-on=error --allow-root *.deb)
ls -sh "$output" | tail -n +2
