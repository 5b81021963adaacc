"""`thence check` and `thence fmt`."""

from __future__ import annotations

from thence.cli.output import REFUTED, Output
from thence.cli.session import write_text
from thence.dsl.load import Loaded, SourceError, load, locate
from thence.dsl.text.diagnostics import Diagnostic, SourceText


def check(files: list[str]) -> Output:
    """Parses, resolves and types each file."""
    loaded = [load(file) for file in files]
    diagnostics = tuple((diagnostic, file) for file in loaded for diagnostic in file.diagnostics)
    good = [str(file.path) for file in loaded if file.specification is not None]
    text = "\n".join(f"{path}: no errors" for path in good)
    return Output(diagnostics=diagnostics, text=text, fields={"files": [str(file.path) for file in loaded]})


def fmt(files: list[str], check_only: bool) -> Output:
    """Formats each file in place. A file that does not parse is left alone, with its diagnostics."""
    from thence.dsl.text.parse import decode
    from thence.dsl.write.format import format_source

    diagnostics: list[tuple[Diagnostic, Loaded]] = []
    changed = []
    for file in files:
        path = locate(file)
        try:
            content = path.read_bytes()
        except OSError as error:
            raise SourceError(f"{path} cannot be read: {error.strerror}") from error
        text, wrong = decode(content, str(path))
        formatted = None
        if text is not None:
            formatted, wrong = format_source(text, str(path))
        diagnostics += [(fault, Loaded(path, SourceText(str(path), text or ""), None, wrong)) for fault in wrong]
        if formatted is not None and formatted != text:
            changed.append(str(path))
            if not check_only:
                write_text(str(path), formatted)
    said = "would change" if check_only else "formatted"
    return Output(
        diagnostics=tuple(diagnostics),
        text="\n".join(f"{path}: {said}" for path in changed),
        fields={"changed": changed},
        exit=REFUTED if check_only and changed and not diagnostics else None,
    )
