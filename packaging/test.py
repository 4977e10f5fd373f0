#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the packages and the tarball of a folder in a fresh Debian 12, which mmdebstrap makes. Follows
the README word by word as an ordinary user whose home is read-only, then removes lemma-llvm, then all
packages, and unpacks the tarball. Needs root, and a Debian mirror unless everything was downloaded
before. The last line counts the checks."""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
DEBIAN = "bookworm"
USER = 1234
EXAMPLES = "/usr/share/doc/lemma/examples"
# What the commands of the README must print. Each command has its line here, each line its command.
PROMISES = {
    "sudo apt install ./lemma*.deb": r"Setting up lemma ",
    "sudo apt install g++": r"cmake",
    'cd "$(mktemp -d)"': r"",
    "lemma run examples/digits": r"1\. class 7 ",
    'python3 -c "import lemma': r"^\[\[7\.53026",
    "cmake -S examples/api": r"class 7, ",
    "cc examples/api/classify.c": r"",
    "./classify examples/digits": r"class 7, ",
    "tar -xf lemma-": r"",
    "bin/lemma run share": r"1\. class 7 ",
}
# Large enough for the compiler to be chosen.
LARGE = """import math;
graph G {
    @input { x: real[1600000]; }
    @output { y: real[1600000]; }
    @compose { y = math.exp(x); }
}
"""


class Counts:
    passed = 0
    failed = 0

    @classmethod
    def check(cls, what: str, good: bool, said: str = "") -> None:
        print(f"{'ok  ' if good else 'FAIL'} {what}", flush=True)
        if good:
            cls.passed += 1
            return
        cls.failed += 1
        print("\n".join("     | " + line for line in said.splitlines()[-30:]), flush=True)


class Chroot:
    """A fresh system below a folder. `cache` keeps what was downloaded."""

    def __init__(self, folder: pathlib.Path, cache: pathlib.Path):
        self.folder, self.cache = folder, cache

    def make(self) -> None:
        base = self.cache / f"{DEBIAN}.tar"
        if not base.exists():
            made = base.with_suffix(".part.tar")
            made.parent.mkdir(parents=True, exist_ok=True)
            subprocess.run(["mmdebstrap", "--variant=apt", "--quiet", DEBIAN, made], check=True)
            made.rename(base)
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        subprocess.run(["tar", "-xf", base, "-C", self.folder], check=True)
        shutil.copy("/etc/resolv.conf", self.folder / "etc/resolv.conf")
        # Downloaded packages stay for the next test; documents are installed as on any machine.
        (self.cache / "archives/partial").mkdir(parents=True, exist_ok=True)
        (self.folder / "etc/apt/apt.conf.d/99keep").write_text(
            'Binary::apt::APT::Keep-Downloaded-Packages "true";\n'
            'APT::Sandbox::User "root";\n')

    def run(self, script: str, user: bool = True, place: str = "/") -> tuple[int, str]:
        """The status of a shell script and what it printed, both streams."""
        environment = {"PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8",
                       "HOME": "/home/ana", "DEBIAN_FRONTEND": "noninteractive"}
        who = [f"--userspec={USER}:{USER}"] if user else []
        if not user:
            environment |= {"PATH": environment["PATH"] + ":/usr/sbin:/sbin", "HOME": "/root"}
        mounts = (f"mount -t proc proc '{self.folder}/proc' && mount --rbind /dev '{self.folder}/dev' && "
                  f"mount --bind '{self.cache}/archives' '{self.folder}/var/cache/apt/archives' && "
                  'exec /usr/sbin/chroot "$@"')
        command = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-c", mounts, "sh",
                   *who, str(self.folder), "/bin/bash", "-ec", f"cd {place}\n{script}"]
        ended = subprocess.run(command, env=environment, stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                               errors="replace", timeout=900)
        return ended.returncode, ended.stdout

    def expect(self, what: str, script: str, *, said: str = "", status: int = 0, user: bool = True,
               place: str = "/") -> str:
        """Checks the status of a script and what it prints (a pattern)."""
        got, text = self.run(script, user, place)
        good = got == status and re.search(said, text, re.MULTILINE) is not None
        Counts.check(what, good, f"{script}\nstatus {got}, wanted {status} and /{said}/\n{text}")
        return text


def readme_commands(heading: str) -> list[str]:
    """The commands below a heading of the README, in their order."""
    text = (ROOT / "README.md").read_text()
    section = re.search(rf"^### {heading}\n(.*?)^##", text, re.MULTILINE | re.DOTALL)
    if not section:
        raise SystemExit(f"README.md has no heading `{heading}`")
    blocks = re.findall(r"^```sh\n(.*?)^```", section[1], re.MULTILINE | re.DOTALL)
    return [line for block in blocks for line in block.splitlines() if line]


def follow(chroot: Chroot, commands: list[str], place: str, promises: dict[str, str]) -> None:
    """Runs the commands in one place after another, as a reader would: `sudo` as root."""
    here = place
    for command in commands:
        known = [start for start in promises if command.startswith(start)]
        if len(known) != 1:
            Counts.check(f"README: {command}", False, "no promise in packaging/test.py")
            continue
        promise = promises.pop(known[0])
        as_root = command.startswith("sudo ")
        line = command.removeprefix("sudo ").replace("apt install", "apt install -y -qq")
        if as_root and "./" in line:
            line = "apt-get update -qq && " + line
        text = chroot.expect(f"README: {command}", f"{line} || exit $?\necho \"@@$PWD\"", said=promise,
                             user=not as_root, place=here)
        at = re.search(r"^@@(.*)$", text, re.MULTILINE)
        here = at[1] if at and not as_root else here


def prepare(chroot: Chroot, packages: pathlib.Path) -> None:
    chroot.make()
    shutil.copytree(packages, chroot.folder / "packages", ignore=shutil.ignore_patterns(".*"))
    chroot.run(f"""echo 'ana:x:{USER}:{USER}::/home/ana:/bin/bash' >>/etc/passwd
        echo 'ana:x:{USER}:' >>/etc/group
        mkdir -p /home/ana && chmod 555 /home/ana
        mkdir -p /home/work && chown {USER}:{USER} /home/work""", user=False)
    (chroot.folder / "home/work/large.sknd").write_text(LARGE)
    chroot.expect("the user is not root and cannot write to the home",
                  "test $(id -u) != 0; ! touch ~/file 2>/dev/null")


def try_examples(chroot: Chroot) -> None:
    """Every example by the program's name."""
    examples = sorted(path.parent.name for path in ROOT.glob("examples/*/main.sknd"))
    for name in examples:
        chroot.expect(f"example {name}",
                      f"lemma check {EXAMPLES}/{name} && lemma run {EXAMPLES}/{name} "
                      "--random-inputs --random-weights", said=r": \w+\[.*\]")
    chroot.expect("no package of LLVM is needed by the program itself",
                  "! ldd /usr/bin/lemma | grep -i llvm")
    chroot.expect("lemma --version", "lemma --version", said=r"^lemma \d+\.\d+\.\d+$")
    chroot.expect("manual pages and completions are installed",
                  "gzip -t /usr/share/man/man1/lemma.1.gz /usr/share/man/man1/lemma-run.1.gz\n"
                  "bash -n /usr/share/bash-completion/completions/lemma\n"
                  "test -s /usr/share/zsh/vendor-completions/_lemma\n"
                  "test -s /usr/share/fish/vendor_completions.d/lemma.fish")
    chroot.expect("the licence is installed",
                  "cat /usr/share/doc/lemma/LICENSE /usr/share/doc/lemma/copyright", said="Apache-2.0")


