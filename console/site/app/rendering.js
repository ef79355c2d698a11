// Whether a crawl opens pages in a browser, and what it waits for there.
import { html } from "html";
import { Choice, Number, Text, given } from "./form.js";

// Values of `render`; a choice holds texts.
const RENDERED = { no: false, auto: "auto", yes: true };
const CHOICES = [["no", "never"], ["auto", "if it is empty without its scripts"], ["yes", "always"]];

export const renderedAs = (value) => Object.keys(RENDERED).find((name) => RENDERED[name] === value);

// The three values of a form as the API takes them; an empty `render` leaves them to the API.
export const renderingOf = ({ render, wait_for, wait_seconds }) => ({
  ...(render && { render: RENDERED[render] }),
  ...(RENDERED[render] && given({ wait_for, wait_seconds })),
});

export const Rendering = ({ form, none }) => html`<div class="fields">
  <${Choice} title="Open a page in a browser" ...${form.field("render")} options=${CHOICES} none=${none} />
  ${RENDERED[form.values.render] && html`
    <${Text} title="Wait there for this element" ...${form.field("wait_for")} hint="A CSS selector" />
    <${Number} title="Then wait, in seconds" ...${form.field("wait_seconds")} min="0" max="30" step="any" />`}
</div>`;
