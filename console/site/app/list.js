// Lists of the API: pages by cursor, filters in the URL, and what to do if there is nothing.
import { html } from "html";
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { api } from "./api.js";
import { Button, Empty, Failure, Loading } from "./parts.js";
import { place, setQuery } from "./router.js";

const PAGE = 25;

// Load a list page by page: { rows, error, isLoading, hasMore, more, reload }. `path` null loads
// nothing yet. A changed `stamp` reloads it quietly, unless further pages are shown, which would go away.
export const useList = (path, values = {}, stamp) => {
  const key = JSON.stringify([path, values]);
  const [state, setState] = useState({ key: "", rows: [], error: null, isLoading: true, cursor: null, isFirst: true });
  const asked = useRef(0);
  const ask = useCallback(
    async (cursor, former, isQuiet = false) => {
      if (!path) return;
      const number = ++asked.current;
      setState((was) => ({ ...was, isLoading: !isQuiet, error: null }));
      try {
        const answer = await api.get(path, { limit: PAGE, ...values, cursor });
        if (number !== asked.current) return;
        const next = answer.next_cursor ?? null;
        const rows = [...former, ...(answer.items ?? answer.result ?? [])];
        setState({ key, rows, error: null, isLoading: false, cursor: answer.has_more === false ? null : next, isFirst: !cursor });
      } catch (error) {
        if (number !== asked.current) return;
        setState((was) => ({ ...was, key, error, isLoading: false, rows: was.key === key ? was.rows : [] }));
      }
    },
    [key],
  );
  const reload = useCallback(() => ask(undefined, []), [ask]);
  useEffect(() => {
    reload();
    return () => {
      asked.current += 1;
    };
  }, [reload]);
  const seen = useRef(stamp);
  useEffect(() => {
    if (seen.current !== stamp && state.isFirst && !state.isLoading) ask(undefined, [], state.key === key);
    seen.current = stamp;
  }, [stamp]);
  const isCurrent = state.key === key;
  return {
    rows: isCurrent ? state.rows : [],
    error: state.error,
    isLoading: state.isLoading || !isCurrent,
    hasMore: isCurrent && Boolean(state.cursor),
    more: () => ask(state.cursor, state.rows),
    reload,
  };
};

// Rows with their columns: { title, value, kind }, where `kind` is "number", "wide" or "actions".
// On narrow screens each row is a block with the titles beside its values.
export const Table = ({ title, rows, columns, keyOf }) =>
  html`<table class="rows">
    <caption class="hidden">${title}</caption>
    <thead>
      <tr>${columns.map((column) => html`<th scope="col" class=${column.kind}>${column.title || html`<span class="hidden">Actions</span>`}</th>`)}</tr>
    </thead>
    <tbody>
      ${rows.map((row, index) => html`<tr key=${keyOf?.(row) ?? index}>
        ${columns.map((column) => html`<td class=${column.kind} data-title=${column.title}>${column.value(row)}</td>`)}
      </tr>`)}
    </tbody>
  </table>`;

// A loaded list (`useList`) as a table. `empty` is what to show without rows; with filters set, it
// says so and offers to remove them.
export const List = ({ list, title, columns, keyOf, empty, filters = [] }) => {
  const { rows, error, isLoading, hasMore, more, reload } = list;
  const set = filters.filter((name) => place.value.query[name]);
  if (error && rows.length === 0) return html`<${Failure} error=${error} retry=${reload} />`;
  if (isLoading && rows.length === 0) return html`<${Loading} what=${`Loading ${title.toLowerCase()}`} />`;
  if (rows.length === 0 && hasMore) return html`<p class="more"><${Button} act=${more}>Look further</${Button}></p>`;
  if (rows.length === 0 && set.length > 0) {
    const clear = () => setQuery(Object.fromEntries(set.map((name) => [name, ""])));
    return html`<${Empty} title="Nothing matches the filters.">
      <button type="button" onClick=${clear}>Remove the filters</button>
    </${Empty}>`;
  }
  if (rows.length === 0) return empty;
  return html`<div>
    <${Table} title=${title} rows=${rows} columns=${columns} keyOf=${keyOf} />
    <${Failure} error=${error} retry=${reload} />
    ${hasMore && html`<p class="more"><${Button} act=${more}>Show more</${Button}></p>`}
  </div>`;
};

// A filter's text. What is typed stays until it is left, even if the page is drawn again.
const TextFilter = ({ name, placeholder }) => {
  const [typed, setTyped] = useState(null);
  return html`<input type="search" value=${typed ?? place.value.query[name] ?? ""} placeholder=${placeholder}
    onInput=${(event) => setTyped(event.target.value)} onBlur=${() => setTyped(null)}
    onChange=${(event) => setQuery({ [name]: event.target.value.trim() })} />`;
};

// Filters of a list, whose values are the URL's query. Each: { name, title, options } or, without
// options, a field of text that applies when it is left or Enter is pressed.
export const Filters = ({ of: fields }) => {
  const { query } = place.value;
  return html`<div class="filters" role="search" aria-label="Filters">
    ${fields.map(({ name, title, options, placeholder }) => html`<label key=${name}>
      <span>${title}</span>
      ${options
        ? html`<select value=${query[name] ?? ""} onChange=${(event) => setQuery({ [name]: event.target.value })}>
            <option value="">All</option>
            ${options.map((each) => {
              const [value, text] = Array.isArray(each) ? each : [each, each.replaceAll("_", " ")];
              return html`<option value=${value} selected=${value === query[name]}>${text}</option>`;
            })}
          </select>`
        : html`<${TextFilter} name=${name} placeholder=${placeholder} />`}
    </label>`)}
  </div>`;
};
