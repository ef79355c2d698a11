// Crawl configurations, caches and statistics.
import { html } from "html";
import { useState } from "preact/hooks";
import { api } from "../app/api.js";
import { LineChart } from "../app/charts.js";
import { Dangerous, Dialog } from "../app/dialog.js";
import { Area, Check, Choice, Form, Number, Text, given, pairs, useForm } from "../app/form.js";
import { Time, number, percent, words } from "../app/format.js";
import { List, Table, useList } from "../app/list.js";
import { useLoad } from "../app/loading.js";
import { Card, Empty, Pending, Status } from "../app/parts.js";
import { Rendering, renderedAs, renderingOf } from "../app/rendering.js";
import { may } from "../app/session.js";

const DEFAULTS = {
  name: "", max_depth: 0, rate_limit_rps: 1, respect_robots_txt: true, extraction_strategy: "markdown", keep_link_targets: true,
  chunking_strategy: "sliding_window", chunk_size: 512, chunk_overlap: 50, min_chunk_size: 50, page_timeout_ms: 30000,
  max_page_size_mb: 50, max_redirects: 10, proxy_config_id: null, is_default: false, render: false, wait_for: null, wait_seconds: 0,
};

const ConfigForm = ({ config, onDone }) => {
  const form = useForm({
    ...Object.fromEntries(Object.entries(DEFAULTS).map(([name, value]) => [name, config?.[name] ?? value])),
    render: renderedAs(config?.render ?? false),
    headers: Object.entries(config?.headers ?? {}).map(([name, value]) => `${name}: ${value}`).join("\n"),
  });
  const send = async ({ render, wait_for, wait_seconds, ...values }) => {
    const body = { ...given(values), ...renderingOf({ render, wait_for, wait_seconds }), headers: pairs(values.headers) };
    onDone(config ? await api.put(`api/v1/configs/${config.config_id}`, body) : await api.post("api/v1/configs", body));
  };
  return html`<${Form} form=${form} send=${send} submit="Save">
    <${Text} title="Name" ...${form.field("name")} required maxlength="100" />
    <div class="fields">
      <${Number} title="Requests per second to a host" ...${form.field("rate_limit_rps")} min="0" max="100" step="any" />
      <${Number} title="Links to follow in a row" ...${form.field("max_depth")} min="0" max="100" />
      <${Number} title="Time for a page, in milliseconds" ...${form.field("page_timeout_ms")} min="100" max="30000" />
      <${Number} title="Largest page, in MB" ...${form.field("max_page_size_mb")} min="1" max="50" />
      <${Number} title="Redirects at most" ...${form.field("max_redirects")} min="0" max="10" />
      <${Choice} title="Text of a page" ...${form.field("extraction_strategy")} options=${["markdown", "structured", "raw"]} />
      <${Choice} title="Cut into chunks" ...${form.field("chunking_strategy")} options=${[["sliding_window", "of equal length"], ["by_heading", "by headings"]]} />
      <${Number} title="Length of a chunk, in tokens" ...${form.field("chunk_size")} min="16" max="8192" />
      <${Number} title="Overlap of chunks, in tokens" ...${form.field("chunk_overlap")} min="0" />
      <${Number} title="Shortest chunk, in tokens" ...${form.field("min_chunk_size")} min="1" />
    </div>
    <${Rendering} form=${form} />
    <${Area} title="Headers of requests" ...${form.field("headers")} rows="2" hint="One a line: Name: value" />
    <${Check} title="Obey robots.txt" ...${form.field("respect_robots_txt")} />
    <${Check} title="Keep the targets of links in the text" ...${form.field("keep_link_targets")} />
    <${Check} title="Use it where a crawl names none" ...${form.field("is_default")} />
  </${Form}>`;
};

