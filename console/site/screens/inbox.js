// The inbox: a file of many addresses, dropped here, crawled line by line.
import { html } from "html";
import { useState } from "preact/hooks";
import { api } from "../app/api.js";
import { PLACES } from "../app/crawling.js";
import { attempt } from "../app/dialog.js";
import { Time, number, words } from "../app/format.js";
import { List, useList } from "../app/list.js";
import { Card, Empty, Facts, Header, Loading, Pending, Progress, Tabs, WebLink } from "../app/parts.js";
import { go, href } from "../app/router.js";
import { may } from "../app/session.js";
import { Events, JobActions, JobError, JobState, useJob } from "../app/timeline.js";

const SECONDS = 2;

const sent = async (file) => {
  const { job_id: id, url, fields, max_bytes: most } = await api.post("api/v1/inbox", { name: file.name });
  if (file.size > most) throw new Error(`The file has more than ${number(most / 1e6)} MB. Split it.`);
  const body = new FormData();
  Object.entries(fields).forEach(([name, value]) => body.append(name, value));
  body.append("file", file);
  const response = await fetch(url, { method: "POST", body, credentials: "omit", referrerPolicy: "no-referrer" });
  if (!response.ok) throw new Error(`The store refused the file (${response.status}). Try again.`);
  return id;
};

const Drop = () => {
  const [isOver, setOver] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const take = async (files) => {
    setOver(false);
    const [file] = files;
    if (!file || isBusy) return;
    setBusy(true);
    await attempt(async () => go("crawl", "inbox", await sent(file)), "The file was sent. Its lines are crawled as soon as it has arrived.");
    setBusy(false);
  };
  const over = (event) => {
    event.preventDefault();
    setOver(true);
  };
  return html`<div class=${`drop ${isOver ? "over" : ""}`} onDragOver=${over} onDragLeave=${() => setOver(false)}
    onDrop=${(event) => { event.preventDefault(); take(event.dataTransfer.files); }}>
    <p><strong>Drop a file of addresses here</strong></p>
    <p class="small">txt with one address a line, csv, or jsonl; up to 100,000 lines</p>
    <label class="button">${isBusy ? "Sending …" : "Choose a file"}
      <input class="hidden" type="file" accept=".txt,.csv,.jsonl" disabled=${isBusy} onChange=${(event) => take(event.target.files)} />
    </label>
  </div>`;
};

const Start = () => {
  const list = useList("api/v1/jobs", { kind: "crawl_file" });
  return html`
    <${Header} title="Inbox" />
    <${Tabs} of=${PLACES} chosen="inbox" />
    <div class="stack">
      ${may("crawl", "write") && html`<${Drop} />`}
      ${may("view_jobs") && html`<${Card} title="Recent files" actions=${html`<button type="button" onClick=${list.reload}>Refresh</button>`}>
        <${List} list=${list} title="Recent files" keyOf=${(job) => job.job_id} empty=${html`<${Empty} title="No files yet." />`} columns=${[
          { title: "File", kind: "wide", value: (job) => html`<a href=${href("crawl", "inbox", job.job_id)}>${job.subject ?? job.job_id}</a>` },
          { title: "State", value: (job) => html`<${JobState} job=${job} />` },
          { title: "Began", value: (job) => html`<${Time} at=${job.created_at} />` },
        ]} />
      </${Card}>`}
    </div>
  `;
};

const Page = ({ id }) => {
  const { data, error, reload } = useJob(`api/v1/inbox/${id}`, SECONDS);
  const back = { href: href("crawl", "inbox"), title: "Inbox" };
  if (!data) return html`<${Header} title="File" back=${back} />${error?.status === 404 ? html`<${Loading} what="Waiting for the file" />` : html`<${Pending} error=${error} retry=${reload} />`}`;
  return html`
    <${Header} title=${data.name} back=${back}>
      ${data.report_url && html`<${WebLink} url=${data.report_url} kind="button" download>Download the report</${WebLink}>`}
      <${JobActions} job=${data} changed=${reload} />
    </${Header}>
    <${Card}>
      <${JobState} job=${data} />
      <p><${Progress} value=${data.total_count - data.pending_count} of=${data.total_count} label="Lines finished" /></p>
      <${JobError} error=${data.error} />
      <${Facts} of=${[
        ["Lines", number(data.total_count)],
        ["Crawled", number(data.completed_count)],
        ["Failed", number(data.failed_count)],
        ["To do", number(data.pending_count)],
        ["Waits for", data.waiting_for && words(data.waiting_for)],
        ["Ended", data.finished_at && html`<${Time} at=${data.finished_at} />`],
      ]} />
    </${Card}>
    ${may("view_jobs") && html`<${Card} title="Events"><${Events} path=${`api/v1/jobs/${id}/stream`} round=${data.run} onEvent=${reload} /></${Card}>`}
  `;
};

export default ({ id }) => (id ? html`<${Page} id=${id} />` : html`<${Start} />`);
