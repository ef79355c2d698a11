// All jobs, of every kind, and a job with its events.
import { html } from "html";
import { Time, duration, number, words } from "../app/format.js";
import { Filters, List, useList } from "../app/list.js";
import { Card, Empty, Facts, Failure, Header, Pending, Progress, Status, Tabs } from "../app/parts.js";
import { href } from "../app/router.js";
import { ENDED, Events, JobActions, JobError, JobState, Phases, useJob } from "../app/timeline.js";

const STATES = ["pending", "running", "paused", ...ENDED];
const KINDS = ["crawl", "crawl_batch", "crawl_file", "deep_crawl", "discover", "screenshot", "pdf", "execute_js", "upload", "reindex", "tag", "rebuild_index", "audit", "target_import", "publish", "publish_batch", "delivery"];

const COLUMNS = [
  { title: "Job", kind: "wide", value: (job) => html`<span><a href=${href("jobs", job.job_id)}>${words(job.kind)}</a> <span class="small url">${job.subject ?? job.domain}</span></span>` },
  { title: "State", value: (job) => html`<${JobState} job=${job} />` },
  { title: "Began", value: (job) => html`<${Time} at=${job.created_at} />` },
  { title: "Took", kind: "number", value: (job) => duration(job.duration_ms) },
  { title: "Error", kind: "wide", value: (job) => job.error_summary ?? "" },
];

// Jobs that the query describes; `view=failed` lists failures and retries.
const JobList = ({ query }) => {
  const isFailed = query.view === "failed";
  const { status, kind, domain } = query;
  const list = useList(isFailed ? "api/v1/jobs/failed" : "api/v1/jobs", isFailed ? { kind } : { status, kind, domain });
  const filters = [
    { name: "kind", title: "Kind", options: KINDS },
    ...(isFailed ? [] : [{ name: "status", title: "State", options: STATES }, { name: "domain", title: "Host", placeholder: "example.com" }]),
  ];
  return html`
    <${Header} title="Jobs"><button type="button" onClick=${list.reload}>Refresh</button></${Header}>
    <${Tabs} chosen=${isFailed ? "failed" : "all"} of=${[
      { name: "all", title: "All", href: href("jobs") },
      { name: "failed", title: "Failed and retrying", href: href("jobs", { view: "failed" }) },
    ]} />
    <${Filters} of=${filters} />
    <${List} list=${list} title="Jobs" columns=${COLUMNS} keyOf=${(job) => job.job_id} filters=${filters.map((each) => each.name)}
      empty=${html`<${Empty} title=${isFailed ? "Nothing failed." : "No jobs yet."}>${!isFailed && html`<a href=${href("crawl")}>Crawl a page</a> to begin.`}</${Empty}>`} />
  `;
};

const Children = ({ job }) => {
  const counts = job.children;
  const list = useList("api/v1/jobs", { batch: job.job_id }, counts.pending_count);
  return html`<${Card} title="Jobs of this batch" actions=${html`<button type="button" onClick=${list.reload}>Refresh</button>`}>
    <p><${Progress} value=${counts.total_count - counts.pending_count} of=${counts.total_count} label="Finished jobs" />
      ${" "}${number(counts.completed_count)} of ${number(counts.total_count)} completed, ${number(counts.failed_count)} failed, ${number(counts.cancelled_count)} cancelled</p>
    <${List} list=${list} title="Jobs of this batch" columns=${COLUMNS} keyOf=${(each) => each.job_id} empty=${html`<${Empty} title="No jobs." />`} />
  </${Card}>`;
};

const media = (id) => href("crawl", "media", id);
const PLACES = {
  crawl: (id) => href("crawl", "job", id),
  crawl_batch: (id) => href("crawl", "job", id),
  deep_crawl: (id) => href("crawl", "job", id),
  audit: (id) => href("audits", "audit", id),
  publish: (id) => href("publish", "job", id),
  publish_batch: (id) => href("publish", "batch", id),
  discover: (id) => href("crawl", "discovery", id),
  crawl_file: (id) => href("crawl", "inbox", id),
  screenshot: media,
  pdf: media,
  execute_js: media,
};

const JobPage = ({ id }) => {
  const { data: job, error, reload } = useJob(`api/v1/jobs/${id}`);
  const back = { href: href("jobs"), title: "Jobs" };
  if (!job) return html`<${Header} title="Job" back=${back} /><${Pending} error=${error} retry=${reload} />`;
  const place = PLACES[job.kind]?.(id);
  return html`
    <${Header} title=${`Job: ${words(job.kind)}`} back=${back}>
      ${place && html`<a class="button" href=${place}>Open the results</a>`}
      <${JobActions} job=${job} changed=${reload} />
    </${Header}>
    <${Failure} error=${error} />
    <${Card}>
      <${JobState} job=${job} />
      <${Phases} job=${job} />
      <${JobError} error=${job.error} />
      <${Facts} of=${[
        ["About", job.subject ?? job.domain],
        ["Created", html`<${Time} at=${job.created_at} />`],
        ["Started", job.started_at && html`<${Time} at=${job.started_at} />`],
        ["Ended", job.finished_at && html`<${Time} at=${job.finished_at} />`],
        ["Next try", !job.finished_at && job.attempts > 0 && html`<${Time} at=${job.due_at} />`],
        ["Attempts", `${job.attempts} of ${job.max_attempts}`],
        ["Run", job.run > 1 ? number(job.run) : null],
        ["Priority", words(job.priority)],
        ["Id", html`<code>${job.job_id}</code>`],
        ["Part of", job.parent && html`<a href=${href("jobs", job.parent)}>another job</a>`],
      ]} />
    </${Card}>
    ${job.children && html`<${Children} job=${job} />`}
    <${Card} title="Events"><${Events} path=${`api/v1/jobs/${id}/stream`} round=${job.run} onEvent=${reload} /></${Card}>
    ${job.result && html`<${Card} title="Result"><pre>${JSON.stringify(job.result, null, 2)}</pre></${Card}>`}
  `;
};

export default ({ parts, query }) => (parts[0] ? html`<${JobPage} id=${parts[0]} />` : html`<${JobList} query=${query} />`);