SERVE = f"""lemma serve digits={EXAMPLES}/digits --http-port=18431 --grpc-port=0 >log 2>&1 &
server=$!
python3 - <<'END'
import json, time, urllib.request as http
def get(path, body=None):
    return http.urlopen(f"http://127.0.0.1:18431{{path}}", body, timeout=10).read()
for _ in range(100):
    try:
        get("/v2/health/ready")
        break
    except OSError:
        time.sleep(0.1)
rows = ["11111", "00001", "00010", "00100", "00100", "01000", "01000"]
picture = {{"name": "picture", "datatype": "FP32", "shape": [7, 5],
           "data": [float(dot) for row in rows for dot in row]}}
answer = json.loads(get("/v2/models/digits/infer", json.dumps({{"inputs": [picture]}}).encode()))
scores = answer["outputs"][0]["data"]
print("digit", scores.index(max(scores)))
END
kill -TERM $server
wait $server && echo ended well || cat log"""


def try_server(chroot: Chroot) -> None:
    chroot.expect("lemma serve answers over HTTP and ends when it is told", SERVE,
                  said=r"^digit 7\nended well$", place="/home/work")
    chroot.expect("apt remove lemma-serve", "apt-get remove -y -qq lemma-serve",
                  said="Removing lemma-serve", user=False)
    chroot.expect("without it, lemma serve names the package",
                  f"lemma serve digits={EXAMPLES}/digits", status=2,
                  said="the package `lemma-serve` has it")


