"""`whence check` and `whence fmt`."""

from __future__ import annotations

from whence.conformance.cli.session import Output, write_text
from whence.dsl.diagnostics import SourceText
from whence.dsl.load import Loaded, SourceError, load, locate


def check(files: list[str]) -> Output:
    """Parses, resolves and types each file."""
    loaded = [load(file) for file in files]
    diagnostics = tuple((diagnostic, file) for file in loaded for diagnostic in file.diagnostics)
    good = [str(file.path) for file in loaded if file.specification is not None]
    text = "\n".join(f"{path}: no errors" for path in good)
    return Output(diagnostics=diagnostics, text=text, fields={"files": [str(file.path) for file in loaded]})


def fmt(files: list[str], check_only: bool) -> Output:
    """Formats each file in place. A file that does not parse is left alone, with its diagnostics."""
    from whence.dsl.format import format_source
    from whence.dsl.parse import decode, parse

    diagnostics = []
    changed = []
    for file in files:
        path = locate(file)
        try:
            content = path.read_bytes()
        except OSError as error:
            raise SourceError(f"{path} cannot be read: {error.strerror}") from error
        text, unreadable = decode(content, str(path))
        tree, wrong = (None, unreadable) if unreadable else parse(text, str(path))
        if tree is None:
            loaded = Loaded(path, SourceText(str(path), text), None, wrong)
            diagnostics += [(diagnostic, loaded) for diagnostic in wrong]
            continue
        formatted = format_source(text, str(path))
        if formatted != text:
            changed.append(str(path))
            if not check_only:
                write_text(str(path), formatted)
    said = "would change" if check_only else "formatted"
    return Output(
        diagnostics=tuple(diagnostics),
        text="\n".join(f"{path}: {said}" for path in changed),
        fields={"changed": changed},
        exit=1 if check_only and changed and not diagnostics else None,
    )
