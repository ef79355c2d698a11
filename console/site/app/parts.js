// Small parts that every screen uses.
import { html } from "html";
import { useEffect, useState } from "preact/hooks";
import { ApiError } from "./api.js";
import { Time, words } from "./format.js";

const MEANING = {
  good: ["completed", "crawled", "delivered", "up", "ok", "closed", "active", "new", "live", "published", "connected"],
  bad: ["failed", "down", "error", "expired", "open", "refused", "blocked", "critical", "exhausted"],
  warning: ["partially_failed", "degraded", "paused", "warning", "half_open", "disabled", "high", "medium", "changed"],
  busy: ["running", "pending", "waiting", "fetched", "retrying", "crawling", "discovering", "started"],
};
const SIGNS = { good: "M2 6.5 5 9.5 10 3", bad: "M2.5 2.5l7 7m0-7-7 7", warning: "M6 1.5v5.5M6 9.5v1", busy: "M6 2.5v4l2.5 1.5", plain: "M2.5 6h7" };
const tone = (status) =>
  Object.keys(MEANING).find((name) => MEANING[name].includes(status)) ?? "plain";

// A small drawn sign; fonts differ in the characters that they have.
export const Sign = ({ as }) => html`<svg class="sign" viewBox="0 0 12 12" aria-hidden="true"><path d=${SIGNS[as]} /></svg>`;

// A state as a word with a sign, so that colour isn't the only difference.
export const Status = ({ of: status, as = tone(status) }) =>
  html`<span class=${`status ${as}`}>${as !== "plain" && html`<${Sign} as=${as} />`}${words(status)}</span>`;

// A button; `act` may return a promise, during which it can't be pressed again.
export const Button = ({ act, kind = "", children, disabled, ...rest }) => {
  const [isBusy, setBusy] = useState(false);
  const press = async () => {
    setBusy(true);
    try {
      await act();
    } finally {
      setBusy(false);
    }
  };
  return html`<button type="button" class=${kind} disabled=${disabled || isBusy} aria-busy=${isBusy} onClick=${press} ...${rest}>
    ${children}
  </button>`;
};

const ADVICE = {
  FORBIDDEN: "Your role or key doesn't allow this. Ask an administrator.",
  RATE_LIMITED: "Too many requests in a minute. It goes on by itself shortly.",
  DEPENDENCY_UNAVAILABLE: "A part of the service doesn't respond. Try again in a minute.",
  NOT_FOUND: "It doesn't exist, or was deleted.",
  FEATURE_DISABLED: "This feature is turned off on this installation.",
};
const adviceOf = ({ code, details }) =>
  details?.dependency === "browser" ? "This installation has no browser. An operator can add one." : ADVICE[code];

// An error in plain words, with the number by which an operator finds it.
export const Failure = ({ error, retry }) => {
  if (!error) return null;
  const fields = error instanceof ApiError ? Object.entries(error.fields) : [];
  return html`<div class="alert bad" role="alert">
    <p><strong>${error.message}</strong> ${adviceOf(error)}</p>
    ${fields.length > 0 && html`<ul>${fields.map(([path, message]) => html`<li><code>${path}</code>: ${message}</li>`)}</ul>`}
    ${error.requestId && html`<p class="small">Request <code>${error.requestId}</code></p>`}
    ${retry && html`<${Button} act=${retry}>Try again</${Button}>`}
  </div>`;
};

export const Note = ({ kind = "", children }) => html`<div class=${`alert ${kind}`}>${children}</div>`;

// What a list shows without rows: what it would hold, and what to do.
export const Empty = ({ title, children }) =>
  html`<div class="empty"><p><strong>${title}</strong></p>${children && html`<p>${children}</p>`}</div>`;

export const Loading = ({ what = "Loading" }) => html`<p class="loading" role="status">${what} …</p>`;

// Instead of data that aren't there yet: why, or that they are on their way.
export const Pending = ({ error, retry }) => (error ? html`<${Failure} error=${error} retry=${retry} />` : html`<${Loading} />`);

export const Header = ({ title, children, back }) => {
  useEffect(() => {
    document.title = `${title} · Spinneret`;
  }, [title]);
  return html`<header class="page-header">
    ${back && html`<p class="back"><a href=${back.href}>‹ ${back.title}</a></p>`}
    <h1 tabindex="-1">${title}</h1>
    ${children && html`<div class="actions">${children}</div>`}
  </header>`;
};

export const Card = ({ title, children, actions, kind = "" }) =>
  html`<section class=${`card ${kind}`}>
    ${title && html`<div class="card-title"><h2>${title}</h2>${actions && html`<div class="actions">${actions}</div>`}</div>`}
    ${children}
  </section>`;

// Pairs of a name and a value; pairs without a value are left out.
export const Facts = ({ of: pairs }) =>
  html`<dl class="facts">
    ${pairs.filter(([, value]) => value != null && value !== "" && value !== false).map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}
  </dl>`;

// A link to somewhere else on the web; anything but http and https stays text.
export const WebLink = ({ url, kind = "url", children, ...rest }) => {
  const safe = /^https?:\/\//i.test(url ?? "");
  const text = children ?? url;
  if (!safe) return html`<span class="url">${text}</span>`;
  return html`<a class=${kind} href=${url} rel="noreferrer noopener" target="_blank" ...${rest}>${text}</a>`;
};

export const Tabs = ({ of: tabs, chosen }) =>
  html`<nav class="tabs" aria-label="Sections">
    ${tabs.map(({ name, title, href }) => html`<a href=${href} aria-current=${name === chosen ? "page" : undefined}>${title}</a>`)}
  </nav>`;

export const Progress = ({ value, of: total = 100, label }) =>
  html`<progress max=${total || 1} value=${value} aria-label=${label}>${value}</progress>`;

// A secret or an address that can be copied.
export const Copyable = ({ text, label }) => {
  const [isCopied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    setCopied(true);
  };
  return html`<div class="copyable">
    <input type="text" readonly value=${text} aria-label=${label} onFocus=${(event) => event.target.select()} />
    <${Button} act=${copy}>${isCopied ? "Copied" : "Copy"}</${Button}>
  </div>`;
};

export const AsOf = ({ at }) => (at ? html`<p class="small">As of <${Time} at=${new Date(at).toISOString()} /></p>` : null);
