"""Write a tenant's data as lines of JSON, file by file; any call continues an earlier one."""

from collections.abc import Sequence
from dataclasses import replace

from spinneret.access.tenants.service import TenantService
from spinneret.kernel.clock import Remaining
from spinneret.kernel.errors import ValidationFailed
from spinneret.kernel.ids import NewId, is_id
from spinneret.kernel.service import service
from spinneret.operations.tenants import limits
from spinneret.operations.tenants.models import Answer, CommandProgress, Export
from spinneret.operations.tenants.ports import Area, ExportFiles


@service
class TenantExport:
    """Exports tenants, suspended ones too."""

    tenants: TenantService
    areas: Sequence[Area]
    files: ExportFiles
    new_id: NewId

    def run(self, name: str, export_id: str | None, remaining: Remaining) -> Answer:
        """Go on with an export, or begin one, until it ends or SLICE_MARGIN_SECONDS remain.

        The state is written after each file: a repetition writes the same file again. Raises
        NotFound, ValidationFailed and DependencyUnavailable.
        """
        self.tenants.get(name)
        if export_id is None:
            export_id = self.new_id("export")
        elif not is_id(export_id):
            raise ValidationFailed.of_field("export_id", "not an id of an export")
        state = self.files.state(name, export_id)
        while state.area < len(self.areas) and remaining() > limits.SLICE_MARGIN_SECONDS:
            state = self._file(name, export_id, state)
            self.files.keep(name, export_id, state)
        is_done = state.area == len(self.areas)
        where = self.files.address(name, export_id)
        return Answer(
            progress=CommandProgress.DONE if is_done else CommandProgress.WORKING,
            text=f"{sum(state.lines.values())} lines in {where}",
            report={"export_id": export_id, "address": where, "lines": state.lines},
        )

    def _file(self, name: str, export_id: str, state: Export) -> Export:
        """Write the next file; return the state after it."""
        area, lines, size, after = self.areas[state.area], list[str](), 0, state.after
        while len(lines) < limits.EXPORT_LINES_PER_FILE and size < limits.EXPORT_BYTES_PER_FILE:
            page = area.page(name, after)
            fresh = [each.model_dump_json() for each in page.items]
            lines += fresh
            size += sum(map(len, fresh))
            after = page.after
            if after is None:
                break
        files = state.files
        if lines:
            number = 1 + sum(f"/{area.name}-" in each for each in files)
            written = self.files.write(name, export_id, f"{area.name}-{number:05}.ndjson", lines)
            files = (*files, written)
        total = state.lines.get(area.name, 0) + len(lines)
        return replace(
            state,
            area=state.area + (after is None),
            after=after,
            files=files,
            lines={**state.lines, area.name: total},
        )
