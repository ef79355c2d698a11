// Charts: lines over time, bars, dials and strips. Numbers beside them say the same.
import { html } from "html";
import { Folded } from "./form.js";
import { Time, number } from "./format.js";

const WIDTH = 600;
const HEIGHT = 200;
const LABELS = 4; // of the vertical axis, above zero

// A round number at or above `most`, so that the labels below it are round too.
const ceiling = (most) => {
  const step = 10 ** Math.floor(Math.log10(most / LABELS));
  const factor = [1, 2, 5, 10].find((each) => each * step * LABELS >= most);
  return factor * step * LABELS;
};

// The points of one series as a path; a missing value leaves a gap.
const pathOf = (values, x, y) => {
  let pen = "M";
  return values
    .map((value, index) => {
      if (value == null) {
        pen = "M";
        return "";
      }
      const point = `${pen}${x(index).toFixed(1)} ${y(value).toFixed(1)}`;
      pen = "L";
      return point;
    })
    .join("");
};

// Lines over time. `times` are seconds since 1970 in UTC, ascending; each of `series` has
// { title, values }, where a missing value is null and leaves a gap.
export const LineChart = ({ title, times, series, unit = "" }) => {
  const known = series.flatMap((each) => each.values).filter((value) => value != null);
  const top = known.some((value) => value > 0) ? ceiling(Math.max(...known)) : 1;
  const [first, last] = [times[0], times.at(-1)];
  const x = (index) => (last > first ? ((times[index] - first) / (last - first)) * WIDTH : WIDTH / 2);
  const y = (value) => HEIGHT - (value / top) * HEIGHT;
  const levels = Array.from({ length: LABELS + 1 }, (_, index) => (top / LABELS) * (LABELS - index));
  const iso = (time) => new Date(time * 1000).toISOString();
  return html`<figure class="chart">
    <figcaption>${title}</figcaption>
    <ul class="keys">${series.map((each, index) => html`<li><svg class=${`line-${index + 1}`} viewBox="0 0 20 4" aria-hidden="true"><path d="M0 2L20 2" /></svg> ${each.title}</li>`)}</ul>
    <div class="plot" aria-hidden="true">
      <div class="levels">${levels.map((level) => html`<span>${number(level)} ${unit}</span>`)}</div>
      <svg viewBox=${`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none">
        ${levels.map((level) => html`<path class="grid-line" d=${`M0 ${y(level)}L${WIDTH} ${y(level)}`} />`)}
        ${series.map((each, index) => html`<path class=${`line-${index + 1}`} d=${pathOf(each.values, x, y)} />`)}
      </svg>
      ${times.length > 0 && html`<p class="ends"><${Time} at=${iso(first)} /><${Time} at=${iso(last)} /></p>`}
    </div>
    <${Folded} title="Values as a table">
      <table>
        <thead><tr><th scope="col">Time</th>${series.map((each) => html`<th scope="col" class="number">${each.title}</th>`)}</tr></thead>
        <tbody>${times.map((time, index) => html`<tr>
          <td><${Time} at=${iso(time)} /></td>
          ${series.map((each) => html`<td class="number">${number(each.values[index])}</td>`)}
        </tr>`)}</tbody>
      </table>
    </${Folded}>
  </figure>`;
};

// One value as a bar with its number beside it.
export const Bar = ({ title, value, of: most = 1, text = number(value) }) => {
  const share = value == null ? 0 : Math.min(Math.max(value / (most || 1), 0), 1) * 100;
  return html`<div class="bar">
    <span class="bar-title">${title}</span>
    <svg viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true"><rect class="track" width="100" height="6" /><rect class="fill" width=${share} height="6" /></svg>
    <span class="bar-value">${value == null ? "–" : text}</span>
  </div>`;
};

const DIAL_RADIUS = 42;
const DIAL_LENGTH = 2 * Math.PI * DIAL_RADIUS;

// A score of 0 to 100 as a ring with the number and its grade inside.
export const Dial = ({ value, grade }) => {
  const text = value == null ? "–" : number(Math.round(value));
  return html`<svg class="dial" viewBox="0 0 100 100" role="img" aria-label=${`Score ${text} of 100, grade ${grade ?? "none"}`}>
    <circle class="track" cx="50" cy="50" r=${DIAL_RADIUS} />
    <circle class="fill" cx="50" cy="50" r=${DIAL_RADIUS} transform="rotate(-90 50 50)"
      stroke-dasharray=${`${((value ?? 0) / 100) * DIAL_LENGTH} ${DIAL_LENGTH}`} />
    <text x="50" y="54" text-anchor="middle">${text}</text>
    <text class="grade" x="50" y="72" text-anchor="middle">${grade}</text>
  </svg>`;
};

// A strip of equal parts, such as days: { title, tone } with tone good, warning, bad or none.
export const Strip = ({ parts, label }) =>
  html`<svg class="strip" viewBox=${`0 0 ${parts.length * 4} 24`} preserveAspectRatio="none" role="img" aria-label=${label}>
    ${parts.map(({ title, tone }, index) => html`<rect class=${tone} x=${index * 4} y="0" width="3" height="24"><title>${title}</title></rect>`)}
  </svg>`;
