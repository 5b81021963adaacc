"""The scripts that make bash, zsh and fish complete `thence`, and where each shell looks for one.

A script asks `thence` itself, with Typer's variables: the words so far go in, a line per value comes out, for zsh and
fish with its explanation after a tab.
"""

from __future__ import annotations

import os
from pathlib import Path

from thence.cli.output import BadInput

_BASH = """\
_thence_completion() {
    local IFS=$'\\n'
    COMPREPLY=( $( env COMP_WORDS="${COMP_WORDS[*]}" COMP_CWORD=$COMP_CWORD \\
                   _THENCE_COMPLETE=complete_bash "$1" 2>/dev/null ) )
    [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == */ ]] && compopt -o nospace
    return 0
}
complete -o default -F _thence_completion thence
"""

_ZSH = """\
#compdef thence
(( $+functions[compdef] )) || { autoload -Uz compinit && compinit }
_thence() {
    local line value
    local -a offered values folders
    offered=("${(@f)$(env _TYPER_COMPLETE_ARGS="${words[1,$CURRENT]}" _TYPER_COMPLETE_FISH_ACTION=get-args \\
        _THENCE_COMPLETE=complete_fish "${words[1]}" 2>/dev/null)}")
    for line in $offered; do
        value="${line%%$'\\t'*}"
        if [[ "$value" == */ ]]; then
            folders+=("$value")
        elif [[ "$line" == *$'\\t'* ]]; then
            values+=("${value//:/\\\\:}:${line#*$'\\t'}")
        elif [[ -n "$value" ]]; then
            values+=("${value//:/\\\\:}")
        fi
    done
    if (( $#values + $#folders == 0 )); then
        _files
        return
    fi
    (( $#values )) && _describe -V 'value' values
    (( $#folders )) && compadd -S '' -- $folders
}
compdef _thence thence
"""

_FISH = """\
complete --command thence --no-files \\
    --condition "env _THENCE_COMPLETE=complete_fish _TYPER_COMPLETE_FISH_ACTION=is-args \\
_TYPER_COMPLETE_ARGS=(commandline -cp) thence" \\
    --arguments "(env _THENCE_COMPLETE=complete_fish _TYPER_COMPLETE_FISH_ACTION=get-args \\
_TYPER_COMPLETE_ARGS=(commandline -cp) thence)"
"""

SCRIPTS = {"bash": _BASH, "zsh": _ZSH, "fish": _FISH}
"""Each shell's script."""


def script(shell: str) -> str:
    """The script of a shell. Raises BadInput for a shell that has none."""
    name = Path(shell).name
    if name not in SCRIPTS:
        raise BadInput(f"there is no completion for {shell}; there is one for {', '.join(SCRIPTS)}")
    return SCRIPTS[name]


def install(shell: str) -> str:
    """Writes the script where the shell finds it; says what was done and what remains. Raises BadInput."""
    name, text, home = Path(shell).name, script(shell), Path.home()
    if name == "fish":
        settings = Path(os.environ.get("XDG_CONFIG_HOME") or home / ".config")
        target = settings / "fish" / "completions" / "thence.fish"
        _write(target, text)
        return f"completion for fish is in {target}; new shells have it"
    data = Path(os.environ.get("XDG_DATA_HOME") or home / ".local" / "share")
    target = data / "thence" / f"completion.{name}"
    _write(target, text)
    startup = Path(os.environ.get("ZDOTDIR") or home) / ".zshrc" if name == "zsh" else home / ".bashrc"
    line = f"source '{target}'"
    try:
        before = startup.read_text(encoding="utf-8") if startup.exists() else ""
        if line not in before.splitlines():
            with startup.open("a", encoding="utf-8") as file:
                file.write(f"{'' if before.endswith(chr(10)) or not before else chr(10)}{line}\n")
    except OSError as error:
        raise BadInput(f"{startup} cannot be written: {error.strerror}") from error
    return f"completion for {name} is in {target}, and {startup} reads it; new shells have it"


def _write(target: Path, text: str) -> None:
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
    except OSError as error:
        raise BadInput(f"{target} cannot be written: {error.strerror}") from error
