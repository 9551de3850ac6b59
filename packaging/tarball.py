"""The archive that people unpack, `install.sh` and `cargo binstall` download, and Homebrew installs."""


def name(contents):
    return f"docent-{contents.version}-{contents.platform.target}"


def make(contents, compression):
    platform = contents.platform
    folder = name(contents)
    files = [(platform.binary_name, contents.binary, 0o755)]
    files += [(page, content, 0o644) for page, content in contents.pages.items()]
    files += [(f"completions/{file}", content, 0o644) for file, content in contents.completions.items()]
    files += [(f"man/{file}", content, 0o644) for file, content in contents.manual.items()]
    entries = [(f"{folder}/{path}", content, mode) for path, content, mode in files]
    if platform.is_windows:
        return {f"{folder}.zip": compression.zip(entries)}
    return {f"{folder}.tar.gz": compression.tar_gz(entries)}
