"""``python -m sev.cli`` is the command ``sev``."""

from sev.cli import main

if __name__ == "__main__":
    main(prog_name="sev")
