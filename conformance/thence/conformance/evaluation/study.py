"""Studies: the same systems under every combination of some settings, repeated with several seeds.

A study is a TOML file:

    title = "Sender-side and receiver-side systems over the bandwidth"
    systems = ["mf", "cykas", "rst"]
    repeat = 3

    [settings]                        # as the options of `thence evaluate`
    latency = "constant 5ms"

    [sweep]                           # every combination of these
    processes = [25, 50]
    bandwidth = ["20k", "100k"]

    [figure]                          # how a page draws it; see `Figure`
    x = "processes"
    y = "execution"
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from hashlib import blake2b
from importlib.resources import files
from itertools import product
from pathlib import Path
from typing import Any, Final, TypeAlias

from thence.conformance.evaluation.measures import Figures
from thence.conformance.evaluation.settings import SettingError, Settings
from thence.conformance.evaluation.workload import Everybody
from thence.conformance.implementations import SHIPPED, broadcasts

MOST_POINTS: Final = 100_000
MOST_REPETITIONS: Final = 15

Value: TypeAlias = str | int | float | bool

MEASURES: Final = tuple(field.name for field in fields(Figures))

SHIPPED_STUDIES: Final = files("thence.conformance.evaluation") / "studies"


class StudyError(SettingError):
    """A study is not of the form that it has; the message names the file."""


@dataclass(frozen=True, slots=True)
class Figure:
    """How a study is drawn.

    Attributes:
        x: the setting on the horizontal axis.
        y: measures, a line of each.
        ratio_of: if given, the measure of its first system divided by that of its second is drawn.
        each: settings of which every value has a panel of its own.
    """

    x: str
    y: tuple[str, ...]
    ratio_of: tuple[str, str] | None = None
    each: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Point:
    """One run of a study.

    Attributes:
        number: from 0, in the study's order.
        varied: the values of the settings that vary.
        seed: of the workload and the network; the same for all systems of one combination.
    """

    number: int
    system: str
    varied: Mapping[str, Value]
    settings: Settings
    seed: int


@dataclass(frozen=True, slots=True)
class Study:
    """A study.

    Attributes:
        name: of its file, without `.toml`.
        text: of the file.
        fixed, sweep: settings, as texts and numbers.
        repeat: repetitions; their seeds are the first ones from `seed`.
    """

    name: str
    text: str
    title: str
    systems: tuple[str, ...]
    fixed: Mapping[str, Value]
    sweep: Mapping[str, tuple[Value, ...]]
    repeat: int
    seed: int
    figure: Figure | None

    def combinations(self) -> list[dict[str, Value]]:
        """The values of the varied settings, in the order of the file, the last setting first."""
        return [dict(zip(self.sweep, values, strict=True)) for values in product(*self.sweep.values())]

    def points(self) -> tuple[Point, ...]:
        """All runs. A system that only broadcasts has none where a workload has single destinations."""
        found: list[Point] = []
        for varied in self.combinations():
            settings = Settings.of({**self.fixed, **varied})
            for system in self.systems:
                if broadcasts(system) and (settings.workload.target != Everybody() or settings.workload.answers):
                    continue
                for seed in range(self.seed, self.seed + self.repeat):
                    found.append(Point(len(found), system, varied, settings, seed))
        return tuple(found)

    def to_json(self) -> dict[str, Any]:
        """What fixes the runs, as JSON values."""
        return {
            "name": self.name,
            "systems": list(self.systems),
            "settings": dict(self.fixed),
            "sweep": {name: list(values) for name, values in self.sweep.items()},
            "repeat": self.repeat,
            "seed": self.seed,
        }

    def identity(self) -> str:
        """A hash of what fixes the runs."""
        text = json.dumps(self.to_json(), sort_keys=True)
        return blake2b(text.encode(), digest_size=16).hexdigest()


def shipped_studies() -> tuple[str, ...]:
    """The names of the shipped studies."""
    return tuple(
        sorted(one.name.removesuffix(".toml") for one in SHIPPED_STUDIES.iterdir() if one.name.endswith(".toml"))
    )


def load_study(name: str) -> Study:
    """A shipped study by its name, or one in a file.

    Raises:
        StudyError: there is none, or it is not of the form that a study has.
    """
    path = Path(name)
    if path.suffix != ".toml" and name in shipped_studies():
        return read_study(name, (SHIPPED_STUDIES / f"{name}.toml").read_text(encoding="utf-8"))
    if path.suffix != ".toml":
        raise StudyError(f"there is no study {name}; shipped are {', '.join(shipped_studies())}; a file ends in .toml")
    try:
        return read_study(path.stem, path.read_text(encoding="utf-8"))
    except OSError as error:
        raise StudyError(f"{name} cannot be read: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise StudyError(f"{name} is not text in UTF-8") from error


def read_study(name: str, text: str) -> Study:
    """The study that a text describes. Raises: StudyError."""
    try:
        content = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise StudyError(f"{name}: {error}") from error
    reader = _Reader(name, content)
    sweep = reader.sweep()
    study = Study(
        name,
        text,
        reader.text("title"),
        reader.systems(),
        reader.fixed(sweep),
        sweep,
        reader.whole("repeat", 3, 1, MOST_REPETITIONS),
        reader.whole("seed", 0, 0, 1 << 31),
        reader.figure(sweep),
    )
    reader.check_nothing_else()
    runs = len(study.systems) * study.repeat
    for values in sweep.values():
        runs *= len(values)
    if runs > MOST_POINTS:
        raise StudyError(f"{name}: these are {runs:,} runs; a study has at most {MOST_POINTS:,}")
    try:
        study.points()
    except SettingError as error:
        raise StudyError(f"{name}: {error}") from error
    return study


@dataclass(frozen=True, slots=True)
class _Reader:
    name: str
    content: dict[str, Any]

    def text(self, key: str) -> str:
        value = self.content.get(key)
        if not isinstance(value, str) or not value.strip():
            raise StudyError(f"{self.name}: {key} is a text")
        return value

    def whole(self, key: str, default: int, least: int, most: int) -> int:
        value = self.content.get(key, default)
        if type(value) is not int or not least <= value <= most:
            raise StudyError(f"{self.name}: {key} is a whole number from {least:,} to {most:,}, not {value!r}")
        return value

    def systems(self) -> tuple[str, ...]:
        value = self._texts("systems", self.content.get("systems"))
        for system in value:
            if system not in SHIPPED:
                raise StudyError(
                    f"{self.name}: no implementation of {system} is shipped; there are {', '.join(SHIPPED)}"
                )
        return value

    def sweep(self) -> dict[str, tuple[Value, ...]]:
        table = self._table("sweep")
        for setting, values in table.items():
            if not isinstance(values, list) or not values or not all(isinstance(one, Value) for one in values):
                raise StudyError(f"{self.name}: sweep.{setting} is a list of values, not {values!r}")
            if len({repr(one) for one in values}) != len(values):
                raise StudyError(f"{self.name}: sweep.{setting} has a value twice")
        return {setting: tuple(values) for setting, values in table.items()}

    def fixed(self, sweep: Mapping[str, object]) -> dict[str, Value]:
        table = self._table("settings")
        for setting, value in table.items():
            if setting in sweep:
                raise StudyError(f"{self.name}: {setting} is fixed in settings, and varied in sweep")
            if not isinstance(value, Value):
                raise StudyError(f"{self.name}: settings.{setting} is one value, not {value!r}")
        return table

    def figure(self, sweep: Mapping[str, object]) -> Figure | None:
        if "figure" not in self.content:
            return None
        table = self._table("figure")
        x, each = table.get("x"), self._texts("figure.each", table.get("each", []), none=True)
        for setting in (x, *each):
            if setting not in sweep:
                raise StudyError(f"{self.name}: a figure goes over settings of the sweep, not {setting!r}")
        measures = self._texts("figure.y", [table["y"]] if isinstance(table.get("y"), str) else table.get("y"))
        for measure in measures:
            if measure not in MEASURES:
                raise StudyError(f"{self.name}: {measure!r} is no measure; there are {', '.join(MEASURES)}")
        ratio = None
        if "ratio_of" in table:
            ratio = self._texts("figure.ratio_of", table["ratio_of"])
            if len(ratio) != 2 or not {*ratio} <= {*self.systems()}:
                raise StudyError(f"{self.name}: figure.ratio_of names two systems of the study")
        return Figure(str(x), measures, None if ratio is None else (ratio[0], ratio[1]), each)

    def check_nothing_else(self) -> None:
        known = {"title", "systems", "repeat", "seed", "settings", "sweep", "figure"}
        for key in self.content:
            if key not in known:
                raise StudyError(f"{self.name}: a study has no {key!r}; it has {', '.join(sorted(known))}")

    def _table(self, key: str) -> dict[str, Any]:
        value = self.content.get(key, {})
        if not isinstance(value, dict):
            raise StudyError(f"{self.name}: {key} is a table: [{key}]")
        return value

    def _texts(self, key: str, value: object, *, none: bool = False) -> tuple[str, ...]:
        if not isinstance(value, list) or not (value or none) or not all(isinstance(one, str) for one in value):
            raise StudyError(f"{self.name}: {key} is a list of names, not {value!r}")
        if len({*value}) != len(value):
            raise StudyError(f"{self.name}: {key} has a name twice")
        return tuple(value)
