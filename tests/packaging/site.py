"""Build the documentation site: `make docs`.

A broken link, a page that is not in the menu, and a page whose layout differs from the one on a
forge are errors.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

from markdown_it import MarkdownIt

from tests.packaging import pages

CONFIG = Path(__file__).with_name("mkdocs.yml")
_PARTS = re.compile(r"<(ol|ul|li|table|tr|pre|img|blockquote|h[1-6])\b")
_FORGE = MarkdownIt("gfm-like", {"linkify": False})


def build(source: Path, site: Path) -> bool:
    """Build `site` from the pages in `source`, and print what is wrong; replaces the folder.

    Writes the configuration beside `source`.
    """
    config = source.parent / "mkdocs.yml"
    shutil.copyfile(CONFIG, config)
    # Not with --quiet: it drops the warnings before --strict can count them.
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--clean"]
    command += ["--config-file", str(config), "--site-dir", str(site)]
    # The notice is about the end of the theme's maintenance, in May 2027; mkdocs.yml says so too.
    quiet = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, check=False, env=quiet, capture_output=True, text=True)
    if done.returncode:
        print(done.stderr, end="", file=sys.stderr)
        return False
    problems = [
        f"{page.relative_to(source)}: {problem}"
        for page in sorted(source.rglob("*.md"))
        for problem in differences(page.read_text(), built(page, source, site).read_text())
    ]
    print("\n".join(problems), end="\n" if problems else "", file=sys.stderr)
    return not problems


def built(page: Path, source: Path, site: Path) -> Path:
    """Return the file that mkdocs writes for a page."""
    name = page.relative_to(source).with_suffix(".html")
    return site / (name.with_name("index.html") if page.name == "README.md" else name)


def differences(markdown: str, page: str) -> list[str]:
    """Compare lists, tables, code blocks, pictures and headings of a page with those on a forge.

    mkdocs reads another Markdown: it needs a blank line before a list, and four spaces before
    what belongs to a list item.
    """
    article = page.partition("<article")[2].partition("</article>")[0]
    forge = Counter(_PARTS.findall(_FORGE.render(markdown)))
    site = Counter(_PARTS.findall(article))
    return [
        f"{forge[part]} <{part}> on a forge, {site[part]} on the site. Put a blank line before "
        "and after a list, and indent the paragraphs of its items by four spaces."
        for part in sorted(forge | site)
        if forge[part] != site[part]
    ]


def main() -> int:
    """Build the site, and print how to open it; return the exit code."""
    parser = argparse.ArgumentParser(prog="make docs", description=__doc__)
    parser.add_argument("--site", type=Path, default=pages.CHECKOUT / "build" / "docs")
    site = parser.parse_args().site.resolve()
    with tempfile.TemporaryDirectory(prefix="cockpit-docs-") as folder:
        source = Path(folder, "docs")
        pages.write(source)
        if not build(source, site):
            print("The site has errors. Correct the pages above, and run again.", file=sys.stderr)
            return 1
    where = os.path.relpath(site)
    print(f"Built the site in {where}. Open {where}/index.html, or with search:")
    print(f"python3 -m http.server --bind 127.0.0.1 --directory {where}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
