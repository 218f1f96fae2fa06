"""`python -m bunraku` is `bunraku`."""

from bunraku.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
