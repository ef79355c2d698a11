// Parts of the screens about crawling: their tabs, the choices of a crawl, and recent jobs.
import { html } from "html";
import { api } from "./api.js";
import { Time, duration, words } from "./format.js";
import { List, useList } from "./list.js";
import { useLoad } from "./loading.js";
import { Card, Empty } from "./parts.js";
import { href, place, setQuery } from "./router.js";
import { may } from "./session.js";
import { JobState } from "./timeline.js";

export const PLACES = [
  { name: "crawl", title: "Crawl", href: href("crawl") },
  { name: "sources", title: "Sources", href: href("crawl", "sources") },
  { name: "discovery", title: "Discovery", href: href("crawl", "discovery") },
  { name: "inbox", title: "Inbox", href: href("crawl", "inbox") },
  { name: "media", title: "Media", href: href("crawl", "media") },
];
const MOST_CHOICES = 100;

// Collections, configurations and proxies to choose from; without those that the caller may not see.
export const useChoices = () => {
  const { data } = useLoad(async (options) => {
    const all = (path) => api.get(path, { limit: MOST_CHOICES }, options).then((answer) => answer.items, () => []);
    const [collections, configs, proxies] = await Promise.all([
      may("view_documents") ? all("api/v1/collections") : [],
      may("view_crawls") ? all("api/v1/configs") : [],
      may("view_crawls") ? all("api/v1/proxies") : [],
    ]);
    return {
      collections: collections.map((each) => [each.collection_id, each.name]),
      configs: configs.map((each) => [each.config_id, each.name]),
      proxies: proxies.map((each) => [each.proxy_id, each.name]),
    };
  });
  return data ?? { collections: [], configs: [], proxies: [] };
};

// Recent jobs of one kind of several: pairs of its name and title. `to` is the place of a job.
export const Recent = ({ title, kinds, to }) => {
  const kind = (kinds.find(([value]) => value === place.value.query.kind) ?? kinds[0])[0];
  const list = useList("api/v1/jobs", { kind });
  return html`<${Card} title=${title} actions=${html`<div class="actions">
      ${kinds.map(([value, name]) => html`<button type="button" aria-pressed=${kind === value} class=${kind === value ? "main" : ""} onClick=${() => setQuery({ kind: value })}>${name}</button>`)}
      <button type="button" onClick=${list.reload}>Refresh</button>
    </div>`}>
    <${List} list=${list} title=${title} keyOf=${(job) => job.job_id}
      empty=${html`<${Empty} title="None of this kind yet.">Use the form to begin.</${Empty}>`}
      columns=${[
        { title: "What", kind: "wide", value: (job) => html`<a class="url" href=${href("crawl", to, job.job_id)}>${job.subject ?? words(job.kind)}</a>` },
        { title: "State", value: (job) => html`<${JobState} job=${job} />` },
        { title: "Began", value: (job) => html`<${Time} at=${job.created_at} />` },
        { title: "Took", kind: "number", value: (job) => duration(job.duration_ms) },
      ]} />
  </${Card}>`;
};
