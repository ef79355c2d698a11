// Batches at three levels: the batch, its jobs, and the tasks of a job.
import { html } from "html";
import { Time, number, plural, words } from "../app/format.js";
import { Filters, List, Table, useList } from "../app/list.js";
import { Card, Empty, Facts, Failure, Header, Note, Pending, Status, WebLink } from "../app/parts.js";
import { href, place } from "../app/router.js";
import { may } from "../app/session.js";
import { ENDED, Events, JobActions, JobError, JobState, useJob } from "../app/timeline.js";
import { Imported } from "./publish-import.js";

const COUNTS = [["in all", "total_count"], ["done", "completed_count"], ["failed", "failed_count"], ["cancelled", "cancelled_count"], ["to do", "pending_count"]];
const STATES = ["pending", "running", "paused", ...ENDED];
const INPUT = {
  needs_input: "The marketplace needs a decision or another value. Change the product, then retry the job.",
  needs_reauth: "The marketplace no longer accepts the connection. Connect it again, then retry the job.",
  unsupported: "This marketplace can't do this.",
  reconciling: "The marketplace didn't answer. The listing is looked for before anything is sent again.",
};

export const Batches = () => {
  const { status, marketplace } = place.value.query;
  const list = useList("api/batch-jobs", { status, marketplace });
  return html`<${Card} title="Batches" actions=${html`<button type="button" onClick=${list.reload}>Refresh</button>`}>
    <${Filters} of=${[{ name: "status", title: "State", options: STATES }, { name: "marketplace", title: "Marketplace", placeholder: "ebay" }]} />
    <${List} list=${list} title="Batches" keyOf=${(batch) => batch.batch_id} filters=${["status", "marketplace"]}
      empty=${html`<${Empty} title="No batches yet."><a href=${href("publish", "products")}>Choose products</a> to publish them together.</${Empty}>`} columns=${[
        { title: "Batch", kind: "wide", value: (batch) => html`<a href=${href("publish", "batch", batch.batch_id)}>${words(batch.action_code)} on ${batch.marketplace}</a>` },
        { title: "State", value: (batch) => html`<${JobState} job=${{ ...batch, progress: batch.progress_percent }} />` },
        { title: "Products", kind: "number", value: (batch) => number(batch.total_count) },
        { title: "Failed", kind: "number", value: (batch) => number(batch.failed_count) },
        { title: "Began", value: (batch) => html`<${Time} at=${batch.created_at} />` },
        { title: "Ended", value: (batch) => html`<${Time} at=${batch.completed_at} />` },
      ]} />
  </${Card}>`;
};

const errorText = (error) => (error ? error.error ?? error.message ?? error.code : "");

// Codes of errors that only the seller can mend.
const SELLERS = ["NEEDS_INPUT", "NEEDS_REAUTH", "MARKETPLACE_REFUSED", "UNSUPPORTED", "VALIDATION_ERROR"];
const SHOWN = 100;

const JOB_COLUMNS = [
  { title: "Job", kind: "wide", value: (job) => html`<a href=${href("publish", "job", job.job_id)}>${words(job.action_code)}</a> <a class="small" href=${href("publish", "product", job.product_id)}>the product</a>` },
  { title: "State", value: (job) => html`<${JobState} job=${job} />` },
  { title: "Listing", kind: "wide", value: (job) => job.result_data?.url && html`<${WebLink} url=${job.result_data.url} />` },
  { title: "Error", kind: "wide", value: (job) => errorText(job.error) },
];

// The jobs of a batch. The API has no filter for those that wait for the seller: they are failed ones.
const BatchJobs = ({ batch, stamp }) => {
  const { status } = place.value.query;
  const isSellers = status === "needs_input";
  const list = useList("api/marketplace/jobs", { batch_job_id: batch.batch_id, status: isSellers ? "failed" : status, limit: SHOWN }, stamp);
  const rows = isSellers ? list.rows.filter((job) => SELLERS.includes(job.error?.code)) : list.rows;
  return html`<${Card} title=${plural(batch.total_count, "job")} actions=${html`<button type="button" onClick=${list.reload}>Refresh</button>`}>
    <${Filters} of=${[{ name: "status", title: "State", options: [["needs_input", "needs your input"], ...STATES] }]} />
    <${List} list=${{ ...list, rows }} title="Jobs" keyOf=${(job) => job.job_id} columns=${JOB_COLUMNS} filters=${["status"]} empty=${html`<${Empty} title="No jobs yet." />`} />
  </${Card}>`;
};

