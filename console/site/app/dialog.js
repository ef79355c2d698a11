// Dialogs, questions before something can't be undone, and short reports of what was done.
import { html } from "html";
import { useEffect, useRef } from "preact/hooks";
import { signal } from "@preact/signals";
import { Button } from "./parts.js";

const SHOWN_SECONDS = 6;
const toasts = signal([]);
let count = 0;

// Report something that was done. Failures stay until they are closed.
export const report = (text, { isFailure = false, requestId = "" } = {}) => {
  const id = ++count;
  toasts.value = [...toasts.value, { id, text, isFailure, requestId }];
  if (!isFailure) setTimeout(() => close(id), SHOWN_SECONDS * 1000);
};

const close = (id) => {
  toasts.value = toasts.value.filter((each) => each.id !== id);
};

// Do something and report it; an error is reported instead. Returns whether it was done.
export const attempt = async (work, done) => {
  try {
    const answer = await work();
    if (done) report(typeof done === "function" ? done(answer) : done);
    return true;
  } catch (error) {
    report(error.message, { isFailure: true, requestId: error.requestId });
    return false;
  }
};

export const Toasts = () =>
  html`<div class="toasts">
    <div role="status">${toasts.value.filter((each) => !each.isFailure).map((each) => html`<${Toast} key=${each.id} ...${each} />`)}</div>
    <div role="alert">${toasts.value.filter((each) => each.isFailure).map((each) => html`<${Toast} key=${each.id} ...${each} />`)}</div>
  </div>`;

const Toast = ({ id, text, isFailure, requestId }) =>
  html`<div class=${`toast ${isFailure ? "bad" : "good"}`}>
    <p>${text} ${requestId && html`<small>Request <code>${requestId}</code></small>`}</p>
    <button type="button" aria-label="Close" onClick=${() => close(id)}>×</button>
  </div>`;

// A dialog that takes the focus; Escape and its button close it.
export const Dialog = ({ title, onClose, children }) => {
  const frame = useRef(null);
  useEffect(() => {
    frame.current.showModal();
  }, []);
  return html`<dialog ref=${frame} aria-label=${title} onClose=${onClose}>
    <div class="card-title"><h2>${title}</h2>
      <button type="button" aria-label="Close" onClick=${() => frame.current.close()}>×</button>
    </div>
    ${children}
  </dialog>`;
};

const question = signal(null);

// Ask before something that can't be undone; resolves to whether it was confirmed.
export const confirmed = (title, text, action) =>
  new Promise((resolve) => {
    question.value = { title, text, action, resolve };
  });

export const Question = () => {
  const asked = question.value;
  if (!asked) return null;
  const answer = (isYes) => {
    question.value = null;
    asked.resolve(isYes);
  };
  return html`<${Dialog} title=${asked.title} onClose=${() => question.value && answer(false)}>
    <p>${asked.text}</p>
    <p class="submit">
      <button type="button" class="danger" onClick=${() => answer(true)}>${asked.action}</button>
      <button type="button" onClick=${() => answer(false)}>Keep it</button>
    </p>
  </${Dialog}>`;
};

// A button that asks first, then does it and reports.
export const Dangerous = ({ title, question: text, action, act, done, children, kind = "danger" }) => {
  const press = async () => {
    if (await confirmed(title, text, action)) await attempt(act, done);
  };
  return html`<${Button} kind=${kind} act=${press}>${children ?? action}</${Button}>`;
};
