"""`python -m bunraku` is `bunraku`."""

from bunraku.cli import program

if __name__ == "__main__":
    raise SystemExit(program())
