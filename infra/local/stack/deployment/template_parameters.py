"""Parameters of template.yaml: their constraints, and the function variables that hold them."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import Any, Final

from stack.deployment import templates
from stack.errors import UsageError

_FUNCTION: Final = "AWS::Serverless::Function"
_SUBSTITUTED: Final = re.compile(r"\$\{([A-Za-z0-9]+)\}")


@dataclass(frozen=True)
class Parameter:
    """A parameter of the template."""

    name: str
    default: str
    meaning: str
    declared: Mapping[str, Any]
    """Its declaration in the template, with the constraints."""
    variables: Mapping[str, tuple[str, ...]]
    """Function's logical id → environment variables that hold exactly the parameter's value."""
    changes_resources: bool
    """Whether anything but such a variable depends on it."""

    @property
    def range(self) -> str:
        """Values that CloudFormation accepts; empty if it accepts each."""
        declared = self.declared
        if "AllowedValues" in declared:
            return ", ".join(str(each) for each in declared["AllowedValues"])
        if "MaxValue" in declared:
            return f"{declared['MinValue']} to {declared['MaxValue']}"
        if "MinValue" in declared:
            return f"{declared['MinValue']} or more"
        if "MinLength" in declared:
            return f"{declared['MinLength']} or more characters"
        return str(declared.get("AllowedPattern", ""))

    def check(self, value: str) -> None:
        """Raise UsageError if CloudFormation would reject the value."""
        fault = self._fault(value)
        if fault is not None:
            raise UsageError(f"{self.name} is {value!r}, but must be {fault}")

    def _fault(self, value: str) -> str | None:
        declared = self.declared
        allowed = [str(each) for each in declared.get("AllowedValues", ())]
        if allowed and value not in allowed:
            return f"one of {', '.join(allowed)}"
        pattern = declared.get("AllowedPattern")
        if pattern and not re.fullmatch(pattern, value):
            return f"like {self.default} (pattern {pattern})"
        if len(value) < (least := declared.get("MinLength", 0)):
            return f"of {least} or more characters"
        if declared["Type"] != "Number":
            return None
        low, high = declared.get("MinValue", -inf), declared.get("MaxValue", inf)
        try:
            inside = low <= float(value) <= high
        except ValueError:
            inside = False
        return None if inside else f"a number from {low} to {high}"


def read(template: Path) -> dict[str, Parameter]:
    """Return the template's parameters by name."""
    content = templates.load(template)
    declarations = content.pop("Parameters")
    common = _environment(content["Globals"]["Function"])
    own = {
        function: _environment(resource["Properties"])
        for function, resource in content["Resources"].items()
        if resource["Type"] == _FUNCTION
    }
    variables: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for function, environment in own.items():
        for variable, name in _referring({**common, **environment}).items():
            variables[name][function].append(variable)
    # All other references to parameters remain when these variables are gone.
    for environment in (common, *own.values()):
        for variable in _referring(environment):
            del environment[variable]
    elsewhere = set(_references(content))
    return {
        name: Parameter(
            name,
            str(declared.get("Default", "")),
            declared.get("Description", ""),
            declared,
            {function: tuple(held) for function, held in variables[name].items()},
            changes_resources=name in elsewhere,
        )
        for name, declared in declarations.items()
    }


def _environment(properties: Mapping[str, Any]) -> dict[str, Any]:
    environment: dict[str, Any] = properties.get("Environment", {}).get("Variables", {})
    return environment


def _referring(environment: Mapping[str, Any]) -> dict[str, str]:
    """Map variables to the names that they refer to, if a reference is their whole value."""
    return {
        variable: value["Ref"]
        for variable, value in environment.items()
        if isinstance(value, dict) and set(value) == {"Ref"}
    }


def _references(value: Any) -> Iterator[str]:
    """Yield each name that a part of a template refers to."""
    if isinstance(value, list):
        for each in value:
            yield from _references(each)
    elif isinstance(value, dict):
        for key, each in value.items():
            if key == "Ref":
                yield each
            elif key == "Fn::Sub":
                yield from _SUBSTITUTED.findall(each if isinstance(each, str) else each[0])
            yield from _references(each)
