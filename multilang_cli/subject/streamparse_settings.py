"""The config.json of a streamparse project: where its topologies are, and the conf of its first environment."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from multilang_cli.catalogue.texts import TextError, file_text, json_value

if TYPE_CHECKING:
    from pathlib import Path


class _Environment(msgspec.Struct, frozen=True):
    options: dict[str, Any] | None = None


class StreamparseSettings(msgspec.Struct, frozen=True):
    """Members of a config.json that are read. `topology_specs`: the folder of the topologies."""

    topology_specs: str = "topologies"
    envs: dict[str, _Environment] = {}

    @property
    def environment(self) -> str:
        """The first environment; "" if there is none."""
        return next(iter(self.envs), "")

    @property
    def options(self) -> dict[str, Any]:
        """The conf of that environment, over which a topology's own stands."""
        return dict(self.envs[self.environment].options or {}) if self.envs else {}


def settings_of(project: Path) -> StreamparseSettings:
    """The settings of a project; the usual, where there is no config.json. Raises TextError."""
    path = project / "config.json"
    try:
        return msgspec.convert(json_value(file_text(path), str(path)), StreamparseSettings)
    except FileNotFoundError:
        return StreamparseSettings()
    except TextError:
        raise
    except (OSError, ValueError) as error:
        raise TextError(str(path), None, f"it can't be read: {error}") from None
