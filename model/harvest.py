"""Fetch packages from PyPI, npm, the Rust crate registry and Debian, and record version and licence of each.

    python harvest.py --into DIR [--budget-mb 2000] [--only pypi,npm,crates,debsrc,debian]

Names come from packages/*.txt (Debian: shell patterns over source package names). Hosts are never named
here: each is asked of the client that is set up on the machine. A package is kept only when its licence is
on the allow-list of common.py. DIR gets one archive a package and packages.csv; a second run goes on
where the first stopped. For Debian the archive's copyright file decides for each file (see prepare.py), so
it is stored beside the archive.
"""

import argparse
import concurrent.futures
import csv
import fnmatch
import glob
import io
import json
import lzma
import os
import re
import subprocess
import tarfile
import threading
import urllib.parse
import urllib.request

from common import deb_data, licence_allowed, package_excluded

HERE = os.path.dirname(os.path.abspath(__file__))
FIELDS = ["source", "name", "version", "licence", "bytes", "archive", "status"]
LARGEST = 30_000_000  # bytes of one archive
LARGEST_DEBIAN_PATTERN = 1_500_000  # of one that a pattern, not a full name, asked for


def get(url, accept=None):
    """The body of a URL."""
    request = urllib.request.Request(url, headers={"User-Agent": "docent-model-harvest", "Accept": accept or "*/*"})
    with urllib.request.urlopen(request, timeout=90) as answer:
        return answer.read()


def command_output(*command):
    """The trimmed standard output of a command, empty when it fails."""
    return subprocess.run(command, capture_output=True, text=True).stdout.strip()


# ---------------------------------------------------------------------------------------------- registries


class Pypi:
    """Source archives of Python packages: they hold the docs folder, which wheels do not."""

    def __init__(self):
        from pip._internal.models.index import PyPI

        configured = command_output("pip", "config", "get", "global.index-url")
        self.base = configured.rsplit("/simple", 1)[0] if configured else PyPI.url.rstrip("/")

    def fetch(self, name, _exact):
        about = json.loads(get(f"{self.base}/pypi/{name}/json"))
        info = about["info"]
        licence = self.licence(info)
        if not licence_allowed(licence):
            return info["version"], licence, None, None
        files = [f for f in about["urls"] if f["size"] <= LARGEST]
        files = [f for f in files if f["packagetype"] == "sdist"] or [f for f in files if "none-any" in f["filename"]]
        if not files:
            return info["version"], licence, None, None
        address = urllib.parse.urljoin(f"{self.base}/pypi/{name}/json", files[0]["url"])
        return info["version"], licence, files[0]["filename"], get(address)

    @staticmethod
    def licence(info):
        """The licence expression, else what the classifiers say, else the short licence field."""
        if info.get("license_expression"):
            return info["license_expression"]
        named = [c.split(" :: ")[-1] for c in info["classifiers"] if c.startswith("License :: ")]
        named = [n for n in named if n != "OSI Approved"]
        if named:
            return " AND ".join(named)
        return (info.get("license") or "").strip().split("\n")[0]


class Npm:
    """Packages of the npm registry."""

    def __init__(self):
        self.base = command_output("npm", "config", "get", "registry").rstrip("/")

    def fetch(self, name, _exact):
        about = json.loads(get(f"{self.base}/{urllib.parse.quote(name, safe='@')}/latest"))
        licence = about.get("license") or ""
        if isinstance(licence, dict):
            licence = licence.get("type", "")
        if not licence_allowed(licence) or (about["dist"].get("unpackedSize") or 0) > 5 * LARGEST:
            return about["version"], licence, None, None
        archive = name.replace("/", "__") + "-" + about["version"] + ".tgz"
        return about["version"], licence, archive, get(about["dist"]["tarball"])


