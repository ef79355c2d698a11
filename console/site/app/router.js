// The page's place: `#/jobs/job_1?status=failed`. A fragment never reaches a server or its logs,
// and the page works below any prefix.
import { signal } from "@preact/signals";

const read = () => {
  const [path, search] = location.hash.replace(/^#\/?/, "").split("?");
  const parts = path.split("/").filter(Boolean).map(decodeURIComponent);
  return { parts, query: Object.fromEntries(new URLSearchParams(search ?? "")) };
};

export const place = signal(read());
addEventListener("hashchange", () => {
  place.value = read();
});

// Return the address of a place: `href("jobs", id)`, `href("jobs", { status: "failed" })`.
export const href = (...words) => {
  const values = typeof words.at(-1) === "object" ? words.pop() : {};
  const given = Object.entries(values).filter(([, value]) => value !== "" && value != null);
  const search = given.length ? `?${new URLSearchParams(given)}` : "";
  return `#/${words.map(encodeURIComponent).join("/")}${search}`;
};

export const go = (...words) => {
  location.hash = href(...words);
};

// Change some values of the query, without a further step for the browser's back button.
export const setQuery = (changes) => {
  const { parts, query } = place.value;
  history.replaceState(null, "", href(...parts, { ...query, ...changes }));
  place.value = read();
};
