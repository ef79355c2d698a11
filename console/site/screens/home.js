// What runs now, what failed, what is down, and the last audits.
import { html } from "html";
import { Bar } from "../app/charts.js";
import { api } from "../app/api.js";
import { attempt } from "../app/dialog.js";
import { Time, hostOf, number, plural, words } from "../app/format.js";
import { Table } from "../app/list.js";
import { useLoad, usePoll } from "../app/loading.js";
import { AsOf, Button, Card, Empty, Header, Pending, Status } from "../app/parts.js";
import { href } from "../app/router.js";
import { may } from "../app/session.js";
import { JobState } from "../app/timeline.js";

const RUNNING_SECONDS = 5;
const OTHERS_SECONDS = 60;
const DAY_MS = 24 * 3600 * 1000;
const SHOWN = 8;
const MOST = 100;

const JobLink = ({ job }) => html`<a href=${href("jobs", job.job_id)}>${words(job.kind)}</a> <span class="small">${job.subject ?? job.domain}</span>`;

const Running = () => {
  const { data, error, at, reload } = usePoll(
    (options) => api.get("api/v1/jobs", { status: "running", limit: SHOWN }, options),
    RUNNING_SECONDS,
  );
  return html`<${Card} title="Running now" actions=${html`<a href=${href("jobs", { status: "running" })}>All</a>`}>
    ${(error || !data) && html`<${Pending} error=${error} retry=${reload} />`}
    ${data?.items.length === 0 && html`<${Empty} title="Nothing is running."><a href=${href("crawl")}>Crawl a page</a> to begin.</${Empty}>`}
    ${data?.items.length > 0 && html`<${Table} title="Running jobs" rows=${data.items} keyOf=${(job) => job.job_id} columns=${[
      { title: "Job", value: (job) => html`<span><${JobLink} job=${job} /></span>`, kind: "wide" },
      { title: "Progress", value: (job) => html`<${JobState} job=${job} />` },
    ]} />`}
    <${AsOf} at=${at} />
  </${Card}>`;
};

const Failed = () => {
  const { data, error, reload } = usePoll(
    (options) => api.get("api/v1/jobs/failed", { limit: MOST }, options),
    OTHERS_SECONDS,
  );
  const since = Date.now() - DAY_MS;
  const recent = (data?.items ?? []).filter((job) => new Date(job.updated_at) > since);
  const retry = (job) => async () => {
    if (await attempt(() => api.post(`api/v1/jobs/${job.job_id}/retry`), "Started again.")) reload();
  };
  const ended = (job) => ["failed", "partially_failed", "expired"].includes(job.status);
  return html`<${Card} title="Failed in the last 24 hours" actions=${html`<a href=${href("jobs", { view: "failed" })}>All failures</a>`}>
    ${(error || !data) && html`<${Pending} error=${error} retry=${reload} />`}
    ${data && recent.length === 0 && html`<${Empty} title="Nothing failed." />`}
    ${recent.length > 0 && html`<p class="small">${plural(recent.length, "job")}${data.has_more ? " or more" : ""}</p>
      <${Table} title="Failed jobs" rows=${recent.slice(0, SHOWN)} keyOf=${(job) => job.job_id} columns=${[
        { title: "Job", value: (job) => html`<span><${JobLink} job=${job} /></span>`, kind: "wide" },
        { title: "Why", value: (job) => job.error_summary ?? html`<${Status} of=${job.status} />`, kind: "wide" },
        { title: "", kind: "actions", value: (job) => ended(job) && may("control_jobs", "write") && html`<${Button} act=${retry(job)}>Retry</${Button}>` },
      ]} />`}
  </${Card}>`;
};

