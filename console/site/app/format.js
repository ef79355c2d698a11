// Times, amounts and durations as people read them.
import { html } from "html";

const DATE_TIME = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });
const CLOCK = new Intl.DateTimeFormat(undefined, { timeStyle: "medium" });
const NUMBER = new Intl.NumberFormat(undefined, { maximumFractionDigits: 2 });
const ZONE = Intl.DateTimeFormat().resolvedOptions().timeZone;

const isToday = (date) => date.toDateString() === new Date().toDateString();

// A time in the reader's zone, with UTC on hover; today's without its date.
export const Time = ({ at, none = "–" }) => {
  if (!at) return none;
  const date = new Date(at);
  if (Number.isNaN(date.getTime())) return at;
  const text = isToday(date) ? CLOCK.format(date) : DATE_TIME.format(date);
  return html`<time datetime=${at} title=${`${at.slice(0, 19).replace("T", " ")} UTC (shown in ${ZONE})`}>${text}</time>`;
};

export const number = (value) => (value == null ? "–" : NUMBER.format(value));

export const percent = (value) => (value == null ? "–" : `${NUMBER.format(value * 100)} %`);

export const duration = (ms) => {
  if (ms == null) return "–";
  if (ms < 1000) return `${Math.round(ms)} ms`;
  const seconds = ms / 1000;
  if (seconds < 60) return `${NUMBER.format(Math.round(seconds * 10) / 10)} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${Math.round(seconds % 60)} s`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h ${minutes % 60} min` : `${Math.floor(hours / 24)} days`;
};

export const plural = (count, one, many = `${one}s`) => `${number(count)} ${count === 1 ? one : many}`;

// The host of an address, or the text itself where it isn't one.
export const hostOf = (url) => {
  try {
    return new URL(url).host || url;
  } catch {
    return url;
  }
};

// Names of kinds and states: `partially_failed` → `partially failed`.
export const words = (name) => String(name ?? "–").replaceAll("_", " ");

const currencyOf = (currency) => {
  try {
    return new Intl.NumberFormat(undefined, { style: "currency", currency });
  } catch {
    return new Intl.NumberFormat(undefined, { style: "currency", currency: "EUR" }); // while a code is typed
  }
};

const placesOf = (currency) => currencyOf(currency).resolvedOptions().maximumFractionDigits;

// An amount in minor units: 8900 EUR → 89.00 €.
export const money = (units, currency) => currencyOf(currency).format(units / 10 ** placesOf(currency));

// The same as a text to edit, and back.
export const priceOf = (units, currency) => (units / 10 ** placesOf(currency)).toFixed(placesOf(currency));

export const unitsOf = (text, currency) => Math.round(parseFloat(String(text).replace(",", ".")) * 10 ** placesOf(currency));