def without_llvm(chroot: Chroot) -> None:
    """The interpreter and cached kernels stay, and Lemma says so."""
    model = "large.sknd --random-inputs --seed=1"
    cached = f"LEMMA_CACHE=/home/work/cache lemma run {model} --engine=jit"
    place = "/home/work"
    before = chroot.expect("with lemma-llvm, the model is compiled", cached, said=r"y: f32", place=place)
    chroot.expect("apt remove lemma-llvm", "apt-get remove -y -qq lemma-llvm", said="Removing lemma-llvm",
                  user=False)
    after = chroot.expect("without it, cached kernels run", cached, said=r"y: f32", place=place)
    Counts.check("with the same result", "y: f32" in before and before == after,
                 f"{before}{after}")
    hint = "the interpreter runs it.*the package `lemma-llvm` has it"
    chroot.expect("other models are interpreted, with a remark that names the package",
                  f"lemma run {model} 2>&1", said=hint, place=place)
    chroot.expect("--engine=jit is refused with the same remark",
                  f"lemma run {model} --engine=jit --no-cache", status=2,
                  said="cannot load the compiler.*the package `lemma-llvm` has it", place=place)
    chroot.expect("small models run as before",
                  f"lemma run {EXAMPLES}/digits -i {EXAMPLES}/digits/seven.json --top=1", said="class 7")
    chroot.expect("apt install ./lemma-llvm*.deb brings it back",
                  "apt-get install -y -qq ./lemma-llvm*.deb", user=False, place="/packages")
    chroot.expect("and models are compiled again", f"lemma run {model} --engine=jit --no-cache",
                  said=r"y: f32", place=place)


def try_tarball(chroot: Chroot, promises: dict[str, str]) -> None:
    chroot.expect("apt purge removes the packages and LLVM",
                  "apt-get purge -y -qq --autoremove '*lemma*' libllvm19 >/dev/null\n"
                  "if command -v lemma; then exit 1; fi\n"
                  "! ls -d /usr/lib/*/liblemma* /usr/lib/*/lemma /usr/lib/*/libLLVM* 2>/dev/null",
                  user=False)
    chroot.expect("xz is installed", "apt-get install -y -qq xz-utils; cp /packages/*.tar.xz /home/work",
                  user=False)
    follow(chroot, readme_commands("On other Linux systems"), "/home/work", promises)
    # Moved, called through a link, compiled without LLVM on the machine.
    place = "/home/work"
    chroot.expect("the folder of the tarball may be moved", "mv lemma-*/ moved; mkdir bin; "
                  "ln -s ../moved/bin/lemma bin/lemma", place=place)
    chroot.expect("it compiles models without LLVM on the machine",
                  "PATH=$PWD/bin:$PATH; lemma run large.sknd --random-inputs --engine=jit --no-cache",
                  said=r"y: f32", place=place)
    chroot.expect("programs are built with it by find_package",
                  "cmake -S moved/share/doc/lemma/examples/api -B api -DCMAKE_PREFIX_PATH=$PWD/moved "
                  ">/dev/null && cmake --build api >/dev/null && "
                  "api/classify_c moved/share/doc/lemma/examples/digits", said="class 7, ", place=place)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("packages", type=pathlib.Path, help="the folder of the packages")
    parser.add_argument("--work", type=pathlib.Path, default=ROOT / "build/chroot",
                        help="keeps downloads and the system that was tested")
    arguments = parser.parse_args()
    if os.geteuid() != 0:
        raise SystemExit("a chroot needs root")
    start = time.monotonic()
    work = arguments.work.resolve()
    chroot = Chroot(work / "root", work)
    promises = dict(PROMISES)
    prepare(chroot, arguments.packages.resolve())
    follow(chroot, readme_commands("On Debian 12"), "/packages", promises)
    try_examples(chroot)
    try_server(chroot)
    without_llvm(chroot)
    try_tarball(chroot, promises)
    Counts.check("the README has every promised command", not promises, str(list(promises)))
    print(f"{time.monotonic() - start:.0f} s")
    print(f"{Counts.passed} passed, {Counts.failed} failed")
    return 1 if Counts.failed else 0


if __name__ == "__main__":
    sys.exit(main())