const Down = () => {
  const { data, error, reload } = usePoll(
    (options) => Promise.all(["down", "degraded"].map((status) => api.get("v1/targets", { limit: MOST, status }, options))),
    OTHERS_SECONDS,
  );
  const down = (data ?? []).flatMap((page) => page.items);
  return html`<${Card} title="Watched links that are down" actions=${html`<a href=${href("watch")}>All</a>`}>
    ${(error || !data) && html`<${Pending} error=${error} retry=${reload} />`}
    ${data && down.length === 0 && html`<${Empty} title="No link is down."><a href=${href("watch")}>Watch a link</a> to see here when it is down.</${Empty}>`}
    ${down.length > 0 && html`<${Table} title="Links that are down" rows=${down} keyOf=${(target) => target.id} columns=${[
      { title: "Link", value: (target) => html`<a class="url" href=${href("watch", "link", target.id)}>${target.name ?? target.url}</a>`, kind: "wide" },
      { title: "State", value: (target) => html`<${Status} of=${target.status} />` },
      { title: "Since", value: (target) => html`<${Time} at=${target.status_since} />` },
    ]} />`}
    ${data?.some((page) => page.has_more) && html`<p class="small">There may be more: <a href=${href("watch", { status: "down" })}>all that are down</a>.</p>`}
  </${Card}>`;
};

const Scores = () => {
  const { data, error, reload } = useLoad((options) => api.get("audits", { status: "completed", limit: SHOWN }, options));
  return html`<${Card} title="Last audits" actions=${html`<a href=${href("audits")}>All</a>`}>
    ${(error || !data) && html`<${Pending} error=${error} retry=${reload} />`}
    ${data?.items.length === 0 && html`<${Empty} title="No audits yet."><a href=${href("audits")}>Audit a site</a> to see its score here.</${Empty}>`}
    ${data?.items.map((audit) => html`<${Bar} key=${audit.audit_id} title=${html`<a href=${href("audits", "audit", audit.audit_id)}>${hostOf(audit.url)}</a>`} value=${audit.score} of=${100}
      text=${audit.score == null ? "no score" : `${number(Math.round(audit.score))} ${audit.grade ?? ""}`} />`)}
  </${Card}>`;
};

// What was done, what of it failed, where to see it, and who may.
const COUNTED = [
  { title: "pages crawled", done: "pages_crawled", failed: "pages_failed", to: ["crawl"], permission: "view_crawls" },
  { title: "searches", done: "searches_total", to: ["search"], permission: "search" },
  { title: "checks of links", done: "checks_total", to: ["watch"], permission: "view_targets" },
  { title: "audits", done: "audits_succeeded", failed: "audits_failed", to: ["audits"], permission: "view_audits" },
  { title: "listings published", done: "listings_published", failed: "listings_failed", to: ["publish"], permission: "view_products" },
  { title: "webhooks delivered", done: "webhooks_delivered", failed: "webhooks_failed", to: ["settings", "webhooks"], permission: "view_webhooks" },
];

// The counters stand there before their numbers, so that nothing below moves.
const Month = () => {
  const { data, error, reload } = useLoad((options) => api.get("api/v1/stats", {}, options));
  const sum = (name) => (data ? number(data.days.reduce((all, day) => all + day[name], 0)) : "…");
  return html`<${Card} title="The last 30 days" actions=${html`<a href=${href("settings", "statistics")}>Day by day</a>`}>
    ${error && html`<${Pending} error=${error} retry=${reload} />`}
    <div class="counters">${COUNTED.filter((each) => may(each.permission)).map(({ title, done, failed, to }) => html`<a key=${done} class="counter" href=${href(...to)}>
      <strong>${sum(done)}</strong> ${title}${failed && html` <span class="small">${sum(failed)} failed</span>`}</a>`)}</div>
    ${data && !data.complete && html`<p class="small">Some jobs aren't counted yet. Open this page again in a while.</p>`}
  </${Card}>`;
};

export default () => html`
  <${Header} title="Home" />
  ${may("view_jobs") && html`<${Month} />`}
  <div class="grid halves">
    ${may("view_jobs") && html`<${Running} /><${Failed} />`}
    ${may("view_targets") && html`<${Down} />`}
    ${may("view_audits") && html`<${Scores} />`}
  </div>
`;
