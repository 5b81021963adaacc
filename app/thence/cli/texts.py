"""Values on a command line that need no conversion: they are texts, or not given.

Typer converts values with Pydantic, whose import takes as long as that of all else that a small command needs.
"""

from __future__ import annotations

from typing import Any

NOTHING_TO_DO: Any = (bool, int, float, str)


class Unconverted:
    """Stands where a parameter keeps Typer's conversion of its values, until one of them needs it."""

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        """The value as the command takes it; as Typer's own conversion has it."""
        kind = param.type_descriptor.annotation
        if value is None:
            return () if param.multiple or param.nargs == -1 else None
        if type(value) is kind and kind in NOTHING_TO_DO:
            return value
        if kind == list[str] and isinstance(value, (list, tuple)) and all(type(one) is str for one in value):
            return list(value)
        param._runtime_param = None
        return param.get_runtime_param().coerce(value, param=param, ctx=ctx)


def spare_conversion(parameter: Any) -> None:
    """Lets texts through without Typer's conversion, which is made when it is needed. Parsers of their own are kept."""
    if parameter.type_descriptor.parameter_info.parser is None:
        parameter._runtime_param = Unconverted()


class SparingConversion:
    """A command whose own option for help is let through, too. Before Typer's class among the bases."""

    def get_help_option(self, ctx: Any) -> Any:
        """As Typer has it."""
        option = super().get_help_option(ctx)  # type: ignore[misc]
        if option is not None:
            spare_conversion(option)
        return option
