// Forms: fields with labels, what the server says about each of them, and one way to send.
import { html } from "html";
import { useId, useState } from "preact/hooks";
import { ApiError } from "./api.js";
import { Failure } from "./parts.js";

// Values of a form and their changes: { values, set, field }. `field(name)` returns the properties
// of a field component.
export const useForm = (initial) => {
  const [values, setValues] = useState(initial);
  const [error, setError] = useState(null);
  const set = (name, value) => setValues((former) => ({ ...former, [name]: value }));
  const field = (name) => ({
    name,
    value: values[name],
    set: (value) => set(name, value),
    fault: error instanceof ApiError ? error.fields[name] ?? error.fields[`body.${name}`] : undefined,
  });
  return { values, set, setValues, field, error, setError };
};

// A form that sends once at a time and shows the error of its last try.
export const Form = ({ form, send, submit, children, kind = "" }) => {
  const [isBusy, setBusy] = useState(false);
  const onSubmit = async (event) => {
    event.preventDefault();
    if (isBusy) return;
    setBusy(true);
    form.setError(null);
    try {
      await send(form.values);
    } catch (error) {
      form.setError(error);
    }
    setBusy(false);
  };
  return html`<form class=${kind} onSubmit=${onSubmit} noValidate=${false}>
    ${children}
    <${Failure} error=${form.error} />
    <p class="submit"><button type="submit" class="main" disabled=${isBusy} aria-busy=${isBusy}>${submit}</button></p>
  </form>`;
};

const Labelled = ({ id, title, hint, fault, children }) =>
  html`<div class="field">
    <label for=${id}>${title}</label>
    ${children}
    ${hint && html`<p class="hint" id=${`${id}-hint`}>${hint}</p>`}
    ${fault && html`<p class="fault" id=${`${id}-fault`}>${fault}</p>`}
  </div>`;

const described = (id, hint, fault) =>
  [hint && `${id}-hint`, fault && `${id}-fault`].filter(Boolean).join(" ") || undefined;

export const Text = ({ title, hint, fault, set, value, type = "text", ...rest }) => {
  const id = useId();
  return html`<${Labelled} id=${id} title=${title} hint=${hint} fault=${fault}>
    <input id=${id} type=${type} value=${value ?? ""} aria-describedby=${described(id, hint, fault)}
      aria-invalid=${fault ? "true" : undefined} onInput=${(event) => set(event.target.value)} ...${rest} />
  </${Labelled}>`;
};

export const Number = ({ set, value, ...rest }) =>
  html`<${Text} type="number" value=${value} set=${(text) => set(text === "" ? null : globalThis.Number(text))} ...${rest} />`;

export const Area = ({ title, hint, fault, set, value, rows = 4, ...rest }) => {
  const id = useId();
  return html`<${Labelled} id=${id} title=${title} hint=${hint} fault=${fault}>
    <textarea id=${id} rows=${rows} value=${value ?? ""} aria-describedby=${described(id, hint, fault)}
      onInput=${(event) => set(event.target.value)} ...${rest}></textarea>
  </${Labelled}>`;
};

// A choice: `options` are values, or pairs of a value and its text.
export const Choice = ({ title, hint, fault, set, value, options, none, ...rest }) => {
  const id = useId();
  return html`<${Labelled} id=${id} title=${title} hint=${hint} fault=${fault}>
    <select id=${id} aria-describedby=${described(id, hint, fault)} onChange=${(event) => set(event.target.value)} ...${rest}>
      ${none !== undefined && html`<option value="" selected=${!value}>${none}</option>`}
      ${options.map((each) => {
        const [key, text] = Array.isArray(each) ? each : [each, String(each).replaceAll("_", " ")];
        return html`<option value=${key} selected=${key === value}>${text}</option>`;
      })}
    </select>
  </${Labelled}>`;
};

export const Check = ({ title, hint, set, value, ...rest }) => {
  const id = useId();
  return html`<div class="field check">
    <input id=${id} type="checkbox" checked=${Boolean(value)} aria-describedby=${described(id, hint)}
      onChange=${(event) => set(event.target.checked)} ...${rest} />
    <label for=${id}>${title}</label>
    ${hint && html`<p class="hint" id=${`${id}-hint`}>${hint}</p>`}
  </div>`;
};

// A new password, with a switch that shows it.
export const Password = ({ title = "Password", ...rest }) => {
  const [isShown, setShown] = useState(false);
  return html`<div>
    <${Text} title=${title} type=${isShown ? "text" : "password"} ...${rest} />
    <${Check} title="Show the password" value=${isShown} set=${setShown} />
  </div>`;
};

export const Folded = ({ title, children, open }) =>
  html`<details class="folded" open=${open}><summary>${title}</summary><div>${children}</div></details>`;

// Lines or comma-separated words as a list.
export const lines = (text) => String(text ?? "").split(/[\n,]+/).map((each) => each.trim()).filter(Boolean);

// Lines of a text in which commas belong to the lines.
export const rows = (text) => String(text ?? "").split("\n").map((each) => each.trim()).filter(Boolean);

// Lines such as `Name: value` as an object.
export const pairs = (text) =>
  Object.fromEntries(
    rows(text).filter((line) => line.includes(":"))
      .map((line) => [line.slice(0, line.indexOf(":")).trim(), line.slice(line.indexOf(":") + 1).trim()]),
  );

// The values that were given: without empty texts, empty lists and what equals its default.
export const given = (values, defaults = {}) =>
  Object.fromEntries(
    Object.entries(values).filter(([name, value]) =>
      value !== "" && value != null && !(Array.isArray(value) && value.length === 0) && value !== defaults[name]),
  );

// The local time of a `datetime-local` field as the API takes it.
export const utc = (local) => (local ? new Date(local).toISOString() : null);

// Names of time zones, UTC first.
export const zones = () => [...new Set(["UTC", ...(Intl.supportedValuesOf?.("timeZone") ?? [])])];