export const Configurations = () => {
  const list = useList("api/v1/configs");
  const [edited, setEdited] = useState(null);
  const mayChange = may("configure_crawls", "write");
  const done = () => {
    setEdited(null);
    list.reload();
  };
  return html`<${Card} title="Crawl configurations" actions=${mayChange && html`<button type="button" class="main" onClick=${() => setEdited({})}>New configuration</button>`}>
    <${List} list=${list} title="Configurations" keyOf=${(config) => config.config_id} empty=${html`<${Empty} title="No configurations yet.">Crawls use what this installation has as its default.</${Empty}>`} columns=${[
      { title: "Name", kind: "wide", value: (config) => html`<span>${config.name} ${config.is_default && html`<${Status} of="default" />`}</span>` },
      { title: "robots.txt", value: (config) => (config.respect_robots_txt ? "obeyed" : "ignored") },
      { title: "Chunks", value: (config) => `${words(config.chunking_strategy)}, ${config.chunk_size} tokens` },
      { title: "Changed", value: (config) => html`<${Time} at=${config.updated_at} />` },
      { title: "", kind: "actions", value: (config) => mayChange && html`<span class="actions">
        <button type="button" onClick=${() => setEdited({ config })}>Edit</button>
        <${Dangerous} title=${`Delete ${config.name}?`} question="Sources that name it keep it from being deleted." action="Delete" done="Deleted." act=${async () => { await api.remove(`api/v1/configs/${config.config_id}`); list.reload(); }} /></span>` },
    ]} />
    ${edited && html`<${Dialog} title=${edited.config ? "Edit the configuration" : "New configuration"} onClose=${() => setEdited(null)}><${ConfigForm} config=${edited.config} onDone=${done} /></${Dialog}>`}
  </${Card}>`;
};

const CACHES = {
  crawl: { title: "Fetched pages", path: "api/v1/cache/crawl", text: "The next crawl fetches every page anew." },
  query: { title: "Answers of searches", path: "api/v1/cache/query", text: "The next searches take longer." },
  embeddings: { title: "Vectors of chunks", path: "api/v1/cache/embeddings", text: "Texts are compared anew when they are indexed." },
  query_embeddings: { title: "Vectors of questions" },
};

export const Caches = () => {
  const { data, error, reload } = useLoad((options) => api.get("api/v1/cache/stats", {}, options));
  if (!data) return html`<${Pending} error=${error} retry=${reload} />`;
  const rows = Object.entries(CACHES).map(([name, cache]) => ({ name, ...cache, ...data[name] }));
  return html`<${Card} title="Caches">
    <${Table} title="Caches" rows=${rows} keyOf=${(cache) => cache.name} columns=${[
      { title: "Cache", kind: "wide", value: (cache) => cache.title },
      { title: "Entries", kind: "number", value: (cache) => `${number(cache.entries)}${cache.complete ? "" : " or more"}` },
      { title: "Found", kind: "number", value: (cache) => number(cache.hits) },
      { title: "Not found", kind: "number", value: (cache) => number(cache.misses) },
      { title: "Share found", kind: "number", value: (cache) => (cache.hits + cache.misses > 0 ? percent(cache.hits / (cache.hits + cache.misses)) : "–") },
      { title: "", kind: "actions", value: (cache) => cache.path && may("edit_documents", "write") && html`<${Dangerous} title=${`Empty “${cache.title}”?`} question=${cache.text} action="Empty it" done="Emptied." act=${async () => { await api.remove(cache.path); reload(); }}>Empty</${Dangerous}>` },
    ]} />
  </${Card}>`;
};

// Numbers of any depth as rows of a name and a value.
const rowsOf = (value, name = "") =>
  value !== null && typeof value === "object" && !Array.isArray(value)
    ? Object.entries(value).flatMap(([key, each]) => rowsOf(each, name ? `${name}, ${words(key)}` : words(key)))
    : [{ name, value }];

const SHOWN_BY_DAY = [["pages_crawled", "pages crawled"], ["pages_failed", "pages failed"], ["searches_total", "searches"]];

export const Statistics = () => {
  const { data, error, reload } = useLoad((options) => api.get("api/v1/stats", {}, options));
  if (error?.status === 404) return html`<${Empty} title="This installation has no statistics." />`;
  if (!data) return html`<${Pending} error=${error} retry=${reload} />`;
  const days = data.days.filter((each) => Date.parse(each.day) > 0);
  return html`<${Card} title="Your organisation's numbers">
    <${LineChart} title="By day" times=${days.map((each) => Date.parse(each.day) / 1000)} series=${SHOWN_BY_DAY.map(([name, title]) => ({ title, values: days.map((each) => each[name]) }))} />
    <${Table} title="Statistics" rows=${rowsOf(data).filter((row) => !Array.isArray(row.value))} keyOf=${(row) => row.name} columns=${[
      { title: "What", kind: "wide", value: (row) => row.name },
      { title: "Value", kind: "number", value: (row) => (typeof row.value === "number" ? number(row.value) : String(row.value ?? "–")) },
    ]} />
  </${Card}>`;
};