const Waiting = ({ error, retry, title }) =>
  html`<${Header} title=${title} back=${{ href: href("publish", "batches"), title: "Batches" }} /><${Pending} error=${error} retry=${retry} />`;

export const Batch = ({ id }) => {
  const { data: batch, error, at, reload } = useJob(`api/batch-jobs/${id}`);
  if (!batch) return html`<${Waiting} title="Batch" error=${error} retry=${reload} />`;
  const job = { ...batch, kind: "publish_batch", progress: batch.progress_percent };
  return html`
    <${Header} title=${`${words(batch.action_code)} on ${batch.marketplace}`} back=${{ href: href("publish", "batches"), title: "Batches" }}>
      <${JobActions} job=${job} changed=${reload} permission="publish_product" path=${`api/batch-jobs/${id}`} />
    </${Header}>
    <${Failure} error=${error} />
    <div class="counters">${COUNTS.map(([title, name]) => html`<div class="counter"><strong>${number(batch[name])}</strong> ${title}</div>`)}</div>
    <${Card}>
      <${JobState} job=${job} />
      <${Facts} of=${[["Begins at", batch.publish_at && html`<${Time} at=${batch.publish_at} />`], ["Submitted", html`<${Time} at=${batch.created_at} />`], ["Ended", batch.completed_at && html`<${Time} at=${batch.completed_at} />`], ["Id", html`<code>${id}</code>`]]} />
    </${Card}>
    <${BatchJobs} batch=${batch} stamp=${at} />
  `;
};

const request = (task) => [task.http_method, task.path].filter(Boolean).join(" ");

const TASK_COLUMNS = [
  { title: "Step", kind: "number", value: (task) => number(task.position) },
  { title: "Task", kind: "wide", value: (task) => html`<span>${task.description} ${request(task) && html`<code class="small url">${request(task)}</code>`}</span>` },
  { title: "State", value: (task) => html`<${Status} of=${task.status} as=${task.status === "success" ? "good" : undefined} />` },
  { title: "Tries", kind: "number", value: (task) => number(task.retry_count + 1) },
  { title: "Ended", value: (task) => html`<${Time} at=${task.completed_at} />` },
  { title: "Error", kind: "wide", value: (task) => html`<span>${task.error_message} ${INPUT[task.reason] && html`<span class="small">${INPUT[task.reason]}</span>`}</span>` },
];

export const MarketJob = ({ id }) => {
  const path = `api/marketplace/jobs/${id}`;
  const { data: job, error, reload } = useJob(path);
  if (!job) return html`<${Waiting} title="Job" error=${error} retry=${reload} />`;
  const back = job.batch_job_id ? { href: href("publish", "batch", job.batch_job_id), title: "The batch" } : { href: href("publish", "batches"), title: "Batches" };
  const reason = job.tasks.find((task) => task.status === "failed" && INPUT[task.reason])?.reason;
  return html`
    <${Header} title=${`${words(job.action_code)} on ${job.marketplace}`} back=${back}>
      <${JobActions} job=${{ ...job, kind: "publish" }} changed=${reload} permission="publish_product" path=${path} />
    </${Header}>
    <${Failure} error=${error} />
    ${reason && html`<${Note} kind="warning"><p>${INPUT[reason]}</p></${Note}>`}
    <${Card}>
      <${JobState} job=${job} />
      <${JobError} error=${job.error} />
      <${Facts} of=${[
        ["Product", job.product_id && html`<a href=${href("publish", "product", job.product_id)}>Open the product</a>`],
        ["Listing", job.result_data?.url && html`<${WebLink} url=${job.result_data.url} />`],
        ["Begins at", job.publish_at && html`<${Time} at=${job.publish_at} />`],
        ["Submitted", html`<${Time} at=${job.created_at} />`],
        ["Ended", job.completed_at && html`<${Time} at=${job.completed_at} />`],
        ["Ends at the latest", !job.completed_at && job.expires_at && html`<${Time} at=${job.expires_at} />`],
      ]} />
    </${Card}>
    ${job.action_code === "import" && html`<${Imported} job=${job} />`}
    <${Card} title="Tasks">
      ${job.tasks.length ? html`<${Table} title="Tasks" rows=${job.tasks} keyOf=${(task) => task.task_id} columns=${TASK_COLUMNS} />` : html`<${Empty} title="No tasks yet.">They appear when the job begins.</${Empty}>`}
    </${Card}>
    ${may("view_jobs") && html`<${Card} title="Events"><${Events} path=${`api/v1/jobs/${id}/stream`} onEvent=${reload} /></${Card}>`}
  `;
};
