"""Evaluate a template's conditions for given parameters, as CloudFormation does."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

_SUBSTITUTED: Final = re.compile(r"\$\{([A-Za-z0-9:]+)[^}]*\}")
_GONE: Final = object()


def evaluated(template: Mapping[str, Any], parameters: Mapping[str, str]) -> dict[str, Any]:
    """Return resources and outputs whose conditions hold, with each `Fn::If` decided."""
    conditions = _Conditions(template.get("Conditions", {}), parameters)
    return {
        part: {
            name: _decided(each, conditions)
            for name, each in template.get(part, {}).items()
            if "Condition" not in each or conditions.holds(each["Condition"])
        }
        for part in ("Resources", "Outputs")
    }


def targets(value: Any) -> Iterator[str]:
    """Yield the logical id of each reference in a part of a template."""
    match value:
        case {"Ref": str(name)}:
            yield name
        case {"Fn::GetAtt": [str(name), *_]}:
            yield name
        case {"Fn::GetAtt": str(path)}:
            yield path.partition(".")[0]
        case {"Fn::Sub": [str(text), dict(own)]}:
            yield from (name for name in _SUBSTITUTED.findall(text) if name not in own)
            yield from targets(own)
        case {"Fn::Sub": str(text)}:
            yield from _SUBSTITUTED.findall(text)
        case dict():
            depends = value.get("DependsOn", [])
            yield from [depends] if isinstance(depends, str) else depends
            for each in value.values():
                yield from targets(each)
        case list():
            for each in value:
                yield from targets(each)


class _Conditions:
    def __init__(self, declared: Mapping[str, Any], parameters: Mapping[str, str]) -> None:
        self._declared = declared
        self._parameters = parameters

    def holds(self, name: str) -> bool:
        return self._value(self._declared[name])

    def _value(self, condition: Any) -> bool:
        [(kind, of)] = condition.items()
        match kind:
            case "Condition":
                return self.holds(of)
            case "Fn::Not":
                return not self._value(of[0])
            case "Fn::And":
                return all(map(self._value, of))
            case "Fn::Or":
                return any(map(self._value, of))
            case "Fn::Equals":
                left, right = (self._operand(each) for each in of)
                return left == right
        raise AssertionError(condition)

    def _operand(self, operand: Any) -> str:
        return str(self._parameters[operand["Ref"]] if isinstance(operand, dict) else operand)


def _decided(value: Any, conditions: _Conditions) -> Any:
    match value:
        case {"Fn::If": [name, true, false]}:
            return _decided(true if conditions.holds(name) else false, conditions)
        case {"Ref": "AWS::NoValue"}:
            return _GONE
        case dict():
            found = {key: _decided(each, conditions) for key, each in value.items()}
            return {key: each for key, each in found.items() if each is not _GONE}
        case list():
            return [each for each in (_decided(e, conditions) for e in value) if each is not _GONE]
    return value
