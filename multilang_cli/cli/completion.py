"""``mlcheck completion``."""

from contextlib import suppress
from typing import Annotated

import typer

from multilang_cli.catalogue.locate import data_path
from multilang_cli.terminal.exits import CommandError
from multilang_cli.terminal.nearest import did_you_mean
from multilang_cli.terminal.output import stdout_may_close, write

SHELLS = ("bash", "fish", "zsh")
ASKED = "candidates"


def completion(
    shell: Annotated[str, typer.Argument(metavar="bash|fish|zsh", hidden=True)],
    words: Annotated[list[str] | None, typer.Argument(metavar="WORD", hidden=True)] = None,
) -> int:
    """Print a script that completes mlcheck's command line in bash, fish or zsh.

    \b
    bash, in ~/.bashrc:                   eval "$(mlcheck completion bash)"
    fish, in ~/.config/fish/config.fish:  mlcheck completion fish | source
    zsh, in ~/.zshrc, after compinit:     eval "$(mlcheck completion zsh)"

    The scripts ask `mlcheck completion candidates -- WORDS` what can take the place of the last word.
    """  # noqa: D301 (the escape keeps lines apart)
    if shell == ASKED:
        from multilang_cli.cli.candidates import print_candidates  # noqa: PLC0415 (not needed for a script)

        # Someone is typing: no candidate is better than a message in the prompt.
        with suppress(Exception), stdout_may_close():
            print_candidates(words or [])
        return 0
    if shell not in SHELLS or words:
        name = words[0] if words else shell
        raise CommandError(f"completion: there is no script for {name[:60]!r}{did_you_mean(name, SHELLS)}")
    write(data_path("templates", "completion", f"mlcheck.{shell}").read_text(encoding="utf-8"))
    return 0
