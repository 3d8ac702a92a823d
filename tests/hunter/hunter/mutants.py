"""Takes guards away from the program, and hunts until that is found: a guard whose mutant lives is guarded by nobody.

`mutants/mutants.json` lists them: the guard in words, the file, the text that stands there once, what stands there in its
place (`MUTANT` is true where this mutant is on), the category that has to be found, and options of the hunt.
"""
import argparse
import json
import os
import shutil
import subprocess
import sys
import time

SWITCH = '''
/// Whether this guard is taken away: only in the hunter's own build.
#[must_use]
pub fn mutant(name: &str) -> bool {
    std::env::var("HUNTER_MUTANT").is_ok_and(|on| on == name)
}
'''


def main():
    parser = argparse.ArgumentParser(prog="tests/hunter/mutants/run", description=__doc__)
    parser.add_argument("root")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--seconds", default="120")
    parser.add_argument("--binary", help="a binary that has them all, from an earlier run")
    options = parser.parse_args()
    with open(os.path.join(options.root, "tests/hunter/mutants/mutants.json"), encoding="utf-8") as file:
        mutants = json.load(file)
    chosen = [mutant for mutant in mutants if not options.names or mutant["name"] in options.names]
    binary = options.binary or build(options.root, mutants)
    alive = []
    for mutant in [{"name": "none", "kills": "", "options": []}, *chosen]:
        # Without a mutant the same hunts find nothing: what is found with one is the mutant's.
        if mutant["name"] == "none":
            wanted = sorted({tuple(each["options"]) for each in chosen})
            clean = [hunt(options, binary, "", "", list(each), "20") for each in wanted]
            print("without a mutant:", "; ".join(clean), flush=True)
            continue
        result = hunt(options, binary, mutant["name"], mutant["kills"], mutant["options"], options.seconds)
        print(f"{mutant['name']}: {result}: {mutant['guard']}", flush=True)
        if not result.startswith("killed"):
            alive.append(mutant["name"])
    print(f"mutants: {len(chosen) - len(alive)} killed, {len(alive)} alive {' '.join(alive)}")
    sys.exit(1 if alive else 0)


def build(root, mutants):
    """A binary with all mutants in it."""
    folder = os.path.join(root, "target/hunter/mutants")
    tree, target = os.path.join(folder, "tree"), os.path.join(folder, "target")
    os.makedirs(folder, exist_ok=True)
    if not os.path.isdir(tree):
        subprocess.run(["git", "-C", root, "worktree", "prune"], check=True)
        subprocess.run(["git", "-C", root, "worktree", "add", "--quiet", "--detach", tree, "HEAD"], check=True)
    head = subprocess.run(["git", "-C", root, "rev-parse", "HEAD"], check=True, capture_output=True, text=True).stdout.strip()
    subprocess.run(["git", "-C", tree, "reset", "--quiet", "--hard"], check=True)
    subprocess.run(["git", "-C", tree, "checkout", "--quiet", "--detach", head], check=True)
    if not os.path.isdir(target) and os.path.isdir(os.path.join(root, "target/debug/deps")):
        for name in ("deps", "build", ".fingerprint"):    # dependencies need not be built again
            shutil.copytree(os.path.join(root, "target/debug", name), os.path.join(target, "debug", name),
                            copy_function=os.link, symlinks=True)
    for mutant in mutants:
        path = os.path.join(tree, mutant["file"])
        with open(path, encoding="utf-8") as file:
            text = file.read()
        if text.count(mutant["old"]) != 1:
            sys.exit(f"{mutant['name']}: its text stands {text.count(mutant['old'])} times in {mutant['file']}: the guard has changed, and the mutant with it")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text.replace(mutant["old"], mutant["new"].replace("MUTANT", f'crate::mutant("{mutant["name"]}")')))
    for crate in {mutant["file"].split("/src/")[0] for mutant in mutants}:
        with open(os.path.join(tree, crate, "src/lib.rs"), "a", encoding="utf-8") as file:
            file.write(SWITCH)
    subprocess.run(["cargo", "build", "--locked", "--quiet", "--bin", "dynafold"], cwd=tree, check=True, env={**os.environ, "CARGO_TARGET_DIR": target})
    return os.path.join(target, "debug/dynafold")


def hunt(options, binary, name, kills, more, seconds):
    begin = time.monotonic()
    command = [os.path.join(options.root, "tests/hunter/run"), "--binary", binary, "--seconds", seconds, "--no-shrink", "--seed", "mutants", *more]
    if kills:
        command += ["--until", kills]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "HUNTER_MUTANT": name})
    found = [line for line in done.stdout.splitlines() if line.startswith("FIND")]
    if not kills:
        return "; ".join(found) or f"nothing with {' '.join(more)}"
    killed = any(line.split(": ", 1)[1].startswith(kills) for line in found)
    return f"killed in {time.monotonic() - begin:.0f} s by {kills}" if killed else f"ALIVE after {seconds} s: {(done.stdout.splitlines() or [''])[-1].split(',')[0]}"


if __name__ == "__main__":
    main()
