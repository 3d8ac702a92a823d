"""The command line: worlds at random for so many seconds, or kept cases again."""
import argparse
import collections
import json
import multiprocessing
import os
import queue
import shutil
import signal
import sys
import tempfile
import time
import traceback

from . import bases, engine, hunt, shrink


def main():
    options = arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))    # what was made in the databases goes away with us
    if options.replay:
        sys.exit(replay(options))
    sys.exit(hunt_worlds(options))


def arguments():
    parser = argparse.ArgumentParser(prog="tests/hunter/run", description=__doc__)
    parser.add_argument("--binary", required=True, help="the program to hunt on")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", default="dynafold")
    parser.add_argument("--databases", default="sqlite,postgres,mariadb,mysql", help="those whose servers are known")
    parser.add_argument("--engines", default="local", help="local, dynamodb-local")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--finds", help="a folder for shrunk finds")
    parser.add_argument("--until", help="end at the first find whose category begins so (a mutant is killed)")
    parser.add_argument("--only", help="go the shortest way to finds whose category begins so: keys_differ needs no load")
    parser.add_argument("--known", action="append", default=[], help="finds whose category begins so are told, and do not fail the run")
    parser.add_argument("--no-shrink", action="store_true")
    parser.add_argument("--replay", help="a folder of kept cases, or one case: run these alone")
    options = parser.parse_args()
    options.binary = os.path.abspath(options.binary)
    return options


def not_hunted(name, variable):
    """Says what is left out, and records it for the last lines of tests/run."""
    why = os.environ.get(f"{variable}_MISSING") or f"{variable} is not set"
    print(f"{name}: NOT HUNTED, because {why}")
    if os.environ.get("DYNAFOLD_TEST_MISSING"):
        with open(os.environ["DYNAFOLD_TEST_MISSING"], "a", encoding="utf-8") as file:
            file.write(f"{name}\t{why}\tthe hunter\n")


def hunt_worlds(options):
    """Worlds on all databases and engines that there are, side by side."""
    databases = [name for name in options.databases.split(",") if bases.available(name)]
    for name in options.databases.split(","):
        if name not in databases:
            not_hunted(name, bases.VARIABLES[name])
    pairs = []
    for name in options.engines.split(","):
        if name == "dynamodb-local" and not os.environ.get("DYNAFOLD_TEST_DYNAMODB"):
            not_hunted(name, "DYNAFOLD_TEST_DYNAMODB")
        else:
            pairs += [(database, name) for database in databases]
    print(f"seed {options.seed}; {', '.join(' on '.join(pair) for pair in pairs)}", flush=True)
    begin, results = time.monotonic(), multiprocessing.Queue()
    workers = [multiprocessing.Process(target=work, args=(options, pairs, number, begin, results), daemon=True) for number in range(options.jobs)]
    for worker in workers:
        worker.start()
    stats, finds, first = collections.Counter(), collections.Counter(), {}
    ended = 0
    while ended < len(workers):
        try:
            kind, *rest = results.get(timeout=1)
        except queue.Empty:
            if not any(worker.is_alive() for worker in workers):
                print("a worker of the hunter died")
                return 2
            continue
        if kind == "stats":
            stats.update(rest[0])
            ended += 1
        elif kind == "find":
            category, what, seed, database, seconds, case = rest
            finds[category] += 1
            if category not in first:
                first[category] = seconds
                print(f"\nFIND after {seconds:.0f} s: {category}\n  {database}, world {seed}\n  {what}", flush=True)
                if case:
                    print("  " + shrink.keep(case, category, options.finds) if options.finds else shrink.shown(case), flush=True)
        elif kind == "broken":
            finds["the hunter itself"] += 1
            print(f"\nthe hunter itself failed in world {rest[0]}:\n{rest[1]}", flush=True)
    report(stats, finds, first)
    worlds = stats["worlds"]
    print(f"{worlds - min(worlds, sum(finds.values()))} worlds passed, {sum(finds.values())} finds in {len(finds)} categories, "
          f"{time.monotonic() - begin:.0f} s, seed {options.seed}")
    known = [name for name in finds if name.startswith(tuple(options.known))]
    if known:
        print(f"known, and not mended: {', '.join(known)}")
    return 1 if len(finds) > len(known) else 0


def work(options, pairs, number, begin, results):
    folder = tempfile.mkdtemp(prefix="hunter-")
    hunts, known, stats = {}, set(), collections.Counter()
    try:
        for count in range(number, sys.maxsize, options.jobs):
            if time.monotonic() - begin > options.seconds:
                break
            database, engine_name = pairs[count % len(pairs)]
            seed = f"{options.seed}/{count}"
            try:
                pair = hunts.setdefault((database, engine_name), None) or make_hunt(options, folder, database, engine_name, number)
                hunts[database, engine_name] = pair
                world = hunt.make_world(seed, database)
                original = json.loads(json.dumps(world))
                for find in dict((find.category, find) for find in pair.run(world, options.only)).values():
                    case, new = None, find.category not in known
                    seconds = time.monotonic() - begin
                    if new and not options.no_shrink:
                        case = shrink.shrink(pair, original, find.category)
                    known.add(find.category)
                    results.put(("find", find.category, find.what, seed, f"{database}, {engine_name}", seconds, case))
                    if options.until and find.category.startswith(options.until):
                        options.seconds = 0
            except Exception:
                results.put(("broken", seed, traceback.format_exc()))
    finally:
        for pair in hunts.values():
            if pair:
                stats.update(pair.stats)
                pair.close()
        results.put(("stats", stats))
        shutil.rmtree(folder, ignore_errors=True)


def make_hunt(options, folder, database, engine_name, number):
    own = os.path.join(folder, f"{database}-{engine_name}")
    os.makedirs(own)
    return hunt.Hunt(options.binary, own, database, engine_name, f"{number}_{engine_name.replace('-', '_')}")


def replay(options):
    """Kept cases: each is a world that once had a find, which must be there no more."""
    paths = [options.replay]
    if os.path.isdir(options.replay):
        paths = sorted(os.path.join(options.replay, name) for name in os.listdir(options.replay) if name.endswith(".json"))
    failed = passed = 0
    folder = tempfile.mkdtemp(prefix="hunter-")
    for number, path in enumerate(paths):
        with open(path, encoding="utf-8") as file:
            case = json.load(file)
        database = case["world"]["database"]
        if not bases.available(database):
            print(f"{os.path.basename(path)}: NOT RUN, because {bases.VARIABLES[database]} is not set")
            continue
        pair = make_hunt(options, folder, database, "local", number) if not os.path.exists(os.path.join(folder, f"{database}-local")) else pair_again(options, folder, database, number)
        finds = pair.run(case["world"])
        pair.close()
        failed, passed = failed + bool(finds), passed + (not finds)
        for find in finds:
            print(f"{os.path.basename(path)}: {find.category}: {find.what}")
    shutil.rmtree(folder, ignore_errors=True)
    print(f"kept cases: {passed} passed, {failed} failed")
    return 1 if failed else 0


def pair_again(options, folder, database, number):
    return hunt.Hunt(options.binary, os.path.join(folder, f"{database}-local"), database, "local", f"{number}_again")


def report(stats, finds, first):
    print("\nwhat was claimed, and how often it was not trivial:")
    for name in sorted(stats):
        print(f"  {stats[name]:7}  {name}")
    if finds:
        print("\nfinds, by category, with the seconds to the first:")
        for name, count in finds.most_common():
            print(f"  {count:7}  {name}  ({first.get(name, 0):.0f} s)")


if __name__ == "__main__":
    main()