class Crates:
    """Crates, through the index that cargo has set up. The licence is in the crate itself."""

    def __init__(self):
        index = sorted(glob.glob(os.path.expanduser("~/.cargo/registry/index/*/config.json")))[0]
        with open(index) as file:
            self.download = json.load(file)["dl"]
        self.index = "https://" + os.path.basename(os.path.dirname(index)).rsplit("-", 1)[0]

    def fetch(self, name, _exact):
        folder = {1: "1", 2: "2", 3: f"3/{name[0]}"}.get(len(name), f"{name[:2]}/{name[2:4]}")
        lines = get(f"{self.index}/{folder}/{name}").decode().splitlines()
        versions = [v for v in map(json.loads, lines) if not v["yanked"]]
        stable = [v["vers"] for v in versions if "-" not in v["vers"]] or [v["vers"] for v in versions]
        version = max(stable, key=lambda v: [int(n) for n in re.findall(r"\d+", v)[:3]])
        body = get(f"{self.download}/{name}/{version}/download")
        with tarfile.open(fileobj=io.BytesIO(body), mode="r:*") as archive:
            manifest = archive.extractfile(f"{name}-{version}/Cargo.toml").read().decode()
        found = re.search(r'(?m)^license\s*=\s*"([^"]+)"', manifest)
        licence = found.group(1) if found else ""
        if not licence_allowed(licence):
            return version, licence, None, None
        return version, licence, f"{name}-{version}.crate", body


class DebianSource:
    """Debian source packages whose copyright file is machine-readable and has some allowed part.

    Which files of the archive are allowed is decided one by one when it is read (prepare.py).
    """

    index = "source/Sources.xz"

    def __init__(self):
        self.base = self.mirror()
        text = lzma.decompress(get(f"{self.base}/dists/{self.suite}/main/{self.index}")).decode()
        self.known = {}
        for stanza in text.split("\n\n"):
            found = re.match(r"Package: (\S+)", stanza)
            if found:
                self.known[found.group(1)] = stanza

    def mirror(self):
        """The first Debian mirror and suite of the machine's apt sources."""
        for path in sorted(glob.glob("/etc/apt/sources.list.d/*.sources")):
            with open(path) as file:
                text = file.read()
            uri, suite = re.search(r"(?m)^URIs: (\S+/debian)/?$", text), re.search(r"(?m)^Suites: (\S+)", text)
            if uri and suite:
                self.suite = suite.group(1)
                return uri.group(1)
        raise SystemExit("no Debian mirror in the apt sources")

    def names(self, patterns):
        """Source packages that match; (name, whether it was named in full)."""
        found = {}
        for pattern in patterns:
            if "*" not in pattern:
                found[pattern] = True
                continue
            for name in fnmatch.filter(self.known, pattern):
                found.setdefault(name, False)
        return [(name, exact) for name, exact in found.items() if name in self.known]

    def fetch(self, name, exact):
        stanza = self.known[name]
        version = re.search(r"(?m)^Version: (\S+)", stanza).group(1)
        folder = re.search(r"(?m)^Directory: (\S+)", stanza).group(1)
        listed = re.search(r"(?m)^Files:\n((?: .*\n)+)", stanza).group(1)
        files = {parts[2]: int(parts[1]) for parts in map(str.split, listed.splitlines())}
        control = next((f for f in files if ".debian.tar." in f), None)
        original = next((f for f in files if re.search(r"\.orig\.tar\.\w+$", f)), None)
        if not control or not original or files[original] > (LARGEST if exact else LARGEST_DEBIAN_PATTERN):
            return version, "", None, None
        rules = self.copyright(get(f"{self.base}/{folder}/{control}"))
        licences = sorted({licence for _, licence in rules})
        summary = "; ".join(licences)
        if not any(licence_allowed(licence.replace(" and ", " AND ")) for licence in licences):
            return version, summary, None, None
        kept = f"{name}_{version.replace(':', '%')}.orig.tar"
        with open(os.path.join(self.folder, kept + ".rules.json"), "w") as file:
            json.dump(rules, file)
        return version, summary, kept, get(f"{self.base}/{folder}/{original}")

    @staticmethod
    def copyright(control):
        """The rules of the copyright file of a source package."""
        with tarfile.open(fileobj=io.BytesIO(control), mode="r:*") as archive:
            return copyright_rules(archive.extractfile("debian/copyright").read().decode("utf8", "replace"))


