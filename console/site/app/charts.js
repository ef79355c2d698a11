// Charts: lines over time (uPlot, loaded at first use), bars and strips. A table says the same.
import { html } from "html";
import { useEffect, useRef } from "preact/hooks";
import { number } from "./format.js";
import { Folded } from "./form.js";

const HEIGHT = 220;
const here = new URL("../vendor/", import.meta.url);
let library = null;

const load = () => {
  library ??= new Promise((resolve, reject) => {
    const style = Object.assign(document.createElement("link"), { rel: "stylesheet", href: `${here}uplot.css` });
    const script = Object.assign(document.createElement("script"), { src: `${here}uplot.js` });
    script.onload = () => resolve(globalThis.uPlot);
    script.onerror = () => {
      library = null;
      reject(new Error("the chart can't be loaded"));
    };
    document.head.append(style, script);
  });
  return library;
};

const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const COLOURS = ["--chart-1", "--chart-2", "--chart-3"];

// Lines over time. `times` are seconds since 1970 in UTC; each of `series` has { title, values },
// where a missing value is null and leaves a gap.
export const LineChart = ({ title, times, series, unit = "" }) => {
  const frame = useRef(null);
  useEffect(() => {
    let plot = null;
    let isGone = false;
    let observer = null;
    const axis = { stroke: colour("--text-2"), grid: { stroke: colour("--line"), width: 1 }, ticks: { stroke: colour("--line") } };
    load()
      .then((UPlot) => {
        if (isGone) return;
        const width = () => Math.max(frame.current.clientWidth, 200);
        plot = new UPlot(
          {
            width: width(),
            height: HEIGHT,
            series: [
              {},
              ...series.map((each, index) => ({
                label: each.title,
                stroke: colour(COLOURS[index % COLOURS.length]),
                width: 2,
                spanGaps: false,
                value: (_, value) => (value == null ? "–" : `${number(value)} ${unit}`),
              })),
            ],
            axes: [axis, { ...axis, size: 60, values: (_, values) => values.map((each) => `${number(each)} ${unit}`) }],
          },
          [times, ...series.map((each) => each.values)],
          frame.current,
        );
        observer = new ResizeObserver(() => plot.setSize({ width: width(), height: HEIGHT }));
        observer.observe(frame.current);
      })
      .catch(() => null); // the table below has the same values
    return () => {
      isGone = true;
      observer?.disconnect();
      plot?.destroy();
    };
  }, [JSON.stringify([times, series])]);
  return html`<figure class="chart">
    <figcaption>${title}</figcaption>
    <div ref=${frame} aria-hidden="true"></div>
    <${Folded} title="Values as a table">
      <table>
        <thead><tr><th scope="col">Time</th>${series.map((each) => html`<th scope="col" class="number">${each.title}</th>`)}</tr></thead>
        <tbody>${times.map((time, index) => html`<tr>
          <td>${new Date(time * 1000).toLocaleString()}</td>
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
