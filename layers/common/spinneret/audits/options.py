"""Options of an audit that its tenant chooses: checks of the request."""

from spinneret.audits.api_models import AuditOptions
from spinneret.audits.checks.catalogue import numbers
from spinneret.audits.recipes import Recipe, Sample
from spinneret.kernel.errors import ValidationFailed
from spinneret.web.exploring.globs import compile_patterns


def sample_for(recipe: Recipe, options: AuditOptions) -> Sample:
    """Return the sample; raise ValidationFailed for invalid patterns and unknown checks."""
    sample = recipe.sample_with(options.given)
    compile_patterns(options.include, "options.include")
    compile_patterns(options.exclude, "options.exclude")
    unknown = [name for name in options.checks_off if name not in numbers()]
    if unknown:
        message = f"has no check {unknown[0]}; docs/audits.md lists all"
        raise ValidationFailed.of_field("options.checks_off", message, error=f"the audit {message}")
    return sample