class DebianBinary(DebianSource):
    """Debian packages of languages that install their sources, and of documentation.

    Installed paths are not those of the copyright file, so here every licence it names must be allowed.
    """

    index = "binary-amd64/Packages.xz"

    def fetch(self, name, exact):
        stanza = self.known[name]
        version = re.search(r"(?m)^Version: (\S+)", stanza).group(1)
        if int(re.search(r"(?m)^Size: (\d+)", stanza).group(1)) > (LARGEST if exact else LARGEST_DEBIAN_PATTERN):
            return version, "", None, None
        body = get(f"{self.base}/" + re.search(r"(?m)^Filename: (\S+)", stanza).group(1))
        with tarfile.open(fileobj=io.BytesIO(deb_data(body)), mode="r:*") as archive:
            text = archive.extractfile(f"./usr/share/doc/{name}/copyright").read().decode("utf8", "replace")
        licences = sorted({licence for _, licence in copyright_rules(text)})
        if not licences or not all(map(licence_allowed, licences)):
            return version, "; ".join(licences), None, None
        return version, "; ".join(licences), f"{name}_{version.replace(':', '%')}.deb", body


def copyright_rules(text):
    """(patterns, licence) of every Files stanza of a Debian copyright file but those of debian/ itself."""
    rules = []
    for stanza in re.split(r"\n\s*\n", text):
        files = re.search(r"(?m)^Files:((?:.*\n?)(?:[ \t]+.*\n?)*)", stanza)
        licence = re.search(r"(?m)^License:[ \t]*(.+)", stanza)
        if files and licence and not files.group(1).strip().startswith("debian/"):
            rules.append((files.group(1).replace(",", " ").split(), licence.group(1).strip()))
    return rules


# ------------------------------------------------------------------------------------------------ the run


REGISTRIES = {"pypi": Pypi, "npm": Npm, "crates": Crates, "debsrc": DebianSource, "debian": DebianBinary}


def listed(source):
    """The names of packages/SOURCE.txt, in order, without comments and repeats."""
    with open(os.path.join(HERE, "packages", source + ".txt")) as file:
        names = re.sub(r"#.*", "", file.read()).split()
    return list(dict.fromkeys(names))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--into", required=True)
    parser.add_argument("--budget-mb", type=int, default=2000, help="for each registry")
    parser.add_argument("--only", default=",".join(REGISTRIES))
    parser.add_argument("--workers", type=int, default=4)
    options = parser.parse_args()
    for source in options.only.split(","):
        harvest(source, options)


def harvest(source, options):
    """Fetch one registry's list until its budget is used."""
    folder = os.path.join(options.into, source)
    os.makedirs(folder, exist_ok=True)
    record = os.path.join(options.into, f"packages-{source}.csv")
    done = {}
    if os.path.exists(record):
        with open(record) as file:
            done = {row["name"]: row for row in csv.DictReader(file)}
    registry = REGISTRIES[source]()
    registry.folder = folder
    wanted = registry.names(listed(source)) if source.startswith("deb") else [(name, True) for name in listed(source)]
    lock = threading.Lock()
    used = [sum(int(row["bytes"] or 0) for row in done.values())]
    with open(record, "a", newline="") as file:
        writer = csv.DictWriter(file, FIELDS)
        if not done:
            writer.writeheader()

        def one(name, exact):
            if name in done or used[0] > options.budget_mb * 1_000_000:
                return
            row = fetch_row(registry, source, folder, name, exact)
            with lock:
                used[0] += int(row["bytes"] or 0)
                writer.writerow(row)
                file.flush()

        with concurrent.futures.ThreadPoolExecutor(options.workers) as pool:
            list(pool.map(lambda pair: one(*pair), wanted))
    print(source, len(wanted), "listed,", used[0] // 1_000_000, "MB", flush=True)


def fetch_row(registry, source, folder, name, exact):
    """Fetch one package; the row that records it."""
    row = dict(source=source, name=name, version="", licence="", bytes=0, archive="", status="")
    if package_excluded(name):
        return dict(row, status="held out")
    try:
        version, licence, archive, body = registry.fetch(name, exact)
    except Exception as error:  # a missing or broken package must not end the run
        return dict(row, status=f"failed: {type(error).__name__}")
    row.update(version=version, licence=licence[:120])
    if body is None:
        return dict(row, status="licence not allowed, or nothing suitable")
    with open(os.path.join(folder, archive), "wb") as file:
        file.write(body)
    return dict(row, bytes=len(body), archive=archive, status="used")


if __name__ == "__main__":
    main()
