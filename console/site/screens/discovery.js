// Discovery: the addresses of a site, with scores for what is looked for.
import { html } from "html";
import { useState } from "preact/hooks";
import { api } from "../app/api.js";
import { PLACES } from "../app/crawling.js";
import { Bar } from "../app/charts.js";
import { attempt } from "../app/dialog.js";
import { Check, Form, Number, Text, given, useForm } from "../app/form.js";
import { Time, number, plural } from "../app/format.js";
import { List, useList } from "../app/list.js";
import { Button, Card, Empty, Facts, Header, Note, Pending, Tabs, WebLink } from "../app/parts.js";
import { go, href } from "../app/router.js";
import { may } from "../app/session.js";
import { ENDED, JobActions, JobError, JobState, useJob } from "../app/timeline.js";

const SECONDS = 2;
const MOST_CRAWLED = 100;

const NewDiscovery = () => {
  const form = useForm({ domain: "", sitemap: true, common_crawl: false, pattern: "", score_query: "", max_urls: 500 });
  const send = async ({ sitemap, common_crawl: archive, ...values }) => {
    const sources = [sitemap && "sitemap", archive && "common_crawl"].filter(Boolean);
    if (sources.length === 0) throw new Error("Choose at least one place to look.");
    const answer = await api.post("api/v1/discover", { ...given(values), sources });
    go("crawl", "discovery", answer.job_id);
  };
  return html`<${Card} title="Find the addresses of a site">
    <${Form} form=${form} send=${send} submit="Find addresses">
      <${Text} title="Site" ...${form.field("domain")} required placeholder="example.com" />
      <div class="fields">
        <${Text} title="What you look for" ...${form.field("score_query")} hint="Addresses get a score for these words" />
        <${Text} title="Only addresses like" ...${form.field("pattern")} placeholder="/blog/*" />
        <${Number} title="Addresses at most" ...${form.field("max_urls")} min="1" max="500" />
      </div>
      <${Check} title="Look in its sitemaps" ...${form.field("sitemap")} />
      <${Check} title="Look in the Common Crawl archive" ...${form.field("common_crawl")} />
    </${Form}>
  </${Card}>`;
};

const Start = () => {
  const list = useList("api/v1/jobs", { kind: "discover" });
  return html`
    <${Header} title="Discovery" />
    <${Tabs} of=${PLACES} chosen="discovery" />
    <div class="stack">
      ${may("crawl", "write") && html`<${NewDiscovery} />`}
      ${may("view_jobs") && html`<${Card} title="Recent discoveries">
        <${List} list=${list} title="Recent discoveries" keyOf=${(job) => job.job_id} empty=${html`<${Empty} title="No discoveries yet." />`} columns=${[
          { title: "Site", kind: "wide", value: (job) => html`<a href=${href("crawl", "discovery", job.job_id)}>${job.subject ?? job.domain ?? job.job_id}</a>` },
          { title: "State", value: (job) => html`<${JobState} job=${job} />` },
          { title: "Began", value: (job) => html`<${Time} at=${job.created_at} />` },
        ]} />
      </${Card}>`}
    </div>
  `;
};

const Found = ({ id, hasScores }) => {
  const list = useList(`api/v1/discover/${id}`);
  const [chosen, setChosen] = useState(new Set());
  const toggle = (url) => setChosen((former) => {
    const next = new Set(former);
    if (!next.delete(url) && next.size < MOST_CRAWLED) next.add(url);
    return next;
  });
  const crawl = () => attempt(async () => {
    const answer = await api.post("api/v1/crawl/batch", { urls: [...chosen] });
    if (answer.batch_id) go("crawl", "job", answer.batch_id);
  }, `${plural(chosen.size, "page")} will be crawled.`);
  const columns = [
    { title: "Address", kind: "wide", value: (found) => html`<${WebLink} url=${found.url} />` },
    { title: "Score", value: (found) => (hasScores ? html`<${Bar} title="" value=${found.score} />` : "–") },
    { title: "Changed", value: (found) => html`<${Time} at=${found.last_modified} />` },
    { title: "Found in", value: (found) => found.sources.join(", ").replaceAll("_", " ") },
  ];
  if (may("crawl", "write")) {
    columns.unshift({ title: "Crawl", value: (found) => html`<input type="checkbox" aria-label=${`Crawl ${found.url}`} checked=${chosen.has(found.url)} onChange=${() => toggle(found.url)} />` });
  }
  return html`<${Card} title="Addresses" actions=${may("crawl", "write") && html`<${Button} kind="main" act=${crawl} disabled=${chosen.size === 0}>Crawl ${plural(chosen.size, "page")}</${Button}>`}>
    <${List} list=${list} title="Addresses" columns=${columns} keyOf=${(found) => found.url} empty=${html`<${Empty} title="No addresses found.">Try the archive too, or a wider pattern.</${Empty}>`} />
  </${Card}>`;
};

const Page = ({ id }) => {
  const { data, error, reload } = useJob(`api/v1/discover/${id}`, SECONDS, { limit: 1 });
  const back = { href: href("crawl", "discovery"), title: "Discovery" };
  if (!data) return html`<${Header} title="Discovery" back=${back} /><${Pending} error=${error} retry=${reload} />`;
  return html`
    <${Header} title=${`Addresses of ${data.domain}`} back=${back}><${JobActions} job=${data} changed=${reload} /></${Header}>
    <${Card}>
      <${JobState} job=${data} />
      <${JobError} error=${data.error} />
      <${Facts} of=${[
        ["Addresses", `${number(data.urls_found)}${data.has_more_urls ? " and more" : ""}`],
        ["Files read", number(data.files_read)],
        ["Files that failed", data.files_failed > 0 ? number(data.files_failed) : null],
        ["Pattern", data.pattern],
        ["Looks for", data.score_query],
      ]} />
      ${data.notes.map((note) => html`<${Note} kind="warning">${note}</${Note}>`)}
    </${Card}>
    ${ENDED.includes(data.status) && html`<${Found} id=${id} hasScores=${Boolean(data.score_query)} />`}
  `;
};

export default ({ id }) => (id ? html`<${Page} id=${id} />` : html`<${Start} />`);
